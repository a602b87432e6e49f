"""Locks shared by all processes of this user on this host, such as test runs in several checkouts."""

import errno
import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def host_lock(name: str) -> Iterator[None]:
    """Hold a lock. Wait while another process holds it."""
    with Path(tempfile.gettempdir(), f"kaiten-{name}-{os.getuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def refuse_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behave like a network file system without locks."""

    def refuse(_: object, __: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
