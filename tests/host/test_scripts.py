"""Tests of the scripts behind the Makefile, run as users run them."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import docker
import pytest

from tests.patience import WAIT_SECONDS, wait_until

ROOT = Path(__file__).parents[2]


def script(name: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script from a folder outside the project."""
    return subprocess.run(  # noqa: S603 - our own scripts
        [ROOT / "scripts" / name, *arguments],
        cwd="/",
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.docker
@pytest.mark.usefixtures("docker_client")
def test_an_engine_that_answers_is_enough() -> None:
    """If an engine is already responding, the script neither prints nor changes anything."""
    done = script("engine", SANDBOX="")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.docker
def test_the_engine_is_asked_without_its_client(docker_client: docker.DockerClient, tmp_path: Path) -> None:
    """A broken Docker client that comes first on PATH makes no difference."""
    docker_client.ping()
    client = tmp_path / "docker"
    client.write_text("#!/bin/sh\nexit 1\n")
    client.chmod(0o755)
    assert script("engine", SANDBOX="", PATH=f"{tmp_path}:{os.environ['PATH']}").returncode == 0


@pytest.mark.parametrize("scheme", ["unix://{folder}/none.sock", "tcp://127.0.0.1:1"])
def test_an_unreachable_named_engine_is_not_replaced(tmp_path: Path, scheme: str) -> None:
    """With DOCKER_HOST set, nothing is installed or started. The exit code is 3, with advice on stderr."""
    host = scheme.format(folder=tmp_path)
    done = script("engine", SANDBOX="", DOCKER_HOST=host)
    assert done.returncode == 3
    assert host in done.stderr
    assert "unset DOCKER_HOST" in done.stderr


def test_a_declined_engine_is_not_looked_for(tmp_path: Path) -> None:
    """With SANDBOX=process the script doesn't look for an engine, and exits with code 3."""
    done = script("engine", SANDBOX="process", DOCKER_HOST=f"unix://{tmp_path}/none.sock")
    assert done.returncode == 3
    assert "SANDBOX=process" in done.stderr


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a checkout on a host that lacks nothing. Its tests pass; the test defines its checks."""
    for name in (".ci", "scripts", ".venv/bin"):
        (tmp_path / name).mkdir(parents=True)
    for name in (".ci/run", "scripts/test", "scripts/uv-env.sh"):
        shutil.copy2(ROOT / name, tmp_path / name)
    for name in ("scripts/apt-install", "scripts/engine", ".venv/bin/python"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(
    ("ignored", "number"),
    [(False, signal.SIGHUP), (False, signal.SIGINT), (False, signal.SIGTERM), (True, signal.SIGTERM)],
)
def test_a_run_that_a_signal_ends_fails(checkout: Path, number: signal.Signals, *, ignored: bool) -> None:
    """The current stage may clean up. The script prints the stage's name and exits with 128 + the signal.

    Scripts started in the background ignore SIGINT, but their stages must not.
    """
    (checkout / "Makefile").write_text("check:\n\t@./wait\n")
    (checkout / "wait").write_text(
        "#!/bin/sh\ntrap 'echo cleaned up; exit 1' INT\necho tests run\n"
        "for _ in $(seq 600); do sleep 0.1; done\n"
    )
    (checkout / "wait").chmod(0o755)
    # Background shells ignore SIGINT, nohup ignores SIGHUP, and children would inherit that.
    signals = ["--default-signal=HUP,INT,TERM"] + ["--ignore-signal=INT"] * ignored
    with subprocess.Popen(  # noqa: S603 - our own script
        ["env", "--unset=SOAK", *signals, checkout / ".ci/run"],  # noqa: S607 - on PATH
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as run:
        assert run.stdout is not None
        try:
            assert any(line == "tests run\n" for line in run.stdout)
            run.send_signal(number)
            rest, _ = run.communicate(timeout=WAIT_SECONDS)  # including what the stage prints as it ends
            assert run.returncode == 128 + number
        finally:
            run.kill()
    assert "cleaned up" in rest
    assert f"== FAILED: ended by {number.name} during: Checks after" in rest
    assert "Passed" not in rest


@pytest.mark.parametrize(
    ("recipe", "code", "said"), [("@true", 0, "Passed"), ("@false", 2, "FAILED: Checks (exit code 2)")]
)
def test_a_run_says_how_its_stages_ended(checkout: Path, recipe: str, code: int, said: str) -> None:
    """The run says whether its stages passed; its exit code is that of the first failed stage."""
    (checkout / "Makefile").write_text(f"check:\n\t{recipe}\n")
    done = subprocess.run(  # noqa: S603 - our own script
        ["env", "--unset=SOAK", checkout / ".ci/run"],  # noqa: S607 - on PATH
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert f"== {said} after" in done.stdout


@pytest.mark.parametrize(
    ("first", "said"),
    [(0, "dockerd keeps running, because another run is using it"), (1, "Stopping dockerd")],
    ids=["starter-ends-first", "starter-ends-last"],
)
def test_an_engine_is_not_stopped_under_another_run(checkout: Path, first: int, said: str) -> None:
    """The run that started the engine stops it at its end, unless another run is still using it."""
    pid_file = checkout / "kaiten-dockerd.pid"
    test = checkout / "scripts/test"
    test.write_text(test.read_text().replace("=/run/", f"={shlex.quote(str(checkout))}/"))
    (checkout / "engine.py").write_text(
        "import os, signal\nfrom pathlib import Path\n"
        "Path('/proc/self/comm').write_text('dockerd')\n"
        f"Path({str(pid_file)!r}).write_text(str(os.getpid()))\nsignal.pause()\n"
    )
    (checkout / "scripts/engine").write_text(
        '#!/bin/sh\ncd "$(dirname "$0")/.."\n[ -s kaiten-dockerd.pid ] && exit\n'
        f"setsid {shlex.quote(sys.executable)} engine.py >/dev/null 2>&1 &\n"
        "until [ -s kaiten-dockerd.pid ]; do sleep 0.1; done\n"
    )
    (checkout / "Makefile").write_text("check:\n\t@echo tests run; read answer\n")
    runs: list[subprocess.Popen[str]] = []
    try:
        for _ in range(2):
            run = subprocess.Popen(  # noqa: S603 - our own script
                ["env", "--unset=SOAK", "--unset=CI", test],  # noqa: S607 - on PATH
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            runs.append(run)
            assert run.stdout is not None
            assert any(line == "tests run\n" for line in run.stdout)
        ends = {
            number: runs[number].communicate("\n", timeout=WAIT_SECONDS)[0] for number in (first, 1 - first)
        }
        assert said in ends[0]
        assert "dockerd" not in ends[1]
    finally:
        for run in runs:
            run.kill()
            run.communicate()
        with suppress(FileNotFoundError, ProcessLookupError):
            os.kill(int(pid_file.read_text()), signal.SIGKILL)


def test_the_lock_files_have_no_addresses() -> None:
    """Lock files contain pins and hashes but no addresses, so that any mirror can be used."""
    for lock in (
        ROOT / "package-lock.json",
        ROOT / "arena/languages/javascript/image/package-lock.json",
        ROOT / "editor/package-lock.json",
    ):
        packages = {name: entry for name, entry in json.loads(lock.read_text())["packages"].items() if name}
        assert packages
        assert all("integrity" in entry and "resolved" not in entry for entry in packages.values())
    locks = [*ROOT.glob("requirements*.lock"), ROOT / "arena/languages/python/image/requirements.lock"]
    assert len(locks) == 7
    for lock in locks:
        assert "--hash=sha256:" in lock.read_text()
        assert "://" not in lock.read_text()


def test_the_base_image_has_the_versions_of_the_arena() -> None:
    """Bots have the arena's versions, so both ends of a connection have the same. Only bots have NumPy."""

    def pins(lock: Path) -> dict[str, str]:
        lines = [line.split()[0] for line in lock.read_text().splitlines() if "==" in line]
        return dict(line.split("==") for line in lines)

    ours = pins(ROOT / "requirements.lock")
    bots = pins(ROOT / "arena/languages/python/image/requirements.lock")
    assert bots.pop("numpy")
    assert bots.items() <= ours.items()


def test_every_target_is_explained() -> None:
    """`make` without a target lists the Makefile's targets for users, which are all but `dev`."""
    done = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607 - on PATH
    listed = " ".join(line.split()[1] for line in done.stdout.splitlines())
    assert f"\n.PHONY: {listed} dev\n" in (ROOT / "Makefile").read_text()


@pytest.mark.skipif(shutil.which("flock") is None, reason="needs flock")
def test_two_runs_of_venv_fill_one_environment(tmp_path: Path) -> None:
    """The second run says that it waits for the first, and then has nothing to do."""
    tools = tmp_path / ".venv" / "bin"
    for folder in (tools, tmp_path / "scripts"):
        folder.mkdir(parents=True)
    locks = [f"requirements{kind}.lock" for kind in ("", "-dev", "-uv")]
    for name in ("scripts/venv", "scripts/uv-env.sh", "pyproject.toml", *locks):
        shutil.copy(ROOT / name, tmp_path / name)
    install = "case $* in *install*) echo once >>installed; read -r _ <go ;; esac"
    for name, text in (("python", install), ("uv", ":")):
        (tools / name).write_text(f"#!/bin/sh\n{text}\n")
        (tools / name).chmod(0o755)
    (tmp_path / ".venv" / "kaiten-place").write_text(f"{tmp_path}\n")
    os.mkfifo(tmp_path / "go")
    command, said = [tmp_path / "scripts" / "venv"], tmp_path / "said"
    with (
        said.open("a") as log,
        subprocess.Popen(command, stdout=log) as first,  # noqa: S603 - our own script
        subprocess.Popen(command, stdout=log) as second,  # noqa: S603 - our own script
    ):
        try:
            wait_until((tmp_path / "installed").exists, "the installation")
            wait_until(lambda: "Waiting for another scripts/venv\n" in said.read_text(), "the other run")
            (tmp_path / "go").write_text("\n")
            assert (first.wait(WAIT_SECONDS), second.wait(WAIT_SECONDS)) == (0, 0)
        finally:
            first.kill()
            second.kill()
    assert (tmp_path / "installed").read_text() == "once\n"
