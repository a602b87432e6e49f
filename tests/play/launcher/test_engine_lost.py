"""A Docker engine that fails in the middle of a match."""

import gc
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import docker
import pytest
from docker.errors import APIError
from structlog.testing import capture_logs

from arena.platform.periodic import PeriodicTask
from arena.play.launcher import HostFailed, MatchVoid
from arena.play.launcher.launcher import Launcher
from arena.play.launcher.slots import SlotPool, sweeper
from arena.protocol.match import Clock, encode
from arena.sandbox.docker import runtime as docker_runtime
from arena.sandbox.docker.runtime import DockerRuntime
from arena.scheduler.workers import POLL_SECONDS, LocalWorkers, local_workers
from tests.patience import PATIENT_CLOCK, WAIT_SECONDS, wait_until
from tests.play.launcher import programs
from tests.play.launcher.conftest import Hall
from tests.sandbox.stage import DockerStage

ENGINE = "/var/run/docker.sock"
_LONG_SECONDS = 600
"""Timeout of engine requests, longer than any of these tests."""


def failed(reason: bytes) -> bytes:
    """Return the engine's response to a request that fails."""
    said = b'{"message":"%s"}' % reason
    return (
        b"HTTP/1.1 500 Internal Server Error\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n%s" % (len(said), said)
    )


CLOSED = failed(b"get kaiten-init: database not open")
"""The response of dockerd 20.10 while it shuts down."""

STUCK = failed(b"tried to kill container, but did not receive an exit event")


class EngineLine:
    """A socket that forwards to the engine until it is cut."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ending = False  # True to act like an engine that is shutting down: healthy, with closed volumes
        self.silent = False  # True to accept requests without ever responding
        self.stuck = False  # True to act like an engine that misses the ends of containers
        self.jammed = False  # True to act like an engine that can neither start nor remove containers
        self._watched: set[bytes] = set()  # ids of containers whose ends it has been asked to report
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(path))
        self._server.listen()
        self._open: list[socket.socket] = [self._server]
        self._is_cut = False
        threading.Thread(target=self._serve, daemon=True).start()

    def cut(self) -> None:
        """Close all connections and accept no more."""
        self._is_cut = True
        self.path.unlink(missing_ok=True)
        self._close()

    def _close(self) -> None:
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._server.accept()
                far = socket.socket(socket.AF_UNIX)
                far.connect(ENGINE)
                self._open += [near, far]
                if self._is_cut:  # since it was accepted
                    self._close()
                    return
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                response = self._response(data.partition(b"\r\n")[0])
                if response is not None:
                    source.sendall(response)
                elif not self.silent:
                    sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def _response(self, request: bytes) -> bytes | None:
        """Return the response to a request that doesn't reach the engine, or None if it does."""
        if self.ending and b"/volumes/" in request:
            return CLOSED
        if self.jammed and (request.startswith(b"DELETE ") or request.endswith(b"/start HTTP/1.1")):
            return STUCK
        if self.stuck and b"/containers/" in request:
            container = request.split(b"/")[3][:64]
            if request.endswith(b"/wait HTTP/1.1"):
                self._watched.add(container)
            elif container in self._watched:
                return STUCK if request.startswith(b"DELETE ") else b""
        return None


@contextmanager
def _hall_on(client: docker.DockerClient, base_image: str, folder: Path) -> Iterator["_Place"]:
    """Yield a worker whose connection to the engine can be cut."""
    stage = DockerStage(client, base_image)
    line = EngineLine(folder / "engine.sock")
    try:
        with (
            closing(
                DockerRuntime(
                    docker.APIClient(base_url=f"unix://{line.path}", version="auto", timeout=_LONG_SECONDS)
                )
            ) as runtime,
            local_workers(
                Launcher(runtime, stage.install, folder / "run"), SlotPool(5, 0.4), "host"
            ) as workers,
        ):
            yield _Place(client, stage, runtime, line, workers, Hall(stage, workers.launcher, folder))
            line.cut()
    finally:
        stage.close()
        gc.collect()


@dataclass(frozen=True, slots=True)
class _Place:
    client: docker.DockerClient
    stage: DockerStage
    runtime: DockerRuntime
    line: EngineLine
    workers: LocalWorkers
    hall: Hall

    def play(self, *programs: str, clock: Clock | None = None) -> "Future[bytes]":
        """Start a match."""
        place = self.workers.reserve(len(programs))
        assert place is not None
        return place.play(encode(self.hall.spec(*programs, clock=clock)), lambda _: None)

    def sweeper(self) -> PeriodicTask:
        """Return a task that frequently removes what matches left behind."""
        return sweeper(
            self.runtime, self.stage.install, self.hall.launcher.owns, self.workers.slots, seconds=0.05
        )

    def running(self) -> list["docker.models.containers.Container"]:  # type: ignore[name-defined] # not in the stubs
        """Return the containers of the worker's matches."""
        return self.client.containers.list(filters={"label": f"kaiten.install={self.stage.install}"})


