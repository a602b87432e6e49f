"""How long decisions take."""

from statistics import median_low

from hypothesis import given
from hypothesis import strategies as st

from arena.rating.times import Times, add, game_time, median

MICROS = st.integers(0, 20_000_000)


def times_of(games: list[int]) -> Times:
    """Add the times of some games, one after the other."""
    times: Times = ()
    for each in games:
        times = add(times, each)
    return times


def two_digits(micros: int) -> int:
    """Round as people do who write a number with two digits."""
    unit: int = 10 ** max(0, len(str(micros)) - 2)
    return int((micros / unit) + 0.5) * unit


@given(st.lists(MICROS, min_size=1))
def test_the_median_is_that_of_all_games_rounded(games: list[int]) -> None:
    """As if all times were kept, and the one in the middle written with two digits: within five per cent."""
    found = median(times_of(games))
    assert found == two_digits(median_low(games))
    assert abs(found - median_low(games)) <= 0.05 * median_low(games)


@given(st.lists(MICROS))
def test_the_order_of_games_does_not_matter(games: list[int]) -> None:
    """What is kept follows from what was played, not from when."""
    assert times_of(games) == times_of(sorted(games)) == times_of(sorted(games, reverse=True))
    assert sum(count for _, count in times_of(games)) == len(games)


def test_a_million_games_are_a_few_numbers() -> None:
    """Whatever was played, there are no more than ninety times for each power of ten."""
    times = times_of([*range(1, 100_000, 7)])
    assert len(times) <= 99 + 4 * 90
    assert add(times, 250) == add(times, 251)


def test_a_game_has_the_time_of_its_middle_decision() -> None:
    """Decisions without an answer don't count; of two in the middle it is the lower one."""
    assert game_time([9.0, 1.0, None, 2.5]) == 2500
    assert game_time([4.0, 1.0, 2.0, 3.0]) == 2000
    assert game_time([0.0004]) == 0
    assert game_time([None, None]) is None
    assert game_time([]) is None


def test_nothing_has_no_median() -> None:
    """Without a game there is no time."""
    assert median(()) is None
