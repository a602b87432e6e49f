"""The interface between the arena and the runtimes that run bots."""

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from arena.platform.cpu_time import CpuFiles
from arena.protocol.match import Limits
from arena.protocol.sandbox_controls import HostReport

SOCKET_NAME: Final = "referee.sock"
"""Name of the referee's socket in a seat's socket folder."""

FIRST_UID: Final = 64_000
"""The uid of slot 0. Slot k has ``FIRST_UID + k``."""

OPEN_FILES: Final = 256
"""Maximum number of open files per process."""

TMP_FILES: Final = 1024
"""Maximum number of files in a bot's /tmp."""

DISK_READ_BYTES_PER_SECOND: Final = 32 * 1024 * 1024
"""Limit on a bot's disk reads. With this limit, five seats together stay below the rate of a slow disk. The
limit adds two to three seconds to starting a bot from a cold page cache."""

INSTALL_LABEL: Final = "kaiten.install"
MATCH_LABEL: Final = "kaiten.match"
ATTEMPT_LABEL: Final = "kaiten.attempt"
SEAT_LABEL: Final = "kaiten.seat"


def slot_owner(slot: int, uid: int, gid: int) -> tuple[int, int]:
    """Return the uid and gid of a slot's bot. They must also own the bot's socket.

    ``uid`` and ``gid`` are the arena's. Only root can change a socket's owner, so if the arena runs as
    another user, bots run as that user too.
    """
    if uid != 0:
        return uid, gid
    return FIRST_UID + slot, FIRST_UID + slot


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSpec:
    """A bot to run in a seat of a match."""

    name: str  # unique on this host, such as `arena-<install>-<match>-<attempt>-<seat>`
    source: str  # a Docker image's id (`sha256:…`), or a bot's folder
    socket_dir: Path  # folder that contains only this seat's socket
    slot: int  # from 0; unique among running sandboxes; determines the uid
    limits: Limits
    deadline_seconds: int  # maximum lifetime, enforced even if the arena has exited
    labels: Mapping[str, str]  # with the keys above; `sweep` finds the sandbox by `kaiten.install`
    low_priority: bool = False  # whether the bot gets only the CPU time that other bots don't use


@dataclass(frozen=True, slots=True)
class Exit:
    """How a bot ended."""

    code: int | None  # as in a shell: 128 + N for a bot killed by signal N; None if unknown
    out_of_memory: bool = False  # whether the kernel killed one of its processes because memory ran out


class Sandbox(Protocol):
    """A bot that has been started. Thread-safe."""

    @property
    def limits(self) -> tuple[str, ...]:
        """Limits in words, one per entry, such as ``memory 256 MiB``."""

    @property
    def cpu(self) -> CpuFiles:
        """The files with the CPU time and the waiting times of the bot's threads."""

    def wait(self) -> Exit:
        """Wait until the bot ends, and return how it ended.

        Raises RuntimeFailure if the runtime lost track of the bot, or something outside the sandbox ended it.
        """

    def check_untouched(self) -> None:
        """Check, before ``remove``, that nothing outside the sandbox stopped or ended the bot.

        Raises RuntimeFailure if something did, or if that is unknown.
        """

    def remove(self) -> None:
        """End the bot, and remove everything that belongs to the sandbox. Idempotent.

        Raises RuntimeFailure if something may be left behind; in that case, call this again, or rely on
        ``sweep``.
        """

    def stderr(self) -> str:
        """Return the head and the tail of the bot's stderr so far, at most 64 KiB."""


class BotsGroup(Protocol):
    """The shared limits of an installation's bots on this host."""

    @property
    def exists(self) -> bool:
        """True if the group exists."""

    def apply(self) -> None:
        """Create the group with its limits, before any bot starts."""

    def remove(self) -> None:
        """Remove the group and kill leftover processes in it. Call this only while no bots are running."""


class CanaryParts(NamedTuple):
    """The id of the canary's image, and a folder for its sockets that only this user can write to."""

    image: str
    run_dir: Path


