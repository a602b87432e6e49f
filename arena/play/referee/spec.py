"""The messages between the launcher and the referee's process, as JSON lines.

The launcher sends a :class:`RefereeSpec` first, then at most one :class:`Started` and one :class:`Ended` per
seat. The referee sends :class:`Listening` once every socket is bound, :class:`RoundsOver` regularly, and
:class:`Finished` at the end. For a person's decision, it sends :class:`PersonAsked` and gets
:class:`PersonAnswered`. Any other output, or no :class:`Finished`, is an arena fault.
"""

import msgspec

from arena.platform.cpu_time import CpuFiles
from arena.protocol.match import Clock, Decision, GameRecord
from arena.rules import Move, Rules, View


class RefereeSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One match for the referee: a MatchSpec without names or images."""

    rules: Rules
    seeds: tuple[str, ...]
    seatings: tuple[tuple[int, ...], ...]
    clock: Clock
    sockets: tuple[str, ...]  # where to listen, one path per bot
    folder: str  # the referee's own folder, for its inner sockets; no bot can reach it
    uid: int | None  # the user to switch to once the sockets are bound; None to keep the current user
    person: int | None = None  # index of the seat that a person takes; a person has no socket and no clock


class Started(msgspec.Struct, frozen=True, tag="started"):
    """A seat's sandbox was started, so the time limit for the bot's Hello now applies."""

    seat: int
    cpu: CpuFiles


class Ended(msgspec.Struct, frozen=True, tag="ended"):
    """A seat's sandbox has ended or couldn't be started."""

    seat: int
    why: str


class PersonAnswered(msgspec.Struct, frozen=True, tag="chosen"):
    """A person's choice, for the decision in this round and turn."""

    round: int
    turn: int
    move: Move


class Listening(msgspec.Struct, frozen=True, tag="listening"):
    """Every socket is bound."""


class SeatEnd(msgspec.Struct, frozen=True, kw_only=True):
    """The referee's report on a seat: ``sdk`` from its Hello, and why the bot was ``lost``, if it was."""

    sdk: str
    lost: str | None


class RoundsOver(msgspec.Struct, frozen=True, tag="rounds over"):
    """The decisions in a game's finished rounds, without the fields that are private to owners."""

    game: int
    steps: tuple[tuple[Decision | None, ...], ...]


class PersonAsked(msgspec.Struct, frozen=True, tag="asked"):
    """A person is asked for a decision."""

    view: View


class Finished(msgspec.Struct, frozen=True, tag="finished"):
    """The match is over."""

    games: tuple[GameRecord, ...]
    seats: tuple[SeatEnd, ...]


FromLauncher = Started | Ended | PersonAnswered
FromReferee = Listening | RoundsOver | PersonAsked | Finished
