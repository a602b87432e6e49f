"""Section "Places": by points."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rules import places


@pytest.mark.parametrize(
    ("totals", "puddings", "expected"),
    [
        ((40, 31, 37), (2, 0, 1), (1, 3, 2)),
        ((30, 30, 20), (2, 1, 5), (1, 2, 3)),
        ((30, 30, 20), (2, 2, 5), (1, 1, 3)),
        ((20, 30, 30), (0, 2, 2), (3, 1, 1)),
        ((30, 30, 30), (1, 2, 2), (3, 1, 1)),
        ((0, -6), (0, 0), (1, 2)),
        ((5, 5, 5, 5, 5), (0, 0, 0, 0, 0), (1, 1, 1, 1, 1)),
    ],
)
def test_places(totals: tuple[int, ...], puddings: tuple[int, ...], expected: tuple[int, ...]) -> None:
    """By total, then puddings; equal in both is shared, and the next place is skipped."""
    assert places(totals, puddings) == expected


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=2, max_size=5))
def test_places_against_brute_force(results: list[tuple[int, int]]) -> None:
    """The place is where the result first stands in the sorted list."""
    order = sorted(results, reverse=True)
    expected = tuple(order.index(result) + 1 for result in results)
    assert places([total for total, _ in results], [puddings for _, puddings in results]) == expected
