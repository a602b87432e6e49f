"""The referee's process, as its launcher sees it."""

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

import msgspec

from arena.launcher.errors import MatchVoid
from arena.referee.spec import FromLauncher, FromReferee, RefereeSpec

_STDERR_BYTES: Final = 4_000

_LINE_BYTES: Final = 256 * 1024 * 1024
"""A referee that was taken over must not fill the launcher's memory. A thousand games have some 20 MiB."""


class RefereeProcess:
    """A running referee. Leaving the context ends it.

    Args:
        spec: Its match.
    """

    def __init__(self, spec: RefereeSpec) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed where the context is left
        self._write_lock = threading.Lock()
        self._over_time = 0.0
        self._process = subprocess.Popen(
            # Isolated mode, its own session, no variables but these: nothing of the launcher's leaks into it.
            [sys.executable, "-I", "-m", "arena.referee"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            cwd="/",
            env={"PATH": os.defpath, "LANG": "C.UTF-8", "GRPC_VERBOSITY": "NONE"},
            start_new_session=True,
        )
        self._send(msgspec.json.encode(spec))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._stderr):
            if stream is not None:
                # What it was told too late goes nowhere.
                with suppress(BrokenPipeError):
                    stream.close()

    def kill(self) -> None:
        """End it at once. May be called from any thread, and twice."""
        self._process.kill()

    def kill_after(self, seconds: float) -> threading.Timer:
        """Let it end after so long; whoever calls cancels that once the match is over."""

        def over() -> None:
            self._over_time = seconds
            self.kill()

        timer = threading.Timer(seconds, over)
        timer.daemon = True
        timer.start()
        return timer

    def tell(self, message: FromLauncher) -> None:
        """Say something to it. Without effect once it has ended."""
        self._send(msgspec.json.encode(message))

    def messages(self) -> Iterator[FromReferee]:
        """Yield what it says, until it ends.

        Raises:
            MatchVoid: It said something that is no message.
        """
        if self._process.stdout is None:
            return
        while line := self._process.stdout.readline(_LINE_BYTES):
            try:
                yield msgspec.json.decode(line, type=FromReferee)
            except msgspec.DecodeError as error:
                raise MatchVoid(f"the referee said {line[:200]!r}: {error}") from error

    def last_words(self) -> str:
        """Return how it ended and the end of what it printed."""
        code = self._process.wait()
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - _STDERR_BYTES))
        printed = self._stderr.read().decode(errors="replace").strip()
        if self._over_time:
            return f"the match was not over after {self._over_time:.0f} s, the most that its clocks allow"
        return f"the referee ended with exit code {code}" + (f": {printed}" if printed else "")

    def _send(self, data: bytes) -> None:
        with self._write_lock:
            if self._process.stdin is None:
                return
            try:
                self._process.stdin.write(data + b"\n")
                self._process.stdin.flush()
            except (BrokenPipeError, ValueError):
                # It has ended; whoever reads its messages finds out.
                return
