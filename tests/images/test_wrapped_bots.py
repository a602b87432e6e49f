"""Source files wrapped on the real base images, from intake to a running container."""

import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import docker
import pytest

from arena.images.image import Platform
from arena.images.intake import Bases, Intake
from arena.images.source import StoreSource
from arena.images.store import ImageStore
from arena.sandbox.docker.engine import connect
from arena.sandbox.docker.images import export_image
from arena.sandbox.docker.runtime import DockerRuntime
from arena.sandbox.runtime import INSTALL_LABEL, SandboxSpec
from tests.images.builders import NOW, PLENTY, store_in
from tests.sandbox.stage import LAUNCH_LIMITS, listening

# tests/submissions/test_journey.py plays wrapped files; test_wrap.py shows that wrapping runs nothing.
pytestmark = [pytest.mark.docker, pytest.mark.soak]

PYTHON = """
import pathlib, sys
import arena.sdk
try:
    pathlib.Path({trace!r}).touch()
except OSError:
    pass
sys.stderr.write("it runs")
"""

JAVASCRIPT = """
import {{ writeFileSync }} from "node:fs";
import * as kaiten from "kaiten";
try {{ writeFileSync({trace!r}, ""); }} catch {{}}
process.stderr.write(typeof kaiten === "object" ? "it runs" : "it lacks its library");
"""


@pytest.fixture
def engine() -> Iterator[docker.APIClient]:
    """Yield a client of the engine."""
    with closing(connect()) as client:
        yield client


@pytest.fixture
def store(tmp_path: Path) -> ImageStore:
    """Return an empty store."""
    return store_in(tmp_path)


@pytest.fixture
def runtime(engine: docker.APIClient, store: ImageStore) -> Iterator[DockerRuntime]:
    """Yield a runtime for the store's images. The images are removed from the engine after the test."""
    source = StoreSource(store, f"test-{uuid.uuid4().hex[:12]}", lambda: NOW)
    with closing(DockerRuntime(connect(), images=source)) as runtime:
        yield runtime
    for image in engine.images(name=source.repository):
        for name in image["RepoTags"]:
            engine.remove_image(name)


@pytest.mark.parametrize(
    ("language", "name", "text"),
    [("python", "mine.py", PYTHON), ("javascript", "mine.mjs", JAVASCRIPT)],
    ids=["py", "mjs"],
)
def test_a_source_file_runs_in_its_container_and_nowhere_else(  # noqa: PLR0913, PLR0917 - many fixtures
    request: pytest.FixtureRequest,
    engine: docker.APIClient,
    store: ImageStore,
    runtime: DockerRuntime,
    tmp_path: Path,
    language: str,
    name: str,
    text: str,
) -> None:
    """Intake and loading don't run it. In its container it runs, and finds its language's library."""
    base: str = request.getfixturevalue("base_image" if language == "python" else "javascript_image")
    trace = tmp_path / "it-has-run"
    file = tmp_path / name
    file.write_text(text.format(trace=str(trace)))
    bases = Bases(find=lambda _: base, export=lambda id_: export_image(engine, id_))
    version = engine.version()
    platform = Platform(version["Os"], version["Arch"])
    image = Intake(store, bases, tmp_path / "incoming", platform, lambda: NOW).take(file, PLENTY)
    runtime.check_source(image.id)
    assert not trace.exists()
    install = f"test-{uuid.uuid4().hex[:12]}"
    with listening() as (folder, _):
        spec = SandboxSpec(
            name=f"arena-{install}-0-1-0",
            source=image.id,
            socket_dir=folder,
            slot=0,
            limits=LAUNCH_LIMITS,
            deadline_seconds=60,
            labels={INSTALL_LABEL: install},
        )
        sandbox = runtime.launch(spec)
        try:
            assert (sandbox.wait().code, sandbox.stderr()) == (0, "it runs")
        finally:
            sandbox.remove()
    assert not trace.exists()
