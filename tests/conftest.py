"""Shared fixtures: an empty arena, and external programs such as Docker, PostgreSQL and Chromium.

If a program is missing, tests that need it are skipped with a reason. In CI, they fail.
"""

import atexit
import gc
import os
import shutil
import signal
import subprocess
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import NoReturn

import docker
import httpcore2
import pytest
import structlog
from docker.errors import DockerException
from hypothesis import HealthCheck, settings

from arena.db.store import open_store
from arena.images.build.base import ensure_base_image
from arena.languages.javascript import JAVASCRIPT
from arena.languages.python import PYTHON
from arena.sandbox.builder import ImageBuilder
from arena.sandbox.docker.builder import DockerBuilder
from tests.accounts.world import World
from tests.browser.chromium import find_chromium
from tests.copies import Copies
from tests.engines import hasten
from tests.folders import short_folder
from tests.locks import host_lock
from tests.patience import WAIT_SECONDS
from tests.postgresql import Cluster, find_programs
from tests.soak import SOAK, many

# There is no deadline, since examples take longer on a busy host.
settings.register_profile(
    "patient",
    settings.default,
    max_examples=many(15, 250),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("patient")

hasten()

# Every request of `httpx2.get` would read the system's certificates, which takes 20 ms.
httpcore2.default_ssl_context = cache(httpcore2.default_ssl_context)


def pytest_configure() -> None:
    """Prepare the environment that the tests' processes inherit.

    A shell that runs the tests in the background makes them ignore Ctrl-C, and their children would inherit
    that. A `make` started by another `make` prints additional lines. NumPy may use only one thread: its
    threads wait in busy loops, and there are already more workers than processors.
    """
    # Otherwise the interpreter scans all objects several times at exit, which takes 5 s per worker.
    atexit.register(gc.freeze)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
        os.environ.pop(name, None)
    # By default, structlog prints each traceback with all variables, which takes seconds.
    *before, _ = structlog.get_config()["processors"]
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*before, plain])


def pytest_collection_finish() -> None:
    """Make the garbage collector skip imported modules, and run less often.

    Otherwise, collections take a quarter of the time of tests that create many sites.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)


_LONGEST = ("tests/sandbox/hostile/", "tests/faults/", "tests/demo/", "tests/browser/", "tests/db/test_lease")

_PARTS = {"docker": "docker_client", "chromium": "chromium_path", "postgresql": "postgresql_programs"}
"""Markers of required parts, and for each the fixture that skips a test if the part is missing."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return one worker more than there are processors, since many tests wait for containers and clocks."""
    return len(os.sched_getaffinity(0)) + 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the longest tests first, and leave those marked ``soak`` to ``make soak``."""
    items.sort(key=lambda item: not item.nodeid.startswith(_LONGEST))
    for item in items:
        if isinstance(item, pytest.Function):
            _join_markers_and_fixtures(item)
    if SOAK:
        return
    left = [item for item in items if item.get_closest_marker("soak")]
    items[:] = [item for item in items if not item.get_closest_marker("soak")]
    config.hook.pytest_deselected(items=left)


def _join_markers_and_fixtures(test: pytest.Function) -> None:
    """Add a part's marker to tests that use its fixture, and the fixture to tests with the marker."""
    for marker, fixture in _PARTS.items():
        if fixture in test.fixturenames:
            test.add_marker(marker)
        elif test.get_closest_marker(marker):
            # This must be a new list, since variants of a parametrized test share the old one.
            test.fixturenames = [fixture, *test.fixturenames]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print one line for each reason why tests were skipped."""
    skipped = Counter(_reason(report) for report in terminalreporter.getreports("skipped"))
    for reason, count in skipped.most_common():
        terminalreporter.write_line(f"SKIPPED {count} tests: {reason}", yellow=True)


def _reason(report: pytest.TestReport) -> str:
    where = report.longrepr
    return where[2].removeprefix("Skipped: ") if isinstance(where, tuple) else str(where)


def missing(what: str, remedy: str) -> NoReturn:
    """Skip the test, or fail it in CI."""
    reason = f"{what} ({remedy})"
    if os.environ.get("CI"):
        pytest.fail(f"CI must not skip: {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="module", autouse=True)
def _leftovers() -> Iterator[None]:
    """Collect what a file's tests left open, so that warnings fail one of them, and not a later file's.

    Objects held by the last test's fixtures are collected when the next file begins. All others that exist by
    then are frozen, so that later collections skip them. Otherwise, after many files, each collection would
    take a second.
    """
    gc.collect()
    gc.freeze()
    yield
    gc.collect()


@pytest.fixture(autouse=True)
def _no_engine_without_the_marker(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the engine from tests without the marker, so that one that needs an engine fails on every host."""
    if request.node.get_closest_marker("docker") is None:
        monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Yield accounts over an empty store, open for registration."""
    with closing(World.at(tmp_path)) as world:
        yield world


@pytest.fixture
def run_dir() -> Iterator[Path]:
    """Yield a folder for sockets."""
    with short_folder() as folder:
        yield folder


@pytest.fixture(scope="session")
def docker_client() -> Iterator[docker.DockerClient]:
    """Yield a client of a Docker engine that responds."""
    reason = None
    try:
        client = docker.from_env(timeout=WAIT_SECONDS, use_context=False)
        client.ping()
    except DockerException:
        reason = "no Docker engine answers"
    if reason is not None:
        # docker-py leaves a failed attempt's socket to the garbage collector, which would warn about it.
        with warnings.catch_warnings(action="ignore"):
            gc.collect()
        missing(reason, "run scripts/engine as root")
    yield client
    client.close()


@pytest.fixture(scope="session")
def image_builder(docker_client: docker.DockerClient) -> ImageBuilder:
    """Return an image builder that waits longer for the engine than the arena's does."""
    return DockerBuilder(docker_client.api)


