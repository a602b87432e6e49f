"""The scripts behind the Makefile, run as its user runs them."""

import json
import os
import subprocess
from pathlib import Path

import docker
import pytest

ROOT = Path(__file__).parents[2]


def script(name: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run one of the scripts from a folder that is not the project's."""
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
    """Where an engine answers nothing is said and nothing done."""
    done = script("engine", SANDBOX="")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.docker
def test_the_engine_is_asked_and_not_its_client(docker_client: docker.DockerClient, tmp_path: Path) -> None:
    """Docker clients that are first on PATH, broken or of another version, change nothing."""
    docker_client.ping()
    client = tmp_path / "docker"
    client.write_text("#!/bin/sh\nexit 1\n")
    client.chmod(0o755)
    assert script("engine", SANDBOX="", PATH=f"{tmp_path}:{os.environ['PATH']}").returncode == 0


@pytest.mark.parametrize("scheme", ["unix://{folder}/none.sock", "tcp://127.0.0.1:1"])
def test_an_engine_that_was_named_and_is_gone_is_not_replaced(tmp_path: Path, scheme: str) -> None:
    """With DOCKER_HOST set nothing is installed or started; it ends with 3, the address and what to do."""
    host = scheme.format(folder=tmp_path)
    done = script("engine", SANDBOX="", DOCKER_HOST=host)
    assert done.returncode == 3
    assert host in done.stderr
    assert "unset DOCKER_HOST" in done.stderr


def test_a_declined_engine_is_not_looked_for(tmp_path: Path) -> None:
    """SANDBOX=process ends it with 3 at once."""
    done = script("engine", SANDBOX="process", DOCKER_HOST=f"unix://{tmp_path}/none.sock")
    assert done.returncode == 3
    assert "SANDBOX=process" in done.stderr


def test_the_lock_files_name_no_address() -> None:
    """Pins and hashes only, so that any mirror serves."""
    for lock in (ROOT / "package-lock.json", ROOT / "bots/base-javascript/package-lock.json"):
        packages = {name: entry for name, entry in json.loads(lock.read_text())["packages"].items() if name}
        assert packages
        assert all("integrity" in entry and "resolved" not in entry for entry in packages.values())
    locks = [*ROOT.glob("requirements*.lock"), ROOT / "bots/base-python/requirements.lock"]
    assert len(locks) == 6
    for lock in locks:
        assert "--hash=sha256:" in lock.read_text()
        assert "://" not in lock.read_text()


def test_the_base_image_has_the_versions_of_the_arena() -> None:
    """What speaks on both ends of the wire is of one version; NumPy is the bots' alone."""

    def pins(lock: Path) -> dict[str, str]:
        lines = [line.split()[0] for line in lock.read_text().splitlines() if "==" in line]
        return dict(line.split("==") for line in lines)

    ours = pins(ROOT / "requirements.lock")
    bots = pins(ROOT / "bots/base-python/requirements.lock")
    assert bots.pop("numpy")
    assert bots.items() <= ours.items()


def test_every_target_is_explained() -> None:
    """`make` alone prints each target of the Makefile that is there for people."""
    # The tests may have been started by a make that tells its own below it what to print.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(
        ["make"],  # noqa: S607 - on PATH
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    targets = [line.split()[1] for line in done.stdout.splitlines()]
    assert targets == [
        "help",
        "setup",
        "demo",
        "image",
        "test",
        "check",
        "proto",
        "lock",
        "bench",
        "hostile",
        "faults",
        "clean",
    ]