class Runtime(Protocol):
    """Runs bots. Thread-safe."""

    @property
    def describe(self) -> str:
        """Name of the runtime, such as ``docker/runc``."""

    @property
    def isolates(self) -> bool:
        """True if this runtime isolates bots from the host, so that it may run submitted images."""

    def common_group(self, limits: Limits, slots: int) -> BotsGroup:
        """Return the group that all bots share, sized for ``slots`` bots with these limits."""

    def examine(
        self, canary: Callable[[], CanaryParts], limits: Limits, slots: int, now: Callable[[], datetime]
    ) -> HostReport:
        """Check which controls this host has.

        ``slots`` is as for :meth:`common_group`; the report doesn't contain it. ``now`` returns the time in
        UTC. A call to ``canary`` may take minutes. Raises RuntimeFailure if the checks can't be made.
        """

    def unavailable_reason(self) -> str | None:
        """Return why bots can't be run now, or None if no reason is known."""

    def is_missing(self, source: str) -> bool:
        """Return True if a source doesn't exist on this host or in the image store.

        Raises RuntimeFailure if that can't be determined.
        """

    def has_source(self, source: str) -> bool:
        """Return True if the source is valid for this runtime. Doesn't query an engine."""

    def check_source(self, source: str) -> None:
        """Check that a source can be run.

        Raises LaunchRefused if the bot is at fault, or RuntimeFailure if the arena is.
        """

    def launch(self, spec: SandboxSpec) -> Sandbox:
        """Start a bot.

        Raises LaunchRefused if the bot is at fault (the message is for its owner), or RuntimeFailure if the
        arena is. In both cases, it removes what it has created, if it can; ``sweep`` removes the rest.
        """

    def sweep(self, install: str, is_in_use: Callable[[str], bool] = lambda _: False) -> int:
        """Remove an installation's leftover sandboxes, and return how many there were.

        ``is_in_use`` is called with a sandbox's name, after the sandboxes have been listed, so a sandbox that
        starts during the sweep is safe. Raises SandboxesLeft if some may be left, or another RuntimeFailure.
        """

    def prune_images(self) -> None:
        """Remove the engine's copies of images that are no longer stored.

        Raises RuntimeFailure if some may be left.
        """

    def close(self) -> None:
        """Close connections. Sandboxes keep running."""


class LaunchRefused(Exception):
    """The bot can't be started, for example because of its entry point. The message is for its owner."""


class RuntimeFailure(Exception):
    """The arena, not a bot, failed: for example, an image is missing. The message is for the operator."""


class EngineUnavailable(RuntimeFailure):
    """The engine is not responding."""


class SandboxesLeft(RuntimeFailure):
    """A sweep could not remove the sandboxes with these names."""

    def __init__(self, message: str, names: frozenset[str]) -> None:
        super().__init__(message)
        self.names = names


CAPTURE_LIMIT: Final = 64 * 1024
"""Maximum number of bytes of a bot's stderr to store, including the line that marks a gap."""

_GAP_NOTE_BYTES: Final = 64
_HEAD: Final = 16 * 1024
_TAIL: Final = CAPTURE_LIMIT - _HEAD - _GAP_NOTE_BYTES


class Capture:
    """The first 16 KiB of a bot's output and the end of the rest, 64 KiB in all.

    The first lines show how a bot started; the last ones show how it ended. Only one thread may call
    :meth:`feed`; any thread may call :meth:`text`.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def feed(self, data: bytes) -> None:
        """Add bytes."""
        with self._lock:
            room = _HEAD - len(self._head)
            self._head += data[:room]
            self._tail += data[room:]
            surplus = len(self._tail) - _TAIL
            if surplus > 0:
                del self._tail[:surplus]
                self._dropped += surplus

    def text(self) -> str:
        """Return the head and the tail, with a line between them if bytes are missing.

        Bytes that aren't UTF-8 become U+FFFD.
        """
        with self._lock:
            gap = f"\n[... {self._dropped} bytes left out ...]\n".encode() if self._dropped else b""
            kept = bytes(self._head) + gap + bytes(self._tail)
        return kept.decode("utf-8", errors="replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptImage:
    """A stored image that can be loaded into an engine."""

    config: bytes  # the image's configuration, whose digest is the image's id
    # Yields the image in chunks, in the format of `docker save` and under the given name. May raise
    # RuntimeFailure at any chunk; in that case, the image is incomplete.
    archive: Callable[[str], Iterator[bytes]]


class ImageSource(Protocol):
    """Provides stored images by their ids. Thread-safe. Every method may raise RuntimeFailure."""

    @property
    def repository(self) -> str:
        """The repository in the engine that contains only these images, such as ``kaiten/submitted-1a2b``."""

    def find(self, id_: str) -> KeptImage | None:
        """Return an image and record that it is in use now; return None if it isn't stored."""

    def ids(self) -> Collection[str]:
        """Return the ids of all stored images."""

    def unavailable_reason(self) -> str | None:
        """Return why images can't be loaded, or None."""