# docker-py leaves the sockets of cut connections to the garbage collector, which warns about them.
pytestmark = [
    pytest.mark.docker,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def _kill_all(at: _Place) -> None:
    for container in at.running():
        # The match may be over as soon as the first bot has ended, and then the second one ends by itself.
        with suppress(APIError):
            container.kill()


def test_bots_that_end_with_their_engine_are_not_to_blame(
    docker_client: docker.DockerClient, base_image: str, run_dir: Path
) -> None:
    """If bots end with their engine, their match is void; no other begins until the engine is back."""
    with _hall_on(docker_client, base_image, run_dir) as at:
        match = at.play(programs.TOO_SLOW, programs.TOO_SLOW)
        wait_until(lambda: len(at.running()) == 2, "two containers")
        assert at.workers.status()[0].busy == 2
        at.line.cut()
        _kill_all(at)
        assert isinstance(match.exception(WAIT_SECONDS), HostFailed)
        assert at.workers.reserve(2) is None
        time.sleep(4 * POLL_SECONDS)  # the worker checks again, and there is still no engine
        assert at.workers.reserve(2) is None
        line = EngineLine(at.line.path)
        wait_until(lambda: at.workers.reserve(2) is not None, "room for two")
        line.cut()


def test_a_bot_that_ended_with_its_engine_before_greeting_is_not_awaited(
    docker_client: docker.DockerClient, base_image: str, run_dir: Path
) -> None:
    """If bots end with their engine before greeting, the match ends at once, whatever time they have left."""
    with _hall_on(docker_client, base_image, run_dir) as at:
        match = at.play(programs.NEVER_CONNECTS, programs.NEVER_CONNECTS, clock=Clock(start_millis=600_000))
        wait_until(lambda: len(at.running()) == 2, "two containers")
        at.line.cut()
        _kill_all(at)
        assert isinstance(match.exception(WAIT_SECONDS), HostFailed)


def test_no_match_is_played_while_the_engine_shuts_down(
    docker_client: docker.DockerClient, base_image: str, run_dir: Path
) -> None:
    """An engine that responds to pings but fails other requests is blamed, and no match starts."""
    with _hall_on(docker_client, base_image, run_dir) as at:
        at.line.ending = True
        assert isinstance(at.play(programs.TOO_SLOW, programs.TOO_SLOW).exception(WAIT_SECONDS), HostFailed)
        time.sleep(4 * POLL_SECONDS)  # the worker checks again, and the engine's ping succeeds
        assert at.workers.reserve(2) is None
        at.line.ending = False
        wait_until(lambda: at.workers.reserve(2) is not None, "room for two")


def test_an_engine_that_hangs_blocks_nothing(
    docker_client: docker.DockerClient, base_image: str, run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the engine hangs, requests for slots don't wait for it, and the host is soon reported as failed."""
    monkeypatch.setattr(docker_runtime, "PING_SECONDS", 1)
    with (
        _hall_on(docker_client, base_image, run_dir) as at,
        ThreadPoolExecutor(2) as threads,
        closing_line(at.line),
    ):
        at.line.silent = True
        at.workers.host_failed(HostFailed("the engine does not answer"))

        def ask() -> bool:
            end = time.monotonic() + 4 * POLL_SECONDS
            while time.monotonic() < end:
                if at.workers.reserve(2) is not None:
                    return True
                time.sleep(0.05)
            return False

        assert threads.submit(ask).result(WAIT_SECONDS) is False
        trouble = threads.submit(at.workers.launcher.unavailable_reason).result(WAIT_SECONDS)
        assert trouble is not None
        assert "the engine is not responding" in trouble
        at.line.silent = False
        wait_until(lambda: at.workers.reserve(2) is not None, "room for two")


def test_a_container_that_can_not_be_removed_keeps_its_slot(
    docker_client: docker.DockerClient, base_image: str, run_dir: Path
) -> None:
    """The match's result arrives, but the slots stay in use until a sweep removes the containers."""
    with _hall_on(docker_client, base_image, run_dir) as at:
        at.line.stuck = True
        # After a fault, the launcher would ask this engine what happened, and get no response.
        assert at.play(programs.GOOD, programs.GOOD, clock=PATIENT_CLOCK).result(WAIT_SECONDS)
        assert at.workers.status()[0].busy == 2
        assert len(at.stage.leftovers()) == 2
        assert at.workers.reserve(4) is None
        with at.sweeper(), capture_logs() as logs:
            wait_until(
                lambda: any(entry["event"] == "orphaned sandboxes not removed" for entry in logs),
                "a failed sweep",
            )
            assert at.workers.status()[0].busy == 2
            at.line.stuck = False
            wait_until(lambda: at.workers.status()[0].busy == 0, "the sweep")
        assert at.stage.leftovers() == []


def test_a_container_that_can_neither_be_started_nor_removed_keeps_its_slot(
    docker_client: docker.DockerClient, base_image: str, run_dir: Path
) -> None:
    """The match is void, and the slots stay in use until a sweep removes the containers."""
    with _hall_on(docker_client, base_image, run_dir) as at:
        assert at.play(programs.GOOD, programs.GOOD).result(WAIT_SECONDS)  # so that the engine has the init
        at.line.jammed = True
        assert isinstance(at.play(programs.GOOD, programs.GOOD).exception(WAIT_SECONDS), MatchVoid)
        assert at.workers.status()[0].busy == 2
        assert len(at.stage.leftovers()) == 2
        at.line.jammed = False
        with at.sweeper():
            wait_until(lambda: at.workers.status()[0].busy == 0, "the sweep")
        assert at.stage.leftovers() == []


@contextmanager
def closing_line(line: EngineLine) -> Iterator[None]:
    """Finally cut the connection, to release threads that are still waiting for it."""
    try:
        yield
    finally:
        line.cut()
