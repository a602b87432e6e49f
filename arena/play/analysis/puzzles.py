"""Chooses decisions that make good puzzles: the best move is clear, and most bots missed it."""

from typing import Final

from arena.protocol.analysis import AnalysedDecision, Analysis

CLEAR: Final = 0.05
"""Minimum lead of the best move's chance over every other."""
_FEWEST_OPTIONS: Final = 3
_FEWEST_BOTS: Final = 3


def puzzle_in(analysis: Analysis) -> AnalysedDecision | None:
    """Return the decision of a game that makes the best puzzle, or None."""
    found = [each for each in analysis.decisions if _is_puzzle(each)]
    return max(found, key=merit, default=None)


def merit(made: AnalysedDecision) -> float:
    """Return a puzzle's quality, 0 to 1: the best move's lead times the share of bots that missed it."""
    missed = sum(choice != 0 for choice in made.house.values())
    return _lead(made) * missed / len(made.house)


def _is_puzzle(made: AnalysedDecision) -> bool:
    one_card = all(len(option.cards) == 1 and option.dummy is None for option in made.options)
    if not one_card or made.standin or not made.played or len(made.options) < _FEWEST_OPTIONS:
        return False
    missed = sum(choice != 0 for choice in made.house.values())
    most = len(made.house) >= _FEWEST_BOTS and 2 * missed > len(made.house)
    return most and _lead(made) >= max(CLEAR, made.margin)


def _lead(made: AnalysedDecision) -> float:
    best, second, *_ = made.options
    return best.chance - second.chance
