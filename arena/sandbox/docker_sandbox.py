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

from arena.sandbox.capture import Capture
from arena.sandbox.docker_engine import engine_errors, is_gone, launch_errors
from arena.sandbox.errors import RuntimeTrouble
from arena.sandbox.runtime import Exit

_PATIENCE_SECONDS: Final = 30
"""How long an end is waited for before the engine is asked whether it still lives."""

_KILLED: Final = 137
"""Exit code of what was ended by SIGKILL: by the kernel for memory, by us, or by itself."""

_OOM_SECONDS: Final = 1.0
"""How long the engine has to hear why."""

_LAST_WORDS_SECONDS: Final = 2.0
"""How long the rest of the stderr of a container that ended is waited for."""


class DockerSandbox:
    """A container that was created. Each method as in :class:`arena.sandbox.runtime.Sandbox`.

    Args:
        client: Of the engine.
        container: The container's id.
        name: For messages.
        limits: What holds it, in words.
        warnings: What the engine said when it was created.
        overruns: Tells how often all bots together have come to their common limit of memory.

    Attributes:
        warnings: The same.
    """

    def __init__(  # noqa: PLR0913 - what there is to know of it
        self,
        client: docker.APIClient,
        container: str,
        name: str,
        *,
        limits: tuple[str, ...],
        warnings: tuple[str, ...],
        overruns: Callable[[], int],
    ) -> None:
        self._client = client
        self._container = container
        self._name = name
        self._limits = limits
        self.warnings = warnings
        self._overruns = overruns
        self._overruns_before = overruns()
        self._stderr = _Stderr()
        self._lock = threading.Lock()
        self._removed = False
        self._exit: Exit | None = None

    @property
    def limits(self) -> tuple[str, ...]:
        """What holds it, in words."""
        return self._limits

    def start(self) -> None:
        """Start it, with an ear on its stderr from the first byte on.

        Raises:
            LaunchRefused: The image can't be started.
            RuntimeTrouble: The engine can't.
        """
        with launch_errors(f"start container {self._name}"):
            self._stderr.attach(self._client, self._container)
            self._client.start(self._container)

    def wait(self) -> Exit:
        """Return how it ended, after it has; ``code`` is None where :meth:`remove` came first.

        Raises:
            RuntimeTrouble: The engine lost track of it; somebody else removed it; or it was ended because all
                bots together ran out of memory. None of that is a bot's fault.
        """
        with engine_errors(f"wait for container {self._name}"):
            ended = self._await_end()
        # The engine hears of memory only where a bot came to its own limit.
        if ended.code == _KILLED and self._overruns() > self._overruns_before:
            raise RuntimeTrouble(
                f"container {self._name} was ended because all bots together ran out of memory: "
                "see what else runs in their control group"
            )
        self._stderr.finish()
        with self._lock:
            self._exit = self._exit or ended
            return self._exit

    def _await_end(self) -> Exit:
        code: int | None = None
        try:
            while code is None:
                code = self._wait_a_while()
            return Exit(code, out_of_memory=self._ran_out_of_memory(code))
        except NotFound as error:
            with self._lock:  # which a removal has as long as it takes
                if self._removed:
                    return Exit(code)
            raise RuntimeTrouble(
                f"container {self._name} is gone, and it was not the arena that removed it: see who else "
                "uses the engine"
            ) from error

    def _ran_out_of_memory(self, code: int) -> bool:
        """Ask the engine; on a busy host it hears of that only after the end."""
        deadline = time.monotonic() + _OOM_SECONDS
        while True:
            state: dict[str, Any] = self._client.inspect_container(self._container)["State"]
            if state["OOMKilled"]:
                return True
            if code != _KILLED or time.monotonic() > deadline:
                return False
            time.sleep(_OOM_SECONDS / 20)

    def _wait_a_while(self) -> int | None:
        """Return the exit code, or None where it runs on; an engine that hangs is found out."""
        try:
            return self._client.wait(self._container, timeout=_PATIENCE_SECONDS)["StatusCode"]
        except APIError:
            raise
        except OSError:
            self._client.inspect_container(self._container)
            return None

    def remove(self) -> None:
        """End it, with its volumes and its log."""
        with self._lock:
            if self._removed:
                return
            remove_container(self._client, self._container, self._name)
            self._removed = True
        self._stderr.finish()

    def stderr(self) -> str:
        """Return the head and the tail of its stderr so far."""
        return self._stderr.text()


def remove_container(client: docker.APIClient, container: str, name: str) -> None:
    """Remove a container in any state; none is fine too.

    Raises:
        RuntimeTrouble: It may be still there.
    """
    with engine_errors(f"remove container {name}"):
        try:
            client.remove_container(container, v=True, force=True)
        except APIError as error:
            if not is_gone(error):
                raise


class _Stderr:
    """Reads a container's stderr in a thread of its own, until the container ends or is removed."""

    def __init__(self) -> None:
        self._capture = Capture()
        self._thread: threading.Thread | None = None

    def attach(self, client: docker.APIClient, container: str) -> None:
        """Begin to listen."""
        stream: SocketIO = client.attach_socket(container, params={"stderr": 1, "stream": 1})
        self._thread = threading.Thread(target=self._read, args=(stream,), name="bot-stderr", daemon=True)
        self._thread.start()

    def _read(self, stream: SocketIO) -> None:
        # Closing the stream alone would leave the connection behind it to the garbage collector.
        response = stream._response  # type: ignore[attr-defined] # noqa: SLF001 - docker-py leaves it there
        with contextlib.closing(response), contextlib.suppress(OSError):
            frames = frames_iter(stream, tty=False)  # type: ignore[no-untyped-call] # not in its stubs
            for _, data in frames:
                self._capture.feed(data)

    def finish(self) -> None:
        """Wait a moment for the last words of a container that ended."""
        if self._thread is not None:
            self._thread.join(_LAST_WORDS_SECONDS)

    def text(self) -> str:
        return self._capture.text()
