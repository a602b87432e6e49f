"""Runs the site beside the arena."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from typing import Final

from arena.app.arena import Arena
from arena.app.folders import CannotStart
from arena.app.playing import Quiet, playing
from arena.platform.settings import Settings
from arena.scheduler.coordinator import Coordinator

_PR_SET_PDEATHSIG: Final = 1
_START_SECONDS: Final = 60
_END_SECONDS: Final = 8


def check_port(settings: Settings) -> None:
    """Check early that the site can listen. Raises CannotStart if its address is unusable or in use."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            raise CannotStart(
                f"the site can't listen on {settings.host}:{settings.port} ({error.strerror}): "
                "stop the program that uses it, or choose another port with ARENA_PORT"
            ) from error


@contextmanager
def site(settings: Settings) -> Iterator[subprocess.Popen[bytes]]:
    """Start the site, yield its process once it answers, and stop it afterwards.

    Raises CannotStart if the site does not answer.
    """
    process = subprocess.Popen(  # noqa: S603 - our own module with our own settings
        [sys.executable, "-m", "web", "--host", settings.host, "--port", str(settings.port)],
        env={
            **os.environ,
            "ARENA_DATA_DIR": str(settings.data_dir.absolute()),
            "ARENA_LOG_LEVEL": settings.log_level or "",
            "ARENA_LOG_FORMAT": settings.log_format,
        },
        # Ctrl-C in the terminal must reach only the arena, which stops the site after its matches.
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
    """Have the kernel terminate this process when the arena's process dies."""
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
    raise CannotStart("the site failed to start: see its output above")


def serve(settings: Settings, arena: Arena, say: Callable[[str], None]) -> None:
    """Serve the site and play rated games until a signal arrives.

    Raises CannotStart if the site did not start, or stopped unexpectedly.
    """
    with site(settings) as process, playing(arena, Quiet()) as coordinator:
        say(f"site: http://{settings.host}:{settings.port}/")
        say("playing rated games; press Ctrl-C to stop")

        def refill() -> bool:
            arena.ladder.refill()
            return True

        site_ended = threading.Event()
        threading.Thread(
            target=_watch, args=(process, coordinator, site_ended), name="site", daemon=True
        ).start()
        coordinator.run(refill)
        if site_ended.is_set():
            raise CannotStart(f"the site stopped with exit code {process.returncode}")
    say("stopped; nothing is left running")


def _watch(process: subprocess.Popen[bytes], coordinator: Coordinator, site_ended: threading.Event) -> None:
    """Drain the arena if its site stops unexpectedly, so that a supervisor restarts both."""
    process.wait()
    if not (coordinator.draining or coordinator.stopped):
        site_ended.set()
        coordinator.drain()
