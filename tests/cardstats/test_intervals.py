"""Shares of games won, and their intervals."""

from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.cardstats import WIN, WinRate, difference, win_rate


def rate(won: int, games: int) -> WinRate:
    """Return the rate of independent games."""
    found = win_rate(WIN * won, games, games)
    assert found is not None
    return found


@st.composite
def rates(draw: st.DrawFn) -> WinRate:
    """Draw how often some seats decided, and which of them won."""
    seats = draw(st.lists(st.tuples(st.integers(1, 27), st.integers(0, WIN)), min_size=1, max_size=30))
    found = win_rate(
        sum(times * won for times, won in seats),
        sum(times for times, _ in seats),
        sum(times * times for times, _ in seats),
    )
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("won", "games", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_the_interval_is_wilsons(won: int, games: int, low: float, high: float) -> None:
    """The examples of Newcombe (1998), Statistics in Medicine 17, 857, method 3."""
    found = rate(won, games)
    assert found.value == won / games
    assert isclose(found.low, low, abs_tol=5e-5)
    assert isclose(found.high, high, abs_tol=5e-5)


@pytest.mark.parametrize(
    ("one", "other", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((10, 10), (0, 20), 0.6791, 1),
    ],
)
def test_the_interval_of_a_difference_is_newcombes(
    one: tuple[int, int], other: tuple[int, int], low: float, high: float
) -> None:
    """The examples of Newcombe (1998), Statistics in Medicine 17, 873, method 10."""
    found = difference(rate(*one), rate(*other))
    assert isclose(found.low, low, abs_tol=5e-5)
    assert isclose(found.high, high, abs_tol=5e-5)


@given(rates(), rates())
def test_intervals_hold_their_value_and_stay_within_bounds(one: WinRate, other: WinRate) -> None:
    """From nought to one, and a difference between minus one and one."""
    assert 0 <= one.low <= one.value <= one.high <= 1
    found = difference(one, other)
    assert -1 <= found.low <= found.value <= found.high <= 1
    turned = difference(other, one)
    assert (turned.value, turned.low, turned.high) == (-found.value, -found.high, -found.low)


def test_decisions_of_one_seat_count_as_one_game() -> None:
    """However many there are; of seats with equally many each counts as one."""
    once, often = rate(1, 1), win_rate(10 * WIN, 10, 10 * 10)
    assert once == often
    several = win_rate(3 * 4 * WIN, 7 * 4, 7 * 4 * 4)
    assert several is not None
    assert (several.value, several.effective) == (3 / 7, 7)
    assert several == rate(3, 7)


@given(rates())
def test_no_more_games_than_seats_are_counted(one: WinRate) -> None:
    """And at least one."""
    assert 1 - 1e-9 <= one.effective <= 30 + 1e-9


def test_nothing_has_no_rate() -> None:
    """Not nought."""
    assert win_rate(0, 0, 0) is None
