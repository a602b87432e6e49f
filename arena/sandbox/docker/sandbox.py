"""One bot's container."""

import contextlib
import threading
import time
from collections.abc import Callable
from socket import SocketIO
from typing import Any, Final

import docker
from docker.errors import APIError, NotFound
from docker.utils.socket import frames_iter

from arena.platform.cpu_time import CpuFiles
from arena.sandbox.docker.engine import (
    engine_errors,
    is_being_removed,
    launch_errors,
    requests_to_engine,
)
from arena.sandbox.kernel.cgroups import CgroupLocation, end_container, lift_quota
from arena.sandbox.kernel.log import kernel_log, ran_out_of_memory_outside, reached_its_limit
from arena.sandbox.runtime import Capture, EngineUnavailable, Exit, RuntimeFailure

_WAIT_SECONDS: Final = 30
"""Seconds to wait for a container to end before checking that the engine still responds."""

_KILLED: Final = 137
"""Exit code after SIGKILL, which the kernel (out of memory), the arena or the bot itself may send."""

_OOM_SECONDS: Final = 1.0
"""Time that the engine may take to notice that a bot ran out of memory."""

_REMOVAL_SECONDS: Final = 10.0
"""Maximum wait for a removal that another request has started."""

_STDERR_SECONDS: Final = 2.0
"""Maximum wait for the rest of an ended container's stderr."""


class DockerSandbox:
    """A bot's container; see :class:`arena.sandbox.runtime.Sandbox`.

    ``overruns`` returns how often all bots together have run out of memory under their common limit.
    """

    def __init__(  # noqa: PLR0913 - the properties of a container
        self,
        client: docker.APIClient,
        location: CgroupLocation,
        container: str,
        name: str,
        *,
        limits: tuple[str, ...],
        cpu: CpuFiles,
        warnings: tuple[str, ...],
        overruns: Callable[[], int],
    ) -> None:
        self._client = client
        self._location = location
        self._container = container
        self._name = name
        self.limits = limits
        self.cpu = cpu
        self.warnings = warnings  # the engine's warnings when it created the container
        self._overruns = overruns
        self._overruns_before = overruns()
        self._capture = Capture()
        self._reader: threading.Thread | None = None
        self._lock = threading.Lock()
        self._removed = False
        self._exit: Exit | None = None

    def start(self) -> None:
        """Start the container, and capture all of its stderr. Raises LaunchRefused or RuntimeFailure."""
        with launch_errors(f"start container {self._name}"):
            stream: SocketIO = self._client.attach_socket(self._container, params={"stderr": 1, "stream": 1})
            self._reader = threading.Thread(target=self._read, args=(stream,), name="bot-stderr", daemon=True)
            self._reader.start()
            self._client.start(self._container)

    def _read(self, stream: SocketIO) -> None:
        """Read stderr until the container ends or is removed."""
        # Closing only the stream would leave its connection to the garbage collector.
        response = stream._response  # type: ignore[attr-defined] # noqa: SLF001 - docker-py has no public access to it
        with contextlib.closing(response), contextlib.suppress(OSError):
            frames = frames_iter(stream, tty=False)  # type: ignore[no-untyped-call] # not in docker-py's stubs
            for _, data in frames:
                self._capture.feed(data)

    def _await_stderr(self) -> None:
        if self._reader is not None:
            self._reader.join(_STDERR_SECONDS)

    def wait(self) -> Exit:
        """Wait for the container to end, and return how it ended; ``code`` may be None after :meth:`remove`.

        Raises RuntimeFailure if the engine lost track of the container, if another program stopped, ended or
        removed it, or if it was killed because the host or all bots together ran out of memory.
        """
        with engine_errors(f"wait for container {self._name}"):
            ended = self._await_end()
        self._await_stderr()
        with self._lock:
            self._exit = self._exit or ended
            return self._exit

    def _await_end(self) -> Exit:
        code: int | None = None
        try:
            while code is None:
                code = self._wait_once()
            with self._lock:  # held during a removal
                removed = self._removed
            if not removed:
                # Check now: by the end of the match, entries about other bots may have displaced those about
                # this bot in the engine's and the kernel's logs.
                self._check_cause(code)
            return Exit(code, out_of_memory=self._ran_out_of_memory(code))
        except NotFound as error:
            with self._lock:  # held during a removal
                if self._removed:
                    return Exit(code)
            raise RuntimeFailure(
                f"container {self._name} was removed, but not by the arena: find out what else "
                "uses the engine"
            ) from error

    def _check_cause(self, code: int) -> None:
        # The engine reports that memory ran out only if a bot reached its own limit.
        if code == _KILLED and self._overruns() > self._overruns_before:
            raise RuntimeFailure(
                f"container {self._name} was killed because all bots together reached the memory limit of "
                "their control group: check what else is running in that group"
            )
        self._check_untouched()

    def _ran_out_of_memory(self, code: int) -> bool:
        """Return True if the engine or the kernel reports that memory ran out.

        A busy engine may report this late.
        """
        deadline = time.monotonic() + _OOM_SECONDS
        while True:
            state: dict[str, Any] = self._client.inspect_container(self._container)["State"]
            if state["OOMKilled"]:
                return True
            if code != _KILLED:
                return False
            if time.monotonic() > deadline:
                return reached_its_limit(kernel_log(), self._container)
            time.sleep(_OOM_SECONDS / 20)

    def _wait_once(self) -> int | None:
        """Return the exit code, or None if the container is still running. Raises if the engine hangs."""
        try:
            return self._client.wait(self._container, timeout=_WAIT_SECONDS)["StatusCode"]
        except APIError:
            raise
        except OSError:
            self._client.inspect_container(self._container)
            return None

    def check_untouched(self) -> None:
        """Check that nothing outside the container stopped or ended it.

        Raises RuntimeFailure if another program asked the engine to do so, if the engine can't tell, or if
        the kernel killed one of the container's processes because memory ran out outside the container.
        """
        with engine_errors(f"find out what ended container {self._name}"):
            self._check_untouched()

    def _check_untouched(self) -> None:
        # The engine answers only after completing any request in progress. By then, it has logged all
        # requests made before `until`.
        state: dict[str, Any] = self._client.inspect_container(self._container)["State"]
        actions = requests_to_engine(self._client, self._container, until=time.time())
        if state["Paused"]:  # shown even if the engine has forgotten the event
            actions += ("pause",)
        if actions:
            raise RuntimeFailure(
                f"another program asked the engine to {' and '.join(dict.fromkeys(actions))} "
                f"container {self._name}: find out what else uses the engine"
            )
        # Check this whatever the exit code is: the kernel may have killed a child of the bot.
        if ran_out_of_memory_outside(kernel_log(), self._container):
            raise RuntimeFailure(
                f"a process in container {self._name} was killed because memory ran out outside the "
                "container: check what else is running on the host"
            )

    def remove(self) -> None:
        """Remove the container and its volumes."""
        with self._lock:
            if self._removed:
                return
            remove_bot(self._client, self._location, self._container, self._name)
            self._removed = True
        self._await_stderr()

    def stderr(self) -> str:
        """Return the head and the tail of the container's stderr so far."""
        return self._capture.text()


