"""Stages that run small test programs in containers or as plain processes."""

import io
import os
import shutil
import socket
import tempfile
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import docker
from docker.errors import ImageNotFound

from arena.protocol.match import Limits
from arena.sandbox.docker.engine import connect
from arena.sandbox.docker.runtime import DockerRuntime
from arena.sandbox.process.runtime import ProcessRuntime
from arena.sandbox.runtime import INSTALL_LABEL, SOCKET_NAME, Exit, Runtime, Sandbox, SandboxSpec, slot_owner
from tests.folders import short_folder
from tests.patience import WAIT_SECONDS

LAUNCH_LIMITS = Limits(cpus=0.4, memory_mib=128, pids=32, tmp_mib=4)

FOREVER = "import signal; signal.pause()"
"""A program that runs until it is killed."""

ATTEMPT = """
import errno
def attempt(act):
    try:
        act()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"
"""
"""Lines of a program that define a function, which returns how a call ends: "done", or an error's name."""


class Stage(Protocol):
    """A runtime under test, with ways to run programs in it and to list its leftovers."""

    @property
    def runtime(self) -> Runtime:
        """The runtime under test."""

    @property
    def deadline_code(self) -> int:
        """Exit code of a sandbox that was ended by its deadline."""

    @property
    def install(self) -> str:
        """ID of the installation that its sandboxes belong to."""

    def source(self, program: str) -> str:
        """Return the source of a bot that runs this Python program."""

    def empty_source(self) -> str:
        """Return a source without a program."""

    def leftovers(self) -> list[str]:
        """Return the remains of this stage's sandboxes on this host."""

    def close(self) -> None:
        """Remove everything that the stage has created."""


class DockerStage:
    """Programs in containers. Each program's image is built once and adds only its command to the base."""

    deadline_code = 124

    def __init__(
        self, client: docker.DockerClient, base_image: str, container_runtime: str | None = None
    ) -> None:
        self.install = f"test-{uuid.uuid4().hex[:12]}"
        self.runtime = DockerRuntime(connect(), runtime=container_runtime)
        self.client = client
        self.gvisor = self.runtime.host.gvisor
        self._base = base_image
        self._images: list[str] = []
        self._sources: dict[str, str] = {}

    def image(self, instructions: str, base: str = "") -> str:
        """Build an image from these Dockerfile lines on a base, by default Python's; return its ID."""
        # The label makes the image unique, so that removing it affects no other test.
        text = f"FROM {base or self._base}\nLABEL kaiten.test={uuid.uuid4().hex}\n{instructions}\n"
        # No cache: the build fails if another test removes the cached steps at the same time.
        image, _ = self.client.images.build(
            fileobj=io.BytesIO(text.encode()), rm=True, nocache=True, network_mode="none"
        )
        if image.id is None:
            raise ValueError(instructions)
        self._images.append(image.id)
        return image.id

    def source(self, program: str) -> str:
        """Return the ID of an image whose command is this program."""
        if program not in self._sources:
            self._sources[program] = self.started_by(["python3", "-c", program])
        return self._sources[program]

    def started_by(self, command: list[str], base: str = "") -> str:
        """Commit an image of a base with this command; return its ID. A build takes three times as long."""
        container = self.client.api.create_container(base or self._base)["Id"]
        try:
            made = self.client.api.commit(container, conf={"Entrypoint": command, "Cmd": None})
        finally:
            self.client.api.remove_container(container, v=True, force=True)
        image: str = made["Id"]
        self._images.append(image)
        return image

    def empty_source(self) -> str:
        """Return the ID of an image without a command."""
        return self.image("ENTRYPOINT []\nCMD []")

    def leftovers(self) -> list[str]:
        """Return the names of this stage's containers in any state."""
        found = self.client.api.containers(all=True, filters={"label": f"{INSTALL_LABEL}={self.install}"})
        return [container["Names"][0] for container in found]

    def close(self) -> None:
        """Remove the stage's containers and images."""
        self.runtime.sweep(self.install)
        for image in reversed(self._images):  # later images may be based on earlier ones
            with suppress(ImageNotFound):
                self.client.images.remove(image, force=True)
        self.runtime.close()


