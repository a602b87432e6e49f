"""Tests of the intervals of players' probable ranks."""

import random
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ladder.rank_intervals import DRAWS, SHARE, Field, between
from arena.ladder.rating import Rating

RATING = st.builds(Rating, st.floats(0, 50), st.floats(0.1, 9))
RATINGS = st.lists(RATING, min_size=1, max_size=30)


def intervals(ratings: Sequence[Rating]) -> list[tuple[int, int]]:
    """Return each player's interval."""
    field = Field(dict(enumerate(ratings)))
    return [field.interval(player) for player in range(len(ratings))]


@given(RATINGS)
def test_ranks_lie_between_the_first_and_the_last(ratings: list[Rating]) -> None:
    """Intervals lie within as many ranks as there are players, and their ends are in order."""
    for low, high in intervals(ratings):
        assert 1 <= low <= high <= len(ratings)


@given(RATINGS)
def test_the_same_ratings_give_the_same_intervals(ratings: list[Rating]) -> None:
    """Neither earlier ratings nor the order in which players were added make a difference."""
    again = Field({})
    for player in reversed(range(len(ratings))):
        again.put(player, Rating(0.0, 1.0))
    again.put(99, Rating(25.0, 8.0))
    for player, rating in enumerate(ratings):
        again.put(player, rating)
    again.drop(99)
    again.drop(99)
    assert [again.interval(player) for player in range(len(ratings))] == intervals(ratings)


@given(RATINGS, st.floats(0.1, 9), st.floats(0, 50), st.floats(0, 50))
def test_the_order_is_kept(ratings: list[Rating], deviation: float, one: float, other: float) -> None:
    """Of two equally certain players, the better one has the better interval, give or take a rank."""
    better, worse = sorted((Rating(mean, deviation) for mean in (one, other)), key=lambda r: -r.mean)
    first, second, *_ = intervals([better, worse, *ratings])
    assert first[0] <= second[0] + 1
    assert first[1] <= second[1] + 1


@given(RATINGS, st.floats(-100, 100))
def test_only_differences_count(ratings: list[Rating], shift: float) -> None:
    """Adding the same value to all means gives the same intervals, apart from rounding."""
    moved = [Rating(rating.mean + shift, rating.deviation) for rating in ratings]
    for old, new in zip(intervals(ratings), intervals(moved), strict=True):
        assert abs(old[0] - new[0]) <= 1
        assert abs(old[1] - new[1]) <= 1


@pytest.mark.parametrize("players", [2, 5, 40, 1200])
def test_players_far_apart_have_one_rank_each(players: int) -> None:
    """If no two skills overlap, each interval is a single rank."""
    ratings = [Rating(-100.0 * player, 1.0) for player in range(players)]
    assert intervals(ratings) == [(rank, rank) for rank in range(1, players + 1)]


@pytest.mark.parametrize("players", [2, 5, 40, 1200])
def test_equals_may_have_any_rank(players: int) -> None:
    """Players with equal ratings have nearly all ranks in their intervals."""
    for low, high in intervals([Rating(25.0, 8.0)] * players):
        assert low <= 1 + 0.05 * players
        assert high >= 0.95 * players


def test_an_interval_holds_its_share_of_ranks() -> None:
    """Intervals are compared with simple sampling, which sorts drawn skills of all players."""
    dice = random.Random(3)  # noqa: S311 - a test's dice
    ratings = [Rating(dice.gauss(25, 3), dice.uniform(0.5, 3)) for _ in range(12)]
    found = intervals(ratings)
    held = [0] * len(ratings)
    times = 4000
    for _ in range(times):
        skills = [dice.gauss(rating.mean, rating.deviation) for rating in ratings]
        order = sorted(range(len(skills)), key=lambda player: -skills[player])
        for rank, player in enumerate(order, start=1):
            held[player] += found[player][0] <= rank <= found[player][1]
    assert all(count / times >= SHARE - 0.03 for count in held)
    # Nor are they too wide: most of them would be too narrow with one rank fewer at either end.
    assert sum(high - low for low, high in found) < 12 * 8


def test_draws_are_spread_evenly() -> None:
    """A fortieth of the draws is left out at either end: five of two hundred."""
    assert round(DRAWS * (1 - SHARE) / 2) == 5
    field = Field({1: Rating(25.0, 1.0), 2: Rating(25.0 + 2.5, 1.0)})
    assert field.interval(2) == (1, 2)
    assert Field({1: Rating(25.0, 1.0), 2: Rating(25.0 + 3.5, 1.0)}).interval(2) == (1, 1)


def test_more_players_than_fit_into_all_fields() -> None:
    """When the number of fields changes, everything is redrawn. The result equals a new object's."""
    dice = random.Random(4)  # noqa: S311 - a test's dice
    ratings = {player: Rating(dice.gauss(25, 6), 1.0) for player in range(1003)}
    field = Field(ratings)
    for player in range(998, 1003):
        field.drop(player)
    for player in range(998, 1003):
        field.put(player, ratings[player])
    fresh = Field(ratings)
    assert all(field.interval(player) == fresh.interval(player) for player in range(0, 1003, 59))
    ordered = sorted(ratings, key=lambda player: -ratings[player].mean)
    lows = [fresh.interval(player)[0] for player in ordered[::100]]
    assert all(low < high for low, high in pairwise(lows))


def test_an_unknown_player_has_no_interval() -> None:
    """For an unknown or removed player, KeyError is raised."""
    field = Field({1: Rating(25.0, 1.0)})
    with pytest.raises(KeyError):
        field.interval(2)
    assert field.interval(1) == (1, 1)
    field.drop(1)
    with pytest.raises(KeyError):
        field.interval(1)


def test_the_probability_that_one_is_better() -> None:
    """The probability is one half for equals, and both directions add up to one."""
    assert between(Rating(25.0, 2.0), Rating(25.0, 1.0)) == 0.5
    assert between(Rating(29.0, 3.0), Rating(24.0, 4.0)) == pytest.approx(0.8413, abs=1e-4)
    assert between(Rating(24.0, 4.0), Rating(29.0, 3.0)) == pytest.approx(0.1587, abs=1e-4)