@pytest.fixture(scope="session")
def base_image(image_builder: ImageBuilder) -> str:
    """Return the id of the base image for Python. Only one process per host builds it at a time."""
    with host_lock(f"{PYTHON.name}-image"):
        return ensure_base_image(image_builder, PYTHON)


@pytest.fixture(scope="session")
def npm() -> None:
    """Require npm."""
    if shutil.which("npm") is None:
        missing("npm is not installed", "apt-get install npm")


@pytest.fixture(scope="session")
def javascript_image(image_builder: ImageBuilder, npm: None) -> str:
    """Return the id of the base image for JavaScript. Only one process per host builds it at a time."""
    del npm
    with host_lock(f"{JAVASCRIPT.name}-image"):
        return ensure_base_image(image_builder, JAVASCRIPT)


@pytest.fixture(scope="session")
def cpp_compiler() -> None:
    """Require a compiler and the library for C++ bots."""
    if shutil.which("g++") is None or not Path("/usr/include/nlohmann/json.hpp").exists():
        missing("there is no C++ compiler with nlohmann-json", "apt-get install g++ nlohmann-json3-dev")


@pytest.fixture(scope="session")
def node() -> str:
    """Return the program that runs JavaScript."""
    if found := shutil.which("node"):
        return found
    missing("Node.js is not installed", "apt-get install nodejs")


@pytest.fixture(scope="session")
def docker_command(docker_client: docker.DockerClient) -> None:
    """Require the `docker` command."""
    del docker_client
    if shutil.which("docker") is None:
        missing("the command docker is not installed", "apt-get install docker-cli, or docker.io")


@pytest.fixture(scope="session")
def iptables(root: None) -> None:
    """Require the `iptables` command, with which tests block connections."""
    del root
    if shutil.which("iptables") is None:
        missing("iptables is not installed", "apt-get install iptables")


@pytest.fixture(scope="session")
def root() -> None:
    """Require root."""
    if os.geteuid() != 0:
        missing("these tests need root", "run the tests as root")


@pytest.fixture(scope="session")
def compose_command() -> tuple[str, ...]:
    """Return the command for Docker Compose, version 1 or 2."""
    for command in (("docker-compose",), ("docker", "compose")):
        with suppress(OSError):
            if not subprocess.run([*command, "version"], capture_output=True, check=False).returncode:  # noqa: S603 - ours
                return command
    missing("Docker Compose is not installed", "apt-get install docker-compose")


@pytest.fixture(scope="session")
def postgresql_programs() -> Path:
    """Return the folder of PostgreSQL's programs."""
    programs = find_programs()
    if programs is None:
        missing("PostgreSQL's programs are not installed", "apt-get install postgresql")
    return programs


@pytest.fixture(scope="session")
def postgresql_cluster(postgresql_programs: Path) -> Iterator[Cluster]:
    """Yield a private PostgreSQL cluster that listens only on its own socket."""
    cluster = Cluster(postgresql_programs)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.remove()


@pytest.fixture(scope="session")
def postgresql_template(postgresql_cluster: Cluster) -> str:
    """Return the name of a new arena's database, as a template for copies."""
    name = "kaiten_template"
    with postgresql_cluster.administered() as connection:
        connection.execute(f"CREATE DATABASE {name}")
    open_store(postgresql_cluster.address(name, scheme="postgresql+psycopg")).close()
    return name


@pytest.fixture(scope="session")
def postgresql_copies(postgresql_cluster: Cluster, postgresql_template: str) -> Copies:
    """Return the copies of a new arena's database."""
    return Copies(postgresql_cluster, postgresql_template)


@pytest.fixture
def postgresql_url(postgresql_cluster: Cluster, postgresql_copies: Copies) -> Iterator[str]:
    """Yield the SQLAlchemy address of a new arena's database, which has the tables but no rows."""
    with postgresql_copies.one() as name:
        yield postgresql_cluster.address(name, scheme="postgresql+psycopg")


@pytest.fixture
def empty_postgresql_url(postgresql_cluster: Cluster) -> Iterator[str]:
    """Yield the SQLAlchemy address of a database without tables."""
    with postgresql_cluster.database("template1") as name:
        yield postgresql_cluster.address(name, scheme="postgresql+psycopg")


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Return the path of Chromium's program."""
    if found := find_chromium():
        return found
    missing("Chromium is not installed", "apt-get install chromium")


@pytest.fixture(scope="session")
def axe() -> str:
    """Return the source of axe-core, which finds accessibility problems."""
    program = Path(__file__).parents[1] / "node_modules" / "axe-core" / "axe.min.js"
    if not program.is_file():
        missing("axe-core is not installed", "npm install, or make check")
    return program.read_text()
