"""Which points of a curve are kept, and which are drawn."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from arena.rating import stride, thinned
from arena.rating.curve import MOST


@given(st.integers(0, 10**9))
def test_a_bounded_number_of_points_is_kept(games: int) -> None:
    """All of the first ones, and never fewer than half as many as there may be."""
    points = games // stride(games) + 1
    assert points <= MOST
    assert points == games + 1 if games < MOST else points > MOST // 2


@given(st.integers(1, 10**9))
def test_what_was_dropped_is_never_wanted_again(games: int) -> None:
    """The stride stays, or doubles."""
    assert stride(games) in {stride(games - 1), 2 * stride(games - 1)}


@given(st.lists(st.integers(), max_size=500), st.integers(2, 200))
def test_thinned_points_keep_both_ends(points: list[int], most: int) -> None:
    """In their order, at most so many, evenly spread; few enough stay as they are."""
    numbered = list(enumerate(points))
    left = thinned(numbered, most)
    assert len(left) == min(len(points), most)
    assert list(left) == sorted(set(left))
    if points:
        assert (left[0], left[-1]) == (numbered[0], numbered[-1])
    steps = {later[0] - earlier[0] for earlier, later in pairwise(left)}
    assert not steps or max(steps) - min(steps) <= 1
