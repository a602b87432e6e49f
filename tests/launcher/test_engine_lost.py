"""A Docker engine that goes away in the middle of a match."""

import gc
import shutil
import socket
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import docker
import pytest

from arena.launcher import Launcher, MatchVoid
from arena.match import encode
from arena.sandbox.docker_runtime import DockerRuntime
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


@pytest.mark.docker
def test_bots_that_end_with_their_engine_are_not_to_blame(
    docker_client: docker.DockerClient, base_image: str, folder: Path
) -> None:
    """Nobody can tell why they ended, so the match is void and rated for nobody."""
    stage = DockerStage(docker_client, base_image)
    line = EngineLine(folder / "engine.sock")
    try:
        with closing(
            DockerRuntime(docker.APIClient(base_url=f"unix://{line.path}", version="auto"))
        ) as runtime:
            launcher = Launcher(runtime, stage.install, folder / "run")
            spec = Hall(stage, launcher, folder).spec(programs.TOO_SLOW, programs.TOO_SLOW)
            outcome: list[str] = []

            def play() -> None:
                try:
                    launcher.play(encode(spec), (0, 1))
                except MatchVoid as error:
                    outcome.append(str(error))

            match = threading.Thread(target=play)
            match.start()
            deadline = time.monotonic() + 60
            while len(_running(docker_client, stage)) < 2:
                assert time.monotonic() < deadline, "the bots did not start"
                time.sleep(0.05)
            line.cut()
            for container in _running(docker_client, stage):
                container.kill()
            match.join(60)
            assert not match.is_alive()
            assert len(outcome) == 1
    finally:
        line.cut()
        stage.close()
        # docker-py leaves the sockets of cut connections to the garbage collector, which would warn of them.
        with warnings.catch_warnings(action="ignore"):
            gc.collect()


def _running(client: docker.DockerClient, stage: DockerStage) -> list["docker.models.containers.Container"]:  # type: ignore[name-defined] # a module that its stubs hide
    return client.containers.list(filters={"label": f"kaiten.install={stage.install}"})
