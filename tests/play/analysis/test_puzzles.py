"""The choice of decisions for puzzles."""

from dataclasses import replace
from functools import cache

import pytest

from arena.play.analysis.analyst import analyse
from arena.play.analysis.grading import merit, puzzle_in
from arena.protocol.analysis import AnalysedDecision, Analysis, Grade, Option
from arena.rules import Rules
from tests.play.replay.games import replay_of


def option(card: str, chance: float, *, second: str | None = None, dummy: str | None = None) -> Option:
    """Return an option."""
    return Option(cards=(card,) if second is None else (card, second), dummy=dummy, chance=chance, points=30)


PUZZLE = AnalysedDecision(
    round=2,
    turn=3,
    seat=1,
    standin=False,
    options=(option("tempura", 0.5), option("maki_1", 0.3), option("pudding", 0.2)),
    played=1,
    house={"expected": 1, "greedy": 2, "rollout": 0},
    lost_chance=0.2,
    lost_points=1.0,
    margin=0.04,
    grade=Grade.BLUNDER,
)


@cache
def analysed() -> Analysis:
    """Return the analysis of a random game."""
    return analyse(replay_of(Rules(players=2)), playouts=8)


def puzzle_among(*made: AnalysedDecision) -> AnalysedDecision | None:
    """Return the puzzle of a game with these decisions."""
    return puzzle_in(replace(analysed(), decisions=made))


@pytest.mark.parametrize(
    "changed",
    [
        replace(PUZZLE, options=(option("tempura", 0.5), option("maki_1", 0.46), option("pudding", 0.2))),
        replace(PUZZLE, margin=0.21),
        replace(PUZZLE, played=0),
        replace(PUZZLE, standin=True),
        replace(PUZZLE, house={"expected": 0, "greedy": 2, "rollout": 0}),
        replace(PUZZLE, house={"expected": 1, "greedy": 2}),
        replace(PUZZLE, house={}),
        replace(PUZZLE, options=PUZZLE.options[:2]),
        replace(PUZZLE, options=(*PUZZLE.options, option("maki_1", 0.1, second="pudding"))),
        replace(PUZZLE, options=(*PUZZLE.options, option("maki_2", 0.1, dummy="pudding"))),
    ],
    ids=[
        "unclear",
        "noise",
        "the bot found it",
        "no bot decided",
        "most found it",
        "too few bots",
        "no bots",
        "two options",
        "two cards",
        "a dummy",
    ],
)
def test_a_puzzle_is_clear_and_was_missed(changed: AnalysedDecision) -> None:
    """A decision that fails one of the conditions is not a puzzle."""
    assert puzzle_among(PUZZLE, changed) == PUZZLE
    assert puzzle_among(changed) is None


def test_the_clearest_decision_that_most_bots_missed_is_the_best() -> None:
    """A puzzle's merit is the best move's lead times the share of bots that missed it."""
    missed_by_all = replace(PUZZLE, house=dict.fromkeys(PUZZLE.house, 1))
    assert merit(PUZZLE) == pytest.approx(0.2 * 2 / 3)
    assert merit(missed_by_all) == pytest.approx(0.2)
    assert puzzle_among(PUZZLE, missed_by_all) == missed_by_all
    assert puzzle_among() is None
