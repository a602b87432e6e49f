"""Tests of the comparison between predictions and results."""

import random
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from arena.ladder.calibration import EDGES, Calibration, PredictedGame, calibrate
from arena.ladder.rating import BETAS, Rating, initial, update
from tests.ladder.games import START, places_of, unchanged


def ladder(games: int, noise: float = 1.0) -> list[PredictedGame]:
    """Rate games of bots whose skills follow the prior. ``noise`` scales the noise that ratings assume."""
    dice = random.Random(7)  # noqa: S311 - a test's dice
    skills = [dice.gauss(initial().mean, initial().deviation) for _ in range(40)]
    ratings = [initial() for _ in skills]
    found = []
    for number in range(games):
        players = 2 + number % 4
        table = dice.sample(range(len(skills)), players)
        results = [dice.gauss(skills[bot], noise * BETAS[players]) for bot in table]
        places = places_of(results)
        before = tuple(ratings[bot] for bot in table)
        rated = update(before, places)
        for bot, rating in zip(table, rated, strict=True):
            ratings[bot] = rating
        ended = START + timedelta(minutes=number)
        found.append(
            PredictedGame(versions=tuple(table), ratings=before, rated=rated, places=places, ended=ended)
        )
    return found


@pytest.fixture(scope="module")
def honest() -> tuple[list[PredictedGame], Calibration]:
    """Return the games and the calibration of a ladder that matches the ratings' assumptions."""
    games = ladder(3000)
    return games, calibrate(games)


def test_true_predictions_come_true(honest: tuple[list[PredictedGame], Calibration]) -> None:
    """In every group, favourites finish ahead about as often as predicted."""
    _, found = honest
    assert [table.players for table in found.tables] == [2, 3, 4, 5]
    for table in found.tables:
        assert table.games == 750
        assert sum(group.pairs for group in table.groups) == 750 * table.players * (table.players - 1) // 2
        assert [group.low for group in table.groups] == sorted(group.low for group in table.groups)
        for group in table.groups:
            assert group.low <= group.predicted <= group.high
            assert group.error is None or abs(group.observed - group.predicted) < 4 * group.error
        assert table.log_loss is not None
        assert table.log_loss < 0.693
    assert {(group.low, group.high) for table in found.tables for group in table.groups} <= set(
        pairwise(EDGES)
    )


def test_fair_ratings_stay_in_their_intervals(honest: tuple[list[PredictedGame], Calibration]) -> None:
    """About 95% of ratings move within the intervals given by their deviations."""
    games, found = honest
    assert [span.games for span in found.spans] == [300] * 10
    assert (found.spans[0].start, found.spans[-1].end) == (games[0].ended, games[-1].ended)
    moves = sum(span.moves for span in found.spans)
    held = sum((span.held or 0) * span.moves for span in found.spans) / moves
    assert moves > 350
    assert 0.91 < held < 0.985


def test_overconfident_ratings_are_detected(honest: tuple[list[PredictedGame], Calibration]) -> None:
    """With deviations a third of the true ones, ratings leave their intervals."""
    games = [
        replace(
            game,
            ratings=tuple(Rating(each.mean, each.deviation / 3) for each in game.ratings),
            rated=tuple(Rating(each.mean, each.deviation / 3) for each in game.rated),
        )
        for game in honest[0][:1000]
    ]
    held = [span.held for span in calibrate(games).spans if span.held is not None]
    assert max(held) < 0.9


def test_wrong_noise_is_detected() -> None:
    """In games with a third of the assumed noise, favourites finish ahead more often than predicted."""
    for table in calibrate(ladder(600, noise=1 / 3)).tables:
        assert table.observed > table.predicted + 0.02


def test_level_finishes_count_half() -> None:
    """A tie of two bots counts as half a success for the favourite, without a log-loss."""
    found = calibrate([unchanged((1, 2), (Rating(30.0, 1.0), Rating(20.0, 1.0)), (1, 1))])
    (table,) = found.tables
    assert table.observed == 0.5
    assert table.log_loss is None
    (span,) = found.spans
    assert (span.games, span.moves, span.held) == (1, 0, None)


def test_no_games_give_an_empty_comparison() -> None:
    """The comparison has no tables and no periods."""
    assert calibrate([]) == Calibration(games=0, tables=(), spans=())
