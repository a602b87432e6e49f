"""Tests of ``arena scheduler``, ``worker``, ``workers`` and ``admin cluster-keys``."""

import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from arena.protocol.match import RuntimeName, WorkerStatus
from arena.protocol.status import RefusedWorker
from tests.cli.command import arena, environment
from tests.databases import sqlite_store
from tests.db.builders import add_bot, add_matches, never_expire
from tests.folders import short_folder
from tests.patience import WAIT_SECONDS

CLUSTER = {"ARENA_EXECUTOR": "dask://127.0.0.1:1", "ARENA_SANDBOX": "process"}

REFUSED: tuple[tuple[tuple[str, ...], dict[str, str], int, str], ...] = (
    (("scheduler", "nowhere"), {}, 2, "must be HOST:PORT"),
    (("scheduler", "0.0.0.0:8786"), {}, 1, "arena admin cluster-keys"),
    (("scheduler",), {"ARENA_CLUSTER_CA": "ca.pem"}, 1, "needs all three"),
    (
        ("scheduler",),
        {f"ARENA_CLUSTER_{part}": "not-there" for part in ("CA", "CERT", "KEY")},
        1,
        "not-there can't be read: No such file",
    ),
    (("worker",), {}, 1, "set ARENA_EXECUTOR to the address of the cluster"),
    (("worker",), {"ARENA_EXECUTOR": "http://127.0.0.1:1"}, 2, "must be local, or dask://HOST:PORT"),
    (("worker",), CLUSTER | {"ARENA_DATABASE_URL": "sqlite:///x"}, 1, "unset ARENA_DATABASE_URL"),
    (("worker",), CLUSTER | {"ARENA_SANDBOX": "docker"}, 1, "set ARENA_IMAGES_URL"),
    (
        ("worker",),
        CLUSTER | {"ARENA_SANDBOX": "docker", "ARENA_IMAGES_URL": "not-mounted"},
        1,
        "images can't be stored in not-mounted",
    ),
    (("worker",), CLUSTER | {"ARENA_EXECUTOR": "dask://192.0.2.1:1"}, 1, "needs keys"),
    (("coordinator",), CLUSTER | {"ARENA_EXECUTOR": "dask://192.0.2.1:1"}, 1, "needs keys"),
)
"""Commands, their settings, exit codes and messages."""


@pytest.mark.parametrize(("words", "settings", "code", "said"), REFUSED)
def test_unusable_settings_are_refused_with_advice(
    words: tuple[str, ...], settings: dict[str, str], code: int, said: str, tmp_path: Path
) -> None:
    """The message has advice and no traceback."""
    # Sockets have their own folder: the path of tmp_path may be too long for them.
    with short_folder() as sockets:
        done = arena(
            *words,
            folder=tmp_path,
            **{"ARENA_LOG_FORMAT": "console", "ARENA_RUN_DIR": str(sockets)} | settings,
        )
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_missing_package_is_named(tmp_path: Path) -> None:
    """Only a worker reports missing cluster packages. A single host doesn't need them."""
    program = "import sys; sys.modules['distributed'] = None; from arena.cli.main import main; main()"
    done = subprocess.run(  # noqa: S603 - the command under test
        [sys.executable, "-c", program, "worker"],
        cwd=tmp_path,
        env=environment() | CLUSTER,
        capture_output=True,
        text=True,
        check=False,
        timeout=WAIT_SECONDS,
    )
    assert done.returncode == 1
    assert "pip install 'kaiten-arena[cluster]'" in done.stderr


def test_keys_are_made_once(tmp_path: Path) -> None:
    """The command prints the keys' files and overwrites none. More members can be added later."""
    done = arena("admin", "cluster-keys", "keys", folder=tmp_path)
    assert done.stdout.split() == [f"keys/{name}" for name in ("scheduler", "coordinator", "worker")]
    assert "ca.key secret" in done.stderr
    again = arena("admin", "cluster-keys", "keys", folder=tmp_path)
    assert (again.returncode, again.stdout) == (2, "")
    assert "keys/scheduler already exists" in again.stderr
    assert arena("admin", "cluster-keys", "keys", "worker-2", folder=tmp_path).returncode == 0


def test_workers_are_shown_with_what_they_play(tmp_path: Path) -> None:
    """Workers are shown as a table. An empty list is not an error. tests/cli/test_keys.py tests the JSON."""
    file = tmp_path / "arena.sqlite3"
    database = {"ARENA_DATABASE_URL": f"sqlite:///{file}"}
    now = datetime.now(UTC)
    with closing(sqlite_store(file)) as store:
        empty = arena("workers", folder=tmp_path, **database)
        assert (empty.returncode, empty.stdout) == (0, "")
        assert "no workers" in empty.stderr
        add_matches(store, "s", [add_bot(store, name) for name in "ab"])
        assert store.leases.claim("here", "one", now, RuntimeName.DOCKER)
        seen = [
            WorkerStatus(
                name=name, host="h", seats=5, busy=busy, doubted=not busy, usable=None if busy else 3
            )
            for name, busy in (("one", 2), ("two", 0))
        ]
        store.leases.renew("here", ["s-0"])
        refused = RefusedWorker(name="old", host="h", reason="it has version 0.0.9", since=now)
        store.leases.publish_workers("here", seen, [refused])
        never_expire(database["ARENA_DATABASE_URL"])
        done = arena("workers", folder=tmp_path, **database)
        rows = [line.split() for line in done.stdout.splitlines()]
        assert rows[0] == ["worker", "host", "slots", "in", "use", "match", "since", "note"]
        assert rows[1][:-1] == ["one", "h", "5", "2", "s-0:", "a@1", "b@1"]
        assert " ".join(rows[2]) == "two h 5 0 on probation, busy host: slots limited to 3"
        assert rows[3][:2] == ["old", "h"]
        assert rows[3][-5:] == ["rejected:", "it", "has", "version", "0.0.9"]
