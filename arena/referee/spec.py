"""What the launcher tells the referee process, and what it hears back: JSON lines.

The launcher's first line is a :class:`RefereeSpec`; then come
:class:`Started` and :class:`Ended`, one a seat each at most. The referee says
:class:`Listening` once every socket is bound, :class:`RoundsOver` now and
then, and :class:`Finished` at the end. Anything else on its output, or no
:class:`Finished`, is a fault of the arena.
"""

import msgspec

from arena.match import Clock, Decision, GameRecord
from arena.rules import Rules


class RefereeSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One match as the referee sees it: no names, no images.

    Attributes:
        rules: What is played.
        seeds: One a game, 32 hexadecimal digits each.
        clock: The time limits.
        sockets: Where to listen, one path a seat.
        folder: Its own, which no bot can reach: for the sockets behind those.
        uid: Whom to become once the sockets are bound, or None to stay who it is.
        memory_mib: What the process may use.
    """

    rules: Rules
    seeds: tuple[str, ...]
    clock: Clock
    sockets: tuple[str, ...]
    folder: str
    uid: int | None
    memory_mib: int


class Started(msgspec.Struct, frozen=True, tag="started"):
    """A seat's sandbox has been started: its time to greet runs."""

    seat: int


class Ended(msgspec.Struct, frozen=True, tag="ended"):
    """A seat's sandbox has ended, or could not be started."""

    seat: int
    why: str


class Listening(msgspec.Struct, frozen=True, tag="listening"):
    """Every socket is bound."""


class SeatEnd(msgspec.Struct, frozen=True, kw_only=True):
    """What the referee knows of a seat.

    Attributes:
        sdk: What the bot said of itself in Hello.
        lost: Why its seat was given up, or None.
    """

    sdk: str
    lost: str | None


class RoundsOver(msgspec.Struct, frozen=True, tag="rounds over"):
    """So much of a game may be watched: the decisions of all its rounds that are over, and of no other.

    What is private to the owners of bots is left out of them.
    """

    game: int
    steps: tuple[tuple[Decision | None, ...], ...]


class Finished(msgspec.Struct, frozen=True, tag="finished"):
    """The match is over."""

    games: tuple[GameRecord, ...]
    seats: tuple[SeatEnd, ...]


FromLauncher = Started | Ended
FromReferee = Listening | RoundsOver | Finished
