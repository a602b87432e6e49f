"""Tests of ratings after games, of daily closings, and of times."""

import math
from statistics import median_low

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ladder.rating import (
    DAYS,
    Closings,
    Rating,
    Times,
    add,
    close,
    expected,
    game_time,
    initial,
    median,
    next_version,
    rating_on,
    update,
)
from tests.ladder.games import RATED_GAMES


def test_known_values_of_a_first_game() -> None:
    """Expected values for two new players follow from TrueSkill's published formulas."""
    variance = (25 / 3) ** 2 + (25 / 300) ** 2
    c = math.sqrt(2 * variance + 2 * (2.5 * 25 / 6) ** 2)
    margin = _inverse_normal((1 + 0.01) / 2) * math.sqrt(2) * 2.5 * 25 / 6
    x = -margin / c
    v = math.exp(-x * x / 2) / math.sqrt(2 * math.pi) / (math.erfc(-x / math.sqrt(2)) / 2)
    w = v * (v + x)
    winner, loser = update((initial(), initial()), (1, 2))
    assert winner.mean == pytest.approx(25 + variance / c * v, rel=1e-6)
    assert loser.mean == pytest.approx(25 - variance / c * v, rel=1e-6)
    assert winner.deviation == pytest.approx(math.sqrt(variance * (1 - variance / c**2 * w)), rel=1e-6)


def _inverse_normal(probability: float) -> float:
    """Return the quantile of the standard normal distribution, found by bisection."""
    low, high = -10.0, 10.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erfc(-middle / math.sqrt(2)) / 2 < probability else (low, middle)
    return low


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_better_places_get_better_ratings(players: int) -> None:
    """After a game between equals, a better place has a higher mean."""
    rated = update([initial()] * players, range(1, players + 1))
    means = [rating.mean for rating in rated]
    assert means == sorted(means, reverse=True)
    assert len(set(means)) == players
    assert all(rating.deviation < initial().deviation for rating in rated)


def test_a_tie_of_equals_moves_nobody() -> None:
    """A tie between equals lowers their deviations, but doesn't change their means."""
    rated = update([initial()] * 2, (1, 1))
    assert [rating.mean for rating in rated] == pytest.approx([25, 25])
    assert all(rating.deviation < initial().deviation for rating in rated)


def test_a_tie_draws_unequals_together() -> None:
    """After a tie, the lower rating has risen and the higher one has fallen."""
    weak, strong = update((Rating(20.0, 3.0), Rating(30.0, 3.0)), (1, 1))
    assert weak.mean > 20
    assert strong.mean < 30


@pytest.mark.parametrize("players", [2, 3, 5])
@pytest.mark.parametrize("deviation", [0.5, 25 / 3])
@pytest.mark.parametrize("tie", [False, True])
def test_extreme_upset_is_rated(players: int, deviation: float, *, tie: bool) -> None:
    """A gap of 600 exceeds double precision. Still, ratings are finite, and the weak player's mean rises."""
    ratings = [Rating(-275.0, deviation)] + [Rating(325.0, deviation)] * (players - 1)
    places = [1] * players if tie else list(range(1, players + 1))
    weak, *strong = update(ratings, places)
    assert weak.mean > -275
    assert weak.deviation <= math.hypot(deviation, 25 / 300)
    assert min(rating.mean for rating in strong) < 325


@given(RATED_GAMES)
def test_any_game_is_rated_reproducibly(game: tuple[list[Rating], list[int]]) -> None:
    """Ratings are finite and reproducible, and deviations grow by at most the drift."""
    ratings, places = game
    rated = update(ratings, places)
    for old, new in zip(ratings, rated, strict=True):
        assert math.isfinite(new.mean)
        assert 0 < new.deviation <= math.hypot(old.deviation, 25 / 300) * (1 + 1e-9)
    assert update(ratings, places) == rated


@pytest.mark.parametrize(("players", "places"), [(2, ()), (2, (1,)), (2, (1, 2, 3)), (1, (1,))])
def test_two_to_five_players_need_a_place_each(players: int, places: tuple[int, ...]) -> None:
    """There must be two to five players, with one place each."""
    with pytest.raises(ValueError, match="one of each for 2 to 5 players"):
        update([initial()] * players, places)


@pytest.mark.parametrize(("mean", "deviation"), [(math.nan, 1.0), (25.0, 0.0), (25.0, math.inf)])
def test_a_rating_is_a_distribution(mean: float, deviation: float) -> None:
    """A rating needs a finite mean and a finite, positive deviation."""
    with pytest.raises(ValueError, match="must be finite"):
        Rating(mean, deviation)


def test_next_version_keeps_the_mean_and_loses_certainty() -> None:
    """The deviation grows by the usual difference between versions, at most to that of a new bot."""
    assert next_version(Rating(31.0, 0.75), initial()) == Rating(31.0, 1.25)
    assert next_version(Rating(31.0, 8.3), initial()) == Rating(31.0, 25 / 3)
    assert next_version(initial(), initial()) == initial()


