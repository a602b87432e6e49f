"""What an analyst says about a recorded game: who was winning, and what each decision cost.

Chances are expected shares of first place, from 0 to 1: two seats that share it have half each. Points are
those at the end of the game, puddings included.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

ANALYSIS_FORMAT: Final = "kaiten-analysis/1"


FEWEST_PLAYOUTS: Final = 8
"""For each position and each option."""


class Grade(StrEnum):
    """How good a decision was; docs/analysis.md has the limits."""

    BEST = "best"
    GOOD = "good"
    INACCURACY = "inaccuracy"
    BLUNDER = "blunder"


COSTLY: Final = frozenset({Grade.INACCURACY, Grade.BLUNDER})


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What a seat may expect at the end of the game.

    Attributes:
        chance: Expected share of first place.
        points: Expected points.
    """

    chance: float
    points: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysedTurn:
    """A turn before anybody chose; lists have one entry per seat.

    Attributes:
        round: From 1.
        turn: In its round, from 1.
        known: Each from what its own seat could know, so the chances needn't add up to 1.
        dealt: From all hands of the round.
    """

    round: int
    turn: int
    known: tuple[Outlook, ...]
    dealt: tuple[Outlook, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A legal move, and what the seat may expect from it by what it could know.

    Attributes:
        cards: Names of kinds in the order of placing.
        dummy: The dummy's card, in control of it, or null.
        chance: Expected share of first place.
        points: Expected points at the end.
    """

    cards: tuple[str, ...]
    dummy: str | None
    chance: float
    points: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysedDecision:
    """A decision of one seat.

    Attributes:
        round: From 1.
        turn: In its round, from 1.
        seat: From 0.
        standin: Whether the stand-in chose instead of the bot.
        options: The best first; where the order of two cards can't matter, only one order.
        played: Index into the options.
        house: Indices likewise, of what house bots would have played, by the bot's name.
        lost_chance: By not playing the first option.
        lost_points: Likewise; below 0 if the played move brings more points but wins less often.
        margin: Two standard errors of the lost chance.
        grade: How good it was.
    """

    round: int
    turn: int
    seat: int
    standin: bool
    options: tuple[Option, ...]
    played: int
    house: dict[str, int] = field(default_factory=dict)
    lost_chance: float
    lost_points: float
    margin: float
    grade: Grade


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatSummary:
    """All decisions of one seat.

    Attributes:
        grades: How many decisions of each grade.
        accuracy: The share of what was at stake that the seat kept: 1 if it always played the best move, 0
            if always the worst; null if nothing was at stake.
        lost_chance: Of all decisions together.
        lost_points: Of all decisions together.
        swing: The largest change of its chance from a turn to the next, with its sign.
        swing_turn: The turn before that change: an index into the analysis's turns.
    """

    grades: dict[Grade, int]
    accuracy: float | None
    lost_chance: float
    lost_points: float
    swing: float
    swing_turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """An analysed game. The same game, analyst, version, playouts and seed give the same numbers.

    Attributes:
        format: `kaiten-analysis/1`.
        analyst: Name.
        version: The analyst's.
        playouts: For each position and each option.
        seed: Of the analyst's dice.
        game: Id.
        turns: Those with a decision, in order.
        result: Each seat's share of first place by points.
        decisions: Turn by turn, and in a turn seat by seat.
        seats: A summary of each seat.
        turning_points: Indices into the turns, in order: what happened in them mattered most.
    """

    format: str
    analyst: str
    version: int
    playouts: int
    seed: int
    game: str
    turns: tuple[AnalysedTurn, ...]
    result: tuple[float, ...]
    decisions: tuple[AnalysedDecision, ...]
    seats: tuple[SeatSummary, ...]
    turning_points: tuple[int, ...]
