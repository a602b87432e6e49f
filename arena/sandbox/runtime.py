"""The seam between the arena and whatever runs a bot."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from arena.match import Limits

REFEREE_VARIABLE: Final = "ARENA_REFEREE"
"""Name of the environment variable that tells a bot where its referee listens."""

SOCKET_NAME: Final = "referee.sock"
"""Name of the referee's socket inside a seat's socket directory."""


INSTALL_LABEL: Final = "kaiten.install"
MATCH_LABEL: Final = "kaiten.match"
ATTEMPT_LABEL: Final = "kaiten.attempt"
SEAT_LABEL: Final = "kaiten.seat"


def nobody(_name: str) -> bool:
    """Spare no sandbox."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSpec:
    """One bot to be run for one seat of one match.

    Attributes:
        name: Unique on this host, such as ``arena-<install>-<match>-<attempt>-<seat>``.
        source: The id of a Docker image (``sha256:…``), or the folder of a bot.
        socket_dir: Directory that holds this seat's socket and nothing else.
        slot: From 0; no two sandboxes that run at a time share one. Decides the uid.
        limits: What the sandbox may use.
        deadline_seconds: After this long it ends by itself, whatever became of the arena.
        labels: Whose it is, under the names above; ``sweep`` finds it by ``kaiten.install``.
    """

    name: str
    source: str
    socket_dir: Path
    slot: int
    limits: Limits
    deadline_seconds: int
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Exit:
    """How a sandbox ended.

    Attributes:
        code: As a shell would give it: 128 + the signal's number for a bot ended by a signal;
            None where nobody knows.
        out_of_memory: Whether the kernel ended a process of it for memory.
    """

    code: int | None
    out_of_memory: bool = False


class Sandbox(Protocol):
    """A bot that was started. Every method may be called from any thread."""

    @property
    def limits(self) -> tuple[str, ...]:
        """What holds it, in words, one each, such as ``memory 256 MiB``."""

    def wait(self) -> Exit:
        """Return how it ended, after it has.

        Raises:
            RuntimeTrouble: The runtime lost track of it.
        """

    def remove(self) -> None:
        """End it and leave nothing of it behind. Does nothing where that is done.

        Raises:
            RuntimeTrouble: Something may be left; call again, or let ``sweep`` find it.
        """

    def stderr(self) -> str:
        """Return the head and the tail of what it printed there so far, at most 64 KiB."""


class Runtime(Protocol):
    """Runs bots. Every method may be called from any thread."""

    @property
    def describe(self) -> str:
        """What isolates the bots, such as ``docker/runc``."""

    def trouble(self) -> str | None:
        """Return why no bot at all can be run now, or None where that is not known of any."""

    def check_source(self, source: str) -> None:
        """Make sure that there is something to run.

        Raises:
            LaunchRefused: There isn't.
            RuntimeTrouble: Nobody could tell.
        """

    def launch(self, spec: SandboxSpec) -> Sandbox:
        """Start a bot. Where this raises, nothing is left behind.

        Raises:
            LaunchRefused: The bot's fault; the text is for its owner.
            RuntimeTrouble: The arena's fault.
        """

    def sweep(self, install: str, spare: Callable[[str], bool] = nobody) -> int:
        """Remove what an installation has left behind, and return how many sandboxes that were.

        Args:
            install: Whose.
            spare: Tells of a sandbox's name whether somebody still looks after it. It is asked after
                the sandboxes have been listed, so what is started meanwhile is safe.

        Raises:
            RuntimeTrouble: Something may be left.
        """

    def close(self) -> None:
        """Give back connections. Sandboxes are not touched."""
