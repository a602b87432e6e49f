"""Tests that the analyst's benchmark compares what it claims to compare."""

import pytest

from benchmarks.analyst import Forecast, calibration_error, disagreement, forecasts, gain, games

BOTS = ("greedy", "expected")


def test_the_calibration_error_is_the_mean_distance_of_groups() -> None:
    """If chances of 0.25 come true half the time, the error is 0.25. Errors within a group cancel out."""
    right = [Forecast(0.25, 0.0)] * 3 + [Forecast(0.25, 1.0)]
    assert calibration_error(right) == 0
    wrong = [Forecast(0.25, 0.0), Forecast(0.25, 1.0)]
    assert calibration_error(wrong) == pytest.approx(0.25)
    assert calibration_error(right + [Forecast(1.0, 0.0)] * 4) == pytest.approx(0.5)


def test_a_position_is_continued_with_both_moves() -> None:
    """If the analyst prefers a different move, the gain from it is reproducible."""
    game = next(games(BOTS, 1, 1))
    assert {seat.bot for seat in game.seats} <= set(BOTS)
    found = disagreement(game, 20, 1)
    assert found is not None
    made, graded = found
    assert graded.options[0].chance > graded.options[graded.played].chance
    assert gain(game, made, graded, 1) == gain(game, made, graded, 1)


def test_forecasts_are_paired_with_the_result() -> None:
    """In every third turn, each seat's chance is paired with its share of first place."""
    game = next(games(BOTS, 1, 1))
    found = list(forecasts(game, 0))
    seats = len(game.seats)
    assert len(found) % seats == 0
    for start in range(0, len(found), seats):
        assert sum(each.came for each in found[start : start + seats]) == 1