class ProcessStage:
    """Programs in plain processes; each is a folder with a bot.py."""

    deadline_code = 137

    def __init__(self) -> None:
        self.install = f"test-{uuid.uuid4().hex[:12]}"
        self.runtime = ProcessRuntime()
        self._folder = Path(tempfile.mkdtemp(prefix="kaiten-stage-"))

    def source(self, program: str) -> str:
        """Return a new folder with this program as its bot.py."""
        folder = self._folder / uuid.uuid4().hex
        folder.mkdir()
        (folder / "bot.py").write_text(program)
        return str(folder)

    def empty_source(self) -> str:
        """Return a folder without a bot.py."""
        return tempfile.mkdtemp(dir=self._folder)

    def leftovers(self) -> list[str]:
        """Return home folders and processes that belong to this stage."""
        mark = f"kaiten.{self.install}.".encode()
        homes = [path.name for path in Path(tempfile.gettempdir()).glob(f"kaiten.{self.install}.*")]
        return homes + [
            path for path in map(str, Path("/proc").glob("[0-9]*/environ")) if mark in _read(path)
        ]

    def close(self) -> None:
        """Remove the stage's folders."""
        self.runtime.sweep(self.install)
        shutil.rmtree(self._folder)


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


@contextmanager
def listening(slot: int = 0) -> Iterator[tuple[Path, socket.socket]]:
    """Yield a socket folder like the arena's, and the listening socket in it."""
    with short_folder() as folder, socket.socket(socket.AF_UNIX) as server:
        path = folder / SOCKET_NAME
        server.bind(str(path))
        server.listen()
        folder.chmod(0o711)
        path.chmod(0o600)
        os.chown(path, *slot_owner(slot, os.geteuid(), os.getegid()))
        server.settimeout(WAIT_SECONDS)
        yield folder, server


def spec_for(
    stage: Stage, source: str, socket_dir: Path, *, slot: int = 0, limits: Limits = LAUNCH_LIMITS
) -> SandboxSpec:
    """Return the spec of a sandbox of this stage."""
    return SandboxSpec(
        name=f"arena-{stage.install}-{uuid.uuid4().hex[:8]}-1-0",
        source=source,
        socket_dir=socket_dir,
        slot=slot,
        limits=limits,
        deadline_seconds=600,
        labels={INSTALL_LABEL: stage.install},
    )


@contextmanager
def launched(
    stage: Stage, source: str, *, slot: int = 0, limits: Limits = LAUNCH_LIMITS
) -> Iterator[tuple[Sandbox, socket.socket]]:
    """Start a sandbox, yield it with its referee's socket, and remove it at the end."""
    with listening(slot) as (folder, server):
        sandbox = stage.runtime.launch(spec_for(stage, source, folder, slot=slot, limits=limits))
        try:
            yield sandbox, server
        finally:
            sandbox.remove()


def run(stage: Stage, program: str, *, slot: int = 0, limits: Limits = LAUNCH_LIMITS) -> tuple[Exit, str]:
    """Run a program to its end in a sandbox, and return how it ended and what it printed to stderr."""
    return run_source(stage, stage.source(program), slot=slot, limits=limits)


def run_source(
    stage: Stage, source: str, *, slot: int = 0, limits: Limits = LAUNCH_LIMITS
) -> tuple[Exit, str]:
    """Run a source to its end in a sandbox, and return how it ended and what it printed to stderr."""
    with launched(stage, source, slot=slot, limits=limits) as (sandbox, _):
        return end_of(sandbox)


def end_of(sandbox: Sandbox) -> tuple[Exit, str]:
    """Wait until a sandbox ends, and return how it ended and all that it printed to stderr.

    If this process or the engine stalls for 2 s, ``Sandbox.wait`` returns before all output has been read.
    """
    ended = sandbox.wait()
    reader: threading.Thread = vars(sandbox)["_reader"]
    reader.join(WAIT_SECONDS)
    return ended, sandbox.stderr()


@contextmanager
def connected(
    runtime: Runtime, stage: Stage, source: str, *deadlines: int
) -> Iterator[tuple[Sandbox, socket.socket, SandboxSpec]]:
    """Start a sandbox with a deadline, and yield it, its connection to its referee and its spec.

    On a busy host a sandbox may reach its deadline before it has connected. The next deadline is then tried.
    """
    *_, last = deadlines
    for seconds in deadlines:
        with listening() as (folder, server):
            if seconds != last:
                server.settimeout(2 * seconds)
            spec = replace(spec_for(stage, source, folder), deadline_seconds=seconds)
            sandbox = runtime.launch(spec)
            try:
                try:
                    channel, _ = server.accept()
                except TimeoutError:
                    if seconds == last:
                        raise
                    continue
                with channel:
                    channel.settimeout(WAIT_SECONDS)
                    yield sandbox, channel, spec
                return
            finally:
                sandbox.remove()
