"""Starts the canary's containers, watches them, and removes them."""

import json
import os
import secrets
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import docker

from arena.match import Limits
from arena.sandbox.canary.evidence import TASKS, Evidence, Share, Trial, last_words
from arena.sandbox.canary.observe import Observer, seconds_of_life, share_between
from arena.sandbox.common_group import CommonGroup
from arena.sandbox.docker_runtime import DockerRuntime
from arena.sandbox.docker_sandbox import DockerSandbox
from arena.sandbox.errors import LaunchRefused, RuntimeTrouble
from arena.sandbox.policy import OPEN_FILES, TMP_FILES, container_arguments, slot_owner
from arena.sandbox.runtime import INSTALL_LABEL, SOCKET_NAME, SandboxSpec

INSTALL: Final = "canary"
"""Under which its containers are found, whichever installation or command started them."""

_PREFIX: Final = "canary-"
"""Of its sockets' folders."""

_SLOT: Final = 1_000
"""The first of its slots: far above those of matches, so that it can run beside them."""

_DEADLINE_SECONDS: Final = 1
_PATIENCE_SECONDS: Final = 20.0
"""For a probe on a busy host. One that needs more has not answered."""

_DEADLINE_PATIENCE_SECONDS: Final = 6.0
"""For the one that can't end before its deadline; what is late by seconds was not ended by it."""

_NANO: Final = 1e9
_SHARE_SECONDS: Final = 1.0
_SHARE_ROUNDS: Final = 3
"""On a busy host the quota is not reached at once."""

_STALE_SECONDS: Final = 120
"""After that long a canary's containers have been left by somebody who was killed."""

Owner = Callable[[int, int, int], tuple[int, int]]


