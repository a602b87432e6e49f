"""Tests of ``arena doctor``, which reports the controls that this host enforces."""

import json
import os
import re
import socket
import subprocess
from dataclasses import fields
from pathlib import Path
from uuid import uuid4

import docker
import pytest

from arena.app.folders import data_dir_lock
from arena.protocol.sandbox_controls import CONTROL_NAMES
from arena.protocol.status import Host
from tests.cli import forked
from tests.cli.command import environment

CGROUPS = Path("/sys/fs/cgroup")


def doctor(folder: Path, *args: str, **settings: str) -> "subprocess.CompletedProcess[str]":
    """Run the command in a folder with only these settings."""
    clean = {name: value for name, value in environment().items() if not name.startswith("ARENA_")}
    named = {f"ARENA_{name.upper()}": value for name, value in settings.items() if name.islower()}
    others = {name: value for name, value in settings.items() if not name.islower()}
    return forked.run(["doctor", *args], folder, clean | {"COLUMNS": "200"} | named | others)


@pytest.mark.docker
def test_it_reports_every_control(
    docker_client: docker.DockerClient, base_image: str, tmp_path: Path, run_dir: Path
) -> None:
    """The command prints a table, exits with the verdict's code, and creates no data directory.

    With ``--json``, the exit code is 0 if the missing controls are accepted by name. The second run leaves
    the control group to the arena that has the data directory's lock.
    """
    assert base_image
    done = doctor(tmp_path, run_dir=str(run_dir))
    assert "testing the sandbox controls" in done.stderr
    text = done.stdout
    assert docker_client.info()["ServerVersion"] in text
    for name in CONTROL_NAMES:
        assert f"\n{name} " in text
    assert done.returncode == ("NOT ENFORCED" in text) == ("Untrusted bots are refused" in text)
    assert list(tmp_path.iterdir()) == []
    assert list(run_dir.iterdir()) == []

    lacking = [name for name in CONTROL_NAMES if re.search(rf"^{name} .*NOT ENFORCED", text, re.MULTILINE)]
    with data_dir_lock(tmp_path / "data"):
        (tmp_path / "data/install").write_text(install := uuid4().hex[:8])
        done = doctor(tmp_path, "--json", run_dir=str(run_dir), accept_missing=",".join([*lacking, "swap"]))
    groups = [path for way in ("kaiten", "*/kaiten") for path in CGROUPS.glob(f"{way}/{install}")]
    writable = os.access(CGROUPS, os.W_OK) or os.access(CGROUPS / "memory", os.W_OK)
    assert bool(groups) == (writable and docker_client.info()["CgroupDriver"] == "cgroupfs")
    for group in groups:
        group.rmdir()
    assert done.returncode == 0
    accepted = json.loads(done.stdout)
    assert [finding["control"] for finding in accepted["findings"]] == list(CONTROL_NAMES)
    assert [finding["control"] for finding in accepted["findings"] if not finding["held"]] == lacking
    assert accepted["accepted"] == sorted({*lacking, "swap"})
    assert accepted["unaccepted"] == []
    assert accepted["cores"] == len(os.sched_getaffinity(0))


def test_plain_processes_isolate_nothing(tmp_path: Path) -> None:
    """The exit code is 1 even if all controls are accepted as missing."""
    done = doctor(tmp_path, sandbox="process", accept_missing=",".join(CONTROL_NAMES))
    assert done.returncode == 1
    assert "Nothing is isolated" in done.stdout
    told = json.loads(doctor(tmp_path, "--json", sandbox="process").stdout)
    assert told["name"] == socket.gethostname()
    assert {"isolates", "runtime", "engine", "cgroup", "checked", "slots"} <= {
        field.name for field in fields(Host)
    } & {*told}


def test_a_missing_engine_is_reported(tmp_path: Path) -> None:
    """If the engine is missing, the exit code is 2, and there is no traceback."""
    done = doctor(tmp_path, DOCKER_HOST=f"unix://{tmp_path}/nothing.sock")
    assert done.returncode == 2
    assert "no Docker engine responds" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_control_is_named_with_the_known_ones(tmp_path: Path) -> None:
    """A misspelt name is refused, since it would accept nothing. The error lists the known names."""
    done = doctor(tmp_path, accept_missing="swap,swop")
    assert done.returncode == 2
    assert "ARENA_ACCEPT_MISSING" in done.stderr
    assert "there is no control called swop: the controls are" in done.stderr
    assert all(name in done.stderr for name in CONTROL_NAMES)
