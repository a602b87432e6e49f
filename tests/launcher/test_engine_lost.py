"""A Docker engine that goes away in the middle of a match."""

import gc
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import docker
import pytest

from arena.launcher import HostFailed, Launcher, SlotPool
from arena.match import encode
from arena.sandbox.docker_runtime import DockerRuntime
from arena.workers.local import LOOK_SECONDS, local_workers
from tests.launcher import programs
from tests.launcher.conftest import Hall
from tests.sandbox.stage import DockerStage

ENGINE = "/var/run/docker.sock"


class EngineLine:
    """A socket that leads to the engine until it is cut."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(path))
        self._server.listen()
        self._open: list[socket.socket] = [self._server]
        threading.Thread(target=self._serve, daemon=True).start()

    def cut(self) -> None:
        """End all connections, and take no more."""
        self.path.unlink(missing_ok=True)
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
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=_pump, args=(source, sink), daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Give a short folder."""
    folder = Path(tempfile.mkdtemp(prefix="kaiten-e-"))
    yield folder
    shutil.rmtree(folder)


# docker-py leaves the sockets of cut connections to the garbage collector, which warns of them.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.docker
def test_bots_that_end_with_their_engine_are_not_to_blame(
    docker_client: docker.DockerClient, base_image: str, folder: Path
) -> None:
    """Nobody can tell why they ended: the match is void, and without an engine no other begins."""
    stage = DockerStage(docker_client, base_image)
    try:
        _lose_engine(docker_client, stage, folder)
    finally:
        stage.close()
        gc.collect()


def _lose_engine(client: docker.DockerClient, stage: DockerStage, folder: Path) -> None:
    """Cut the line to the engine in the middle of a match, and make it anew."""
    line = EngineLine(folder / "engine.sock")
    with (
        closing(DockerRuntime(docker.APIClient(base_url=f"unix://{line.path}", version="auto"))) as runtime,
        local_workers(Launcher(runtime, stage.install, folder / "run"), SlotPool(5, 0.4), "host") as workers,
    ):
        spec = Hall(stage, workers.launcher, folder).spec(programs.TOO_SLOW, programs.TOO_SLOW)
        place = workers.take(2)
        assert place is not None
        match = place.play(encode(spec), lambda _: None)
        await_that(lambda: len(_running(client, stage)) == 2)
        assert workers.status()[0].busy == 2
        line.cut()
        for container in _running(client, stage):
            container.kill()
        assert isinstance(match.exception(60), HostFailed)
        assert workers.status()[0].busy == 0
        assert workers.take(2) is None
        time.sleep(LOOK_SECONDS)  # then it looks again, and there is none yet
        assert workers.take(2) is None
        line = EngineLine(line.path)
        await_that(lambda: workers.take(2) is not None)
        line.cut()


def await_that(condition: Callable[[], bool]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _running(client: docker.DockerClient, stage: DockerStage) -> list["docker.models.containers.Container"]:  # type: ignore[name-defined] # a module that its stubs hide
    return client.containers.list(filters={"label": f"kaiten.install={stage.install}"})
