"""Grades, summaries and turning points."""

import pytest

from arena.play.analysis.grading import grade, summaries, turning_points
from arena.protocol.analysis import AnalysedDecision, AnalysedTurn, Grade, Option, Outlook


@pytest.mark.parametrize(
    ("lost", "margin", "expected"),
    [
        (0.0, 0.0, Grade.BEST),
        (0.029, 0.0, Grade.GOOD),
        (0.03, 0.0, Grade.INACCURACY),
        (0.05, 0.06, Grade.GOOD),
        (0.079, 0.01, Grade.INACCURACY),
        (0.08, 0.01, Grade.BLUNDER),
        (0.2, 0.3, Grade.GOOD),
    ],
)
def test_a_grade_depends_on_the_lost_chance_beyond_the_margin(
    lost: float, margin: float, expected: Grade
) -> None:
    """A loss within the playouts' margin of error is not a mistake."""
    assert grade(lost, margin) is expected


def turn(number: int, *chances: float) -> AnalysedTurn:
    """Return a turn of round 1."""
    outlooks = tuple(Outlook(chance=chance, points=0.0) for chance in chances)
    return AnalysedTurn(round=1, turn=number, known=outlooks, dealt=outlooks)


TURNS = (turn(1, 0.5, 0.5), turn(2, 0.55, 0.45), turn(3, 0.2, 0.8), turn(4, 0.4, 0.6))


def test_turning_points_are_the_largest_changes_in_order() -> None:
    """Changes below 0.1 don't count. The last turn is compared with the result."""
    assert turning_points(TURNS, (1.0, 0.0)) == (1, 2, 3)
    assert turning_points(TURNS[:2], (0.6, 0.4)) == ()


def decision(seat: int, played: int, *chances: float) -> AnalysedDecision:
    """Return a decision between options with these chances."""
    lost = chances[0] - chances[played]
    return AnalysedDecision(
        round=1,
        turn=1,
        seat=seat,
        standin=False,
        options=tuple(Option(cards=("maki_1",), dummy=None, chance=each, points=0.0) for each in chances),
        played=played,
        lost_chance=lost,
        lost_points=1.0,
        margin=0.0,
        grade=grade(lost, 0.0),
    )


def test_accuracy_is_the_share_of_what_was_at_stake_that_a_seat_kept() -> None:
    """A seat whose options all had the same chance has no accuracy."""
    made = [decision(0, 1, 0.5, 0.4, 0.3), decision(0, 0, 0.6, 0.4), decision(1, 1, 0.2, 0.2)]
    first, second = summaries(TURNS, (1.0, 0.0), made)
    assert first.accuracy == pytest.approx(0.75)
    assert first.lost_chance == pytest.approx(0.1)
    assert first.lost_points == pytest.approx(2.0)
    assert (first.grades[Grade.BEST], first.grades[Grade.BLUNDER]) == (1, 1)
    assert first.swing == pytest.approx(0.6)
    assert first.swing_turn == 3
    assert second.accuracy is None
