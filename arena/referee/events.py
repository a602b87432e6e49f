"""What a referee tells a bot. ``game`` is the game's number in its match, from 0."""

from typing import NamedTuple

from arena.match import Clock, Fault
from arena.rules import Result, RoundScore, Rules, Turn, View


class Welcome(NamedTuple):
    """The match begins."""

    games: int
    games_at_once: int


class GameStarted(NamedTuple):
    """A game begins."""

    game: int
    seat: int
    rules: Rules
    clock: Clock


class Ask(NamedTuple):
    """A decision is asked for. ``bank`` is in seconds."""

    game: int
    view: View
    bank: float


class Revealed(NamedTuple):
    """A turn has been revealed."""

    game: int
    turn: Turn


class RoundScored(NamedTuple):
    """A round has been scored; one score a participant."""

    game: int
    round: int
    scores: tuple[RoundScore, ...]


class GameEnded(NamedTuple):
    """A game has ended. ``places`` are those that count: seats that were taken over come last."""

    game: int
    result: Result
    places: tuple[int, ...]


class FaultNoticed(NamedTuple):
    """A decision of this seat was played by the stand-in."""

    game: int
    round: int
    turn: int
    fault: Fault
    text: str
    taken_over: bool


Event = Welcome | GameStarted | Ask | Revealed | RoundScored | GameEnded | FaultNoticed
