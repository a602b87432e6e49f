"""The analysis of a recorded game: each seat's chance of winning, and the cost of each decision.

Chances are expected shares of first place, from 0 to 1; two seats that share first place get half each.
Points are final points, puddings included.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

ANALYSIS_FORMAT: Final = "kaiten-analysis/1"


MIN_PLAYOUTS: Final = 8
"""Minimum number of playouts per position and option."""


class Grade(StrEnum):
    """Grade of a decision. docs/analysis.md has the thresholds."""

    BEST = "best"
    GOOD = "good"
    INACCURACY = "inaccuracy"
    BLUNDER = "blunder"


COSTLY: Final = frozenset({Grade.INACCURACY, Grade.BLUNDER})


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """A seat's expected result.

    Attributes:
        chance: Expected share of first place.
        points: Expected final points.
    """

    chance: float
    points: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysedTurn:
    """The outlook before a turn's decisions, one entry per seat.

    Attributes:
        round: Round number, from 1.
        turn: Turn number in its round, from 1.
        known: Outlook given what each seat could know, so the chances needn't add up to 1.
        dealt: Outlook given all hands in the round.
    """

    round: int
    turn: int
    known: tuple[Outlook, ...]
    dealt: tuple[Outlook, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A legal move, and the seat's expected result given what it could know.

    Attributes:
        cards: Names of card kinds, in the order in which they are placed.
        dummy: The dummy's card if the seat controls the dummy; otherwise null.
        chance: Expected share of first place.
        points: Expected final points.
    """

    cards: tuple[str, ...]
    dummy: str | None
    chance: float
    points: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysedDecision:
    """One seat's decision.

    Attributes:
        round: Round number, from 1.
        turn: Turn number in its round, from 1.
        seat: Seat number, from 0.
        standin: Whether the stand-in chose instead of the bot.
        options: Legal moves, best first. If the order of two cards can't matter, only one order is listed.
        played: Index in the options of the move played.
        house: Index of each house bot's move in the options, keyed by bot name.
        lost_chance: Chance lost by not playing the first option.
        lost_points: Points lost by not playing the first option; below 0 if the move played scores more
            points but wins less often.
        margin: Two standard errors of the lost chance.
        grade: Grade of the decision.
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
    """A summary of one seat's decisions.

    Attributes:
        grades: Number of decisions with each grade.
        accuracy: Share of the chance at stake that the seat kept: 1 if it always played the best move, 0 if
            always the worst; null if nothing was at stake.
        lost_chance: Sum over all decisions.
        lost_points: Sum over all decisions.
        swing: Largest change in its chance between consecutive turns; below 0 if the chance fell.
        swing_turn: Index, in the analysis's turns, of the turn before that change.
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
        analyst: The analyst's name.
        version: The analyst's version.
        playouts: Playouts per position and option.
        seed: Seed for the analyst's random numbers.
        game: The game's id.
        turns: Turns with a decision, in order.
        result: Each seat's share of first place, without regard to take-overs.
        decisions: All decisions, ordered by turn, then by seat.
        seats: A summary of each seat.
        turning_points: Indices, in order, of the turns that mattered most.
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