def remove_bot(client: docker.APIClient, location: CgroupLocation, container: str, name: str) -> None:
    """Remove a bot's container, whatever the bot does to prevent it.

    Raises RuntimeFailure if it may still exist.
    """
    lift_quota(location, container)
    try:
        remove_container(client, container, name)
    except EngineUnavailable:
        raise
    except RuntimeFailure:
        # The container's first process may be waiting for another process that the engine doesn't kill.
        end_container(location, container)
        remove_container(client, container, name)


def remove_container(client: docker.APIClient, container: str, name: str) -> None:
    """Remove a container in any state, if it exists. Raises RuntimeFailure if it may still exist."""
    with engine_errors(f"remove container {name}"):
        try:
            client.remove_container(container, v=True, force=True)
        except NotFound:
            return
        except APIError as error:
            if not is_being_removed(error):
                raise
            _await_removal(client, container, name)


def _await_removal(client: docker.APIClient, container: str, name: str) -> None:
    """Wait until a container is gone. Raises RuntimeFailure if it still exists after ``_REMOVAL_SECONDS``."""
    deadline = time.monotonic() + _REMOVAL_SECONDS
    while time.monotonic() < deadline:
        try:
            client.inspect_container(container)
        except NotFound:
            return
        time.sleep(_REMOVAL_SECONDS / 100)
    raise RuntimeFailure(f"container {name} is still being removed")
