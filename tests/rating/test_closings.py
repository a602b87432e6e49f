"""How ratings stood at the end of a day."""

from hypothesis import given
from hypothesis import strategies as st

from arena.rating import DAYS, Closings, Rating, stood
from arena.rating.closings import close


def closed(days: list[int]) -> Closings:
    """Let there be a game on each of these days; the n-th leaves a mean of n."""
    closings: Closings = ()
    for number, day in enumerate(days, start=1):
        closings = close(closings, day, Rating(float(number), 1.0))
    return closings


@given(st.lists(st.integers(700_000, 700_040), min_size=1), st.integers(0, 30))
def test_what_was_kept_answers_as_if_all_had_been_kept(days: list[int], later: int) -> None:
    """For every day that may be asked for: it is the mean after the last game by then, or None."""
    days = sorted(days)
    today = days[-1] + later
    for asked in range(today - DAYS, today + 1):
        last = sum(day <= asked for day in days)
        assert stood(closed(days), asked) == (Rating(float(last), 1.0) if last else None)


@given(st.lists(st.integers(700_000, 700_040)))
def test_a_week_is_all_that_is_kept(days: list[int]) -> None:
    """Seven days and the last one before them, in order, whatever order games come in."""
    closings = closed(days)
    assert len(closings) <= DAYS + 1
    assert [each.day for each in closings] == sorted({each.day for each in closings})


def test_a_game_that_ends_before_the_last_one_counts_for_its_day() -> None:
    """Around midnight matches may be written down the other way round."""
    assert closed([10, 11, 10]) == ((10, 1.0, 1.0), (11, 3.0, 1.0))