class Canary:
    """Tries the controls of one engine with one runtime.

    Args:
        client: Of the engine; closed by whoever made it.
        runtime: What bots are run with.
        image: Id of the image that starts the probe.
        run_dir: Folder for its sockets; must be writable for nobody else.
        limits: Those of bots.
        group: Of all bots together.
        owner: Who owns a slot's socket.
    """

    def __init__(  # noqa: PLR0913 - what it needs to do as the arena does
        self,
        client: docker.APIClient,
        runtime: DockerRuntime,
        *,
        image: str,
        run_dir: Path,
        limits: Limits,
        group: CommonGroup,
        owner: Owner = slot_owner,
    ) -> None:
        self._observer = Observer(client)
        self._runtime = runtime
        self._image = image
        self._run_dir = run_dir
        self._limits = limits
        self._group = group
        self._owner = owner
        self._id = f"{int(time.time())}-{secrets.token_hex(4)}"

    def check(self) -> Evidence:
        """Try everything, and return what was seen.

        Raises:
            RuntimeTrouble: The engine does not answer, or can't start containers.
        """
        engine = self._observer.engine()
        self._sweep()
        asked = container_arguments(self._spec("look", self._run_dir), self._runtime.host, ())
        with ThreadPoolExecutor(len(TASKS), thread_name_prefix="canary") as executor:
            trials = dict(zip(TASKS, executor.map(self._try, TASKS), strict=True))
        return Evidence(
            engine=engine,
            limits=self._limits,
            pids=asked["host_config"]["PidsLimit"],
            tmp_files=TMP_FILES,
            open_files=OPEN_FILES,
            owner=self._owned(_SLOT + TASKS.index("look")),
            environment=self._expected(asked),
            deadline_seconds=_DEADLINE_SECONDS,
            trials=trials,
        )

    def _sweep(self) -> None:
        """Remove what canaries left that were killed."""
        self._runtime.sweep(INSTALL, _is_recent)
        for folder in self._run_dir.glob(f"{_PREFIX}*"):
            with suppress(FileNotFoundError):  # another canary has just removed its own
                if time.time() - folder.stat().st_mtime > _STALE_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)

    def _expected(self, asked: dict[str, Any]) -> dict[str, str]:
        """Return the whole environment that a bot may see. HOSTNAME is the engine's doing."""
        image = self._observer.environment(self._image)
        return {**image, "HOSTNAME": asked["hostname"], **asked["environment"]}

    def _owned(self, slot: int) -> tuple[int, int]:
        return self._owner(slot, os.geteuid(), os.getegid())

    def _spec(self, task: str, folder: Path) -> SandboxSpec:
        return SandboxSpec(
            name=f"arena-canary-{self._id}-{task}",
            source=self._image,
            socket_dir=folder,
            slot=_SLOT + TASKS.index(task),
            limits=self._limits,
            deadline_seconds=_DEADLINE_SECONDS if task == "deadline" else int(3 * _PATIENCE_SECONDS),
            labels={INSTALL_LABEL: INSTALL},
        )

    def _try(self, task: str) -> Trial:
        with self._folder(task) as folder:
            spec = self._spec(task, folder)
            try:
                sandbox = self._runtime.launch(spec)
            except LaunchRefused as error:
                raise RuntimeTrouble(f"the canary's image can't be started: {error}") from error
            try:
                if task == "cpu":
                    return self._spin(sandbox, spec.name)
                patience = _DEADLINE_PATIENCE_SECONDS if task == "deadline" else _PATIENCE_SECONDS
                return self._await(sandbox, spec.name, patience)
            finally:
                sandbox.remove()

    def _await(self, sandbox: DockerSandbox, name: str, patience: float) -> Trial:
        """Let a probe come to its end, but not for more than so many seconds."""
        late = threading.Event()

        def end() -> None:
            late.set()
            with suppress(RuntimeTrouble):  # whoever waits hears of it too
                sandbox.remove()

        timer = threading.Timer(patience, end)
        timer.start()
        try:
            ended = sandbox.wait()
        finally:
            timer.cancel()
        said = last_words(sandbox.stderr())
        if late.is_set():
            return Trial(said=said, exit=ended, in_time=False, warnings=sandbox.warnings)
        found = self._observer.inspect(name)
        return Trial(
            said=said,
            exit=ended,
            in_time=True,
            seconds=seconds_of_life(found["State"]),
            memory=found["HostConfig"]["Memory"],
            memory_and_swap=found["HostConfig"]["MemorySwap"],
            log_bytes=self._observer.log_bytes(name),
            warnings=sandbox.warnings,
        )

    def _spin(self, sandbox: DockerSandbox, name: str) -> Trial:
        """Watch a probe that computes for ever, for a while."""
        share: Share | None = None
        found = self._observer.inspect(name)
        together = self._group.held(found["Id"])
        before = self._observer.usage(name)
        for _ in range(_SHARE_ROUNDS):
            time.sleep(_SHARE_SECONDS)
            with suppress(ValueError):  # it has ended
                share = share_between(before, self._observer.usage(name))
            if share is not None and (share.throttled or share.cores > self._limits.cpus):
                break  # seen enough
        sandbox.remove()
        return Trial(
            said=None,
            exit=sandbox.wait(),
            in_time=True,
            cpus=found["HostConfig"]["NanoCpus"] / _NANO,
            share=share,
            together=together,
            warnings=sandbox.warnings,
        )

    @contextmanager
    def _folder(self, task: str) -> Iterator[Path]:
        """Give a socket's folder as a match has it, with the task in it and another slot's socket beside."""
        slot = _SLOT + TASKS.index(task)
        mine, others = self._owned(slot), self._owned(slot + len(TASKS))
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=self._run_dir))
        try:
            folder.chmod(0o711)
            (folder / "task").write_text(json.dumps({"name": task, "limits": self._bounds()}))
            with _listening(folder / SOCKET_NAME, mine), _listening(folder / "other.sock", others):
                if os.geteuid() != 0:
                    (folder / "other.sock").unlink()  # without root nothing but the mount parts the bots
                yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _bounds(self) -> dict[str, int]:
        """Return what should be possible at most, in the probe's words."""
        mebibyte = 1024 * 1024
        asked = asdict(self._limits)
        return {
            "memory_bytes": asked["memory_mib"] * mebibyte,
            "tmp_bytes": asked["tmp_mib"] * mebibyte,
            "file_bytes": asked["tmp_mib"] * mebibyte,
            "tmp_files": TMP_FILES,
            "open_files": OPEN_FILES,
            "processes": asked["pids"],
        }


def _is_recent(name: str) -> bool:
    """Tell by a container's name whether its canary may still be at work."""
    return time.time() - int(name.split("-")[2]) < _STALE_SECONDS


@contextmanager
def _listening(path: Path, owner: tuple[int, int]) -> Iterator[None]:
    with socket.socket(socket.AF_UNIX) as server:
        try:
            server.bind(str(path))
        except OSError as error:
            raise RuntimeTrouble(f"the socket {path}: {error}; choose another ARENA_RUN_DIR") from error
        server.listen()
        path.chmod(0o600)
        os.lchown(path, *owner)
        yield
