"""The site as a process beside the one that runs bots: it knows no Docker."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from typing import Final

from arena.bootstrap import CannotStart
from arena.settings import Settings

_PR_SET_PDEATHSIG: Final = 1
_START_SECONDS: Final = 60
_END_SECONDS: Final = 8


def check_port(settings: Settings) -> None:
    """Make sure that the site can listen, before anybody waits for it.

    Raises:
        CannotStart: Something else listens there.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            raise CannotStart(
                f"the site can't listen on {settings.host}:{settings.port} ({error.strerror}): "
                "end what does, or choose another port with ARENA_PORT"
            ) from error


@contextmanager
def site(settings: Settings) -> Iterator[subprocess.Popen[bytes]]:
    """Serve the site; when it answers, give its process, and end it afterwards.

    Raises:
        CannotStart: It does not answer.
    """
    process = subprocess.Popen(  # noqa: S603 - our own module with our own settings
        [sys.executable, "-m", "web", "--host", settings.host, "--port", str(settings.port)],
        env={
            **os.environ,
            "ARENA_DATA_DIR": str(settings.data_dir.absolute()),
            "ARENA_LOG_LEVEL": settings.log_level or "",
            "ARENA_LOG_FORMAT": settings.log_format,
        },
        # A Ctrl-C at the terminal is for the arena; it ends the site when it is ready.
        start_new_session=True,
        preexec_fn=_end_with_parent,  # noqa: PLW1509 - no other thread runs at this time
    )
    try:
        _await(process, settings)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _end_with_parent() -> None:
    """Ask the kernel to end this process when the arena's is killed."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _await(process: subprocess.Popen[bytes], settings: Settings) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        connection = HTTPConnection(settings.host, settings.port, timeout=1)
        try:
            connection.request("GET", "/healthz")
            if connection.getresponse().status == 200:  # noqa: PLR2004 - HTTP's own number
                return
        except (OSError, HTTPException):
            time.sleep(0.05)
        finally:
            connection.close()
    raise CannotStart("the site did not start; what it says stands above")