def test_score() -> None:
    """The score, by which bots are sorted, is μ - 3σ."""
    assert Rating(30.0, 2.0).score == 24


@pytest.mark.parametrize(("players", "times"), [(2, 1), (3, 1.6), (4, 2), (5, 2.25)])
def test_a_larger_table_leaves_more_to_chance(players: int, times: float) -> None:
    """Expected results depend on the table's β. Without a table size, they are means over all four."""
    strong, weak = Rating(30.0, 1.0), Rating(25.0, 2.0)
    beta = 2.5 * 25 / 6 * times
    z = 5 / math.sqrt(2 * beta**2 + 1 + 4)
    assert expected(strong, weak, (players,)) == pytest.approx(math.erfc(-z / math.sqrt(2)) / 2)
    of_each = [expected(strong, weak, (each,)) for each in (2, 3, 4, 5)]
    assert expected(strong, weak) == pytest.approx(sum(of_each) / 4)
    assert of_each == sorted(of_each, reverse=True)


def test_a_game_is_rated_by_the_beta_of_its_table() -> None:
    """The larger the table, the smaller the difference between first and second place."""
    gaps = []
    for players in (2, 3, 4, 5):
        first, second, *_ = update([Rating(25.0, 2.0)] * players, range(1, players + 1))
        gaps.append(first.mean - second.mean)
    assert gaps[0] == pytest.approx(0.43, abs=0.01)
    assert gaps == sorted(gaps, reverse=True)


def closed(days: list[int]) -> Closings:
    """Return the closings after one game on each of these days. The n-th game gives a mean of n."""
    closings: Closings = ()
    for number, day in enumerate(days, start=1):
        closings = close(closings, day, Rating(float(number), 1.0))
    return closings


@given(st.lists(st.integers(700_000, 700_040), min_size=1), st.integers(0, 30))
def test_stored_closings_answer_as_if_all_were_stored(days: list[int], later: int) -> None:
    """For each day of the last week, the answer is the rating after the latest game by then, or None."""
    days = sorted(days)
    today = days[-1] + later
    for asked in range(today - DAYS, today + 1):
        last = sum(day <= asked for day in days)
        assert rating_on(closed(days), asked) == (Rating(float(last), 1.0) if last else None)


@given(st.lists(st.integers(700_000, 700_040)))
def test_only_a_week_is_stored(days: list[int]) -> None:
    """Seven days and the last one before them are stored in order, whatever order the games come in."""
    closings = closed(days)
    assert len(closings) <= DAYS + 1
    assert [each.day for each in closings] == sorted({each.day for each in closings})


def test_a_game_that_ends_before_the_last_one_counts_for_its_day() -> None:
    """Around midnight, matches may be recorded in a different order from that in which they end."""
    assert closed([10, 11, 10]) == ((10, 1.0, 1.0), (11, 3.0, 1.0))


MICROS = st.integers(0, 20_000_000)


def times_of(games: list[int]) -> Times:
    """Return the stored times after these games."""
    times: Times = ()
    for each in games:
        times = add(times, each)
    return times


def two_digits(micros: int) -> int:
    """Return the number rounded to two significant digits."""
    unit: int = 10 ** max(0, len(str(micros)) - 2)
    return int((micros / unit) + 0.5) * unit


@given(st.lists(MICROS, min_size=1))
def test_the_median_is_that_of_all_games_rounded(games: list[int]) -> None:
    """The median is the exact one rounded to two digits, so it is off by at most 5%."""
    found = median(times_of(games))
    assert found == two_digits(median_low(games))
    assert abs(found - median_low(games)) <= 0.05 * median_low(games)


@given(st.lists(MICROS))
def test_the_order_of_games_does_not_matter(games: list[int]) -> None:
    """The same games in another order give the same times."""
    assert times_of(games) == times_of(sorted(games)) == times_of(sorted(games, reverse=True))
    assert sum(count for _, count in times_of(games)) == len(games)


def test_a_million_games_have_few_different_times() -> None:
    """At most ninety different times are stored per power of ten."""
    times = times_of([*range(1, 100_000, 7)])
    assert len(times) <= 99 + 4 * 90
    assert add(times, 250) == add(times, 251)


def test_a_game_has_the_time_of_its_middle_decision() -> None:
    """Unanswered decisions don't count. Of two middle decisions, the shorter one counts."""
    assert game_time([9.0, 1.0, None, 2.5]) == 2500
    assert game_time([4.0, 1.0, 2.0, 3.0]) == 2000
    assert game_time([0.0004]) == 0
    assert game_time([None, None]) is None
    assert game_time([]) is None


def test_no_games_have_no_median() -> None:
    """Without games, the median is None."""
    assert median(()) is None
