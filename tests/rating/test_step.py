"""One rating step."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rating import Rating, conservative, initial, next_version, update

RATINGS = st.builds(
    Rating,
    st.floats(-1000, 1000),
    st.floats(0.01, 100),
)
GAMES = st.integers(2, 5).flatmap(
    lambda players: st.tuples(
        st.lists(RATINGS, min_size=players, max_size=players),
        st.lists(st.integers(1, players), min_size=players, max_size=players),
    )
)


def test_known_values_of_a_first_game() -> None:
    """Two new players: the values that TrueSkill's own formulas give, worked out by hand here."""
    variance = (25 / 3) ** 2 + (25 / 300) ** 2
    c = math.sqrt(2 * variance + 2 * (25 / 6) ** 2)
    margin = _inverse_normal((1 + 0.01) / 2) * math.sqrt(2) * 25 / 6
    x = -margin / c
    v = math.exp(-x * x / 2) / math.sqrt(2 * math.pi) / (math.erfc(-x / math.sqrt(2)) / 2)
    w = v * (v + x)
    winner, loser = update((initial(), initial()), (1, 2))
    assert winner.mean == pytest.approx(25 + variance / c * v, rel=1e-6)
    assert loser.mean == pytest.approx(25 - variance / c * v, rel=1e-6)
    assert winner.deviation == pytest.approx(math.sqrt(variance * (1 - variance / c**2 * w)), rel=1e-6)


def _inverse_normal(probability: float) -> float:
    """Bisect for the quantile of the standard normal distribution."""
    low, high = -10.0, 10.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erfc(-middle / math.sqrt(2)) / 2 < probability else (low, middle)
    return low


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_better_places_get_better_ratings(players: int) -> None:
    """Among equals the order of the means afterwards is that of the places."""
    rated = update([initial()] * players, range(1, players + 1))
    means = [rating.mean for rating in rated]
    assert means == sorted(means, reverse=True)
    assert len(set(means)) == players
    assert all(rating.deviation < initial().deviation for rating in rated)


def test_a_tie_of_equals_moves_nobody() -> None:
    """A shared place among equals leaves their means and makes them surer."""
    rated = update([initial()] * 2, (1, 1))
    assert [rating.mean for rating in rated] == pytest.approx([25, 25])
    assert all(rating.deviation < initial().deviation for rating in rated)


def test_a_tie_draws_unequals_together() -> None:
    """Who shares a place with a better one gains, and the better one loses."""
    weak, strong = update((Rating(20.0, 3.0), Rating(30.0, 3.0)), (1, 1))
    assert weak.mean > 20
    assert strong.mean < 30


@pytest.mark.parametrize("players", [2, 3, 5])
@pytest.mark.parametrize("deviation", [0.5, 25 / 3])
@pytest.mark.parametrize("tie", [False, True])
def test_extreme_upset_is_rated(players: int, deviation: float, *, tie: bool) -> None:
    """A gap of 600, which double precision can't rate, gives finite ratings: the weak one gains."""
    ratings = [Rating(-275.0, deviation)] + [Rating(325.0, deviation)] * (players - 1)
    places = [1] * players if tie else list(range(1, players + 1))
    weak, *strong = update(ratings, places)
    assert weak.mean > -275
    assert weak.deviation <= math.hypot(deviation, 25 / 300)
    assert min(rating.mean for rating in strong) < 325


@given(GAMES)
def test_any_game_is_rated_and_to_the_bit_again(game: tuple[list[Rating], list[int]]) -> None:
    """Any ratings and places give finite ratings that are no less sure, but for the drift; twice the same."""
    ratings, places = game
    rated = update(ratings, places)
    for old, new in zip(ratings, rated, strict=True):
        assert math.isfinite(new.mean)
        assert 0 < new.deviation <= math.hypot(old.deviation, 25 / 300) * (1 + 1e-9)
    assert update(ratings, places) == rated


@pytest.mark.parametrize("places", [(), (1,), (1, 2, 3)])
def test_every_player_needs_a_place(places: tuple[int, ...]) -> None:
    """Another number of places than players is refused."""
    with pytest.raises(ValueError, match="one of each"):
        update((initial(), initial()), places)


def test_nobody_plays_alone() -> None:
    """One player can't be rated."""
    with pytest.raises(ValueError, match="2 players or more"):
        update((initial(),), (1,))


@pytest.mark.parametrize(("mean", "deviation"), [(math.nan, 1.0), (25.0, 0.0), (25.0, math.inf)])
def test_a_rating_is_a_distribution(mean: float, deviation: float) -> None:
    """A rating that is no normal distribution can't be made."""
    with pytest.raises(ValueError, match="no rating"):
        Rating(mean, deviation)


def test_next_version_keeps_the_mean_and_loses_certainty() -> None:
    """The deviation rises to half of the initial one, and never falls."""
    assert next_version(Rating(31.0, 0.7)) == Rating(31.0, 25 / 6)
    assert next_version(Rating(31.0, 6.0)) == Rating(31.0, 6.0)
    assert next_version(initial()) == initial()


def test_conservative_rating() -> None:
    """The sort key is μ - 3σ."""
    assert conservative(Rating(30.0, 2.0)) == 24
