"""Grades decisions, summarises seats and games, and finds decisions that make good puzzles."""

from collections.abc import Sequence
from typing import Final

from arena.protocol.analysis import AnalysedDecision, AnalysedTurn, Analysis, Grade, Outlook, SeatSummary

INACCURACY: Final = 0.03
"""Minimum loss of chance that makes a decision an inaccuracy."""
BLUNDER: Final = 0.08
"""Minimum loss of chance that makes a decision a blunder."""
TURNING: Final = 0.1
"""Minimum change in a seat's chance at a turning point."""
TURNING_POINTS: Final = 3
"""Maximum number of turning points."""
_DIGITS: Final = 4


def grade(lost: float, margin: float) -> Grade:
    """Grade a decision by the chance it lost. Losses below the margin are not significant."""
    if lost <= 0:
        return Grade.BEST
    if lost < max(INACCURACY, margin):
        return Grade.GOOD
    return Grade.INACCURACY if lost < BLUNDER else Grade.BLUNDER


def summaries(
    turns: Sequence[AnalysedTurn], result: Sequence[float], decisions: Sequence[AnalysedDecision]
) -> tuple[SeatSummary, ...]:
    """Return a summary of each seat."""
    changes = _changes(turns, result)
    return tuple(
        _summary([change[seat] for change in changes], [each for each in decisions if each.seat == seat])
        for seat in range(len(result))
    )


def _summary(changes: Sequence[float], own: Sequence[AnalysedDecision]) -> SeatSummary:
    lost = sum(each.lost_chance for each in own)
    at_stake = sum(each.options[0].chance - min(option.chance for option in each.options) for each in own)
    turn = max(range(len(changes)), key=lambda number: abs(changes[number]))
    return SeatSummary(
        grades={grade: sum(each.grade is grade for each in own) for grade in Grade},
        accuracy=round(1 - lost / at_stake, _DIGITS) if at_stake else None,
        lost_chance=round(lost, _DIGITS),
        lost_points=round(sum(each.lost_points for each in own), _DIGITS),
        swing=round(changes[turn], _DIGITS),
        swing_turn=turn,
    )


def turning_points(turns: Sequence[AnalysedTurn], result: Sequence[float]) -> tuple[int, ...]:
    """Return the indices of the turns in which a seat's chance changed most, in order of play."""
    sizes = [max(map(abs, change)) for change in _changes(turns, result)]
    largest = sorted(range(len(sizes)), key=lambda number: -sizes[number])[:TURNING_POINTS]
    return tuple(sorted(number for number in largest if sizes[number] >= TURNING))


def _changes(turns: Sequence[AnalysedTurn], result: Sequence[float]) -> list[list[float]]:
    """Return how each turn changed each seat's chance, given what the seat could know: ``[turn][seat]``."""
    chances = [*(_chances(turn.known) for turn in turns), list(result)]
    return [
        [after - before for before, after in zip(chances[number], chances[number + 1], strict=True)]
        for number in range(len(turns))
    ]


def _chances(outlooks: Sequence[Outlook]) -> list[float]:
    return [outlook.chance for outlook in outlooks]


CLEAR: Final = 0.05
"""Minimum difference in chance between the best two moves of a puzzle."""
_MIN_OPTIONS: Final = 3
_MIN_BOTS: Final = 3


def puzzle_in(analysis: Analysis) -> AnalysedDecision | None:
    """Return the decision that makes a game's best puzzle, or None if the game has no puzzles."""
    found = [each for each in analysis.decisions if _is_puzzle(each)]
    return max(found, key=merit, default=None)


def merit(decision: AnalysedDecision) -> float:
    """Return a puzzle's quality, from 0 to 1.

    It is the best move's lead, multiplied by the share of house bots that missed that move.
    """
    missed = sum(choice != 0 for choice in decision.house.values())
    return _lead(decision) * missed / len(decision.house)


def _is_puzzle(decision: AnalysedDecision) -> bool:
    one_card = all(len(option.cards) == 1 and option.dummy is None for option in decision.options)
    if not one_card or decision.standin or not decision.played or len(decision.options) < _MIN_OPTIONS:
        return False
    missed = sum(choice != 0 for choice in decision.house.values())
    mostly_missed = len(decision.house) >= _MIN_BOTS and 2 * missed > len(decision.house)
    return mostly_missed and _lead(decision) >= max(CLEAR, decision.margin)


def _lead(decision: AnalysedDecision) -> float:
    best, second, *_ = decision.options
    return best.chance - second.chance
