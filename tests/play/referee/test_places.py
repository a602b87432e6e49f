"""Section "Places" of the rules, for seats that were taken over after faults."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.protocol.faults import Fault, places_with_faults, taken_over

NOBODY = (None, None, None)


@pytest.mark.parametrize(
    ("faults", "moments"),
    [
        pytest.param([], NOBODY, id="nothing played"),
        pytest.param([NOBODY] * 9, NOBODY, id="no faults"),
        pytest.param([("timeout", None, None), ("illegal", None, None)], NOBODY, id="two are too few"),
        pytest.param(
            [("timeout", None, None), ("illegal", None, None), NOBODY, ("protocol", None, None)],
            (3, None, None),
            id="the third fault, whatever the kinds",
        ),
        pytest.param([NOBODY, (None, "crash", None)], (None, 1, None), id="the first crash"),
        pytest.param([NOBODY, (None, "absent", None)], (None, 1, None), id="another final fault"),
        pytest.param([(None, "crash", Fault.CRASH)], (None, 0, 0), id="two in the same turn"),
        pytest.param([(None, None, "timeout")] * 5, (None, None, 2), id="later faults don't move it"),
    ],
)
def test_when_a_seat_is_taken_over(
    faults: list[tuple[str | None, ...]], moments: tuple[int | None, ...]
) -> None:
    """A seat is taken over at its first crash or its third fault of any kind."""
    assert taken_over(faults, 3) == moments


@pytest.mark.parametrize(
    ("rules_places", "moments", "expected"),
    [
        pytest.param((1, 3, 2), NOBODY, (1, 3, 2), id="no faults"),
        pytest.param((1, 1, 3), NOBODY, (1, 1, 3), id="shared places are kept"),
        pytest.param((1, 2, 3), (4, None, None), (3, 1, 2), id="the winner was taken over"),
        pytest.param((1, 1, 3), (4, None, None), (3, 1, 2), id="a shared place is the other's alone"),
        pytest.param((3, 1, 1), (4, None, None), (3, 1, 1), id="the others still share"),
        pytest.param((1, 2, 3), (4, 9, None), (3, 2, 1), id="taken over later ranks higher"),
        pytest.param((1, 2, 3), (4, 4, None), (2, 2, 1), id="in the same turn they share"),
        pytest.param((1, 2, 3), (0, 0, 0), (1, 1, 1), id="all in the same turn"),
    ],
)
def test_places_with_faults(
    rules_places: tuple[int, ...], moments: tuple[int | None, ...], expected: tuple[int, ...]
) -> None:
    """Seats that were taken over rank below all others, and among themselves by how long they lasted."""
    assert places_with_faults(rules_places, moments) == expected


@given(
    st.lists(st.tuples(st.integers(1, 5), st.one_of(st.none(), st.integers(0, 3))), min_size=2, max_size=5)
)
def test_a_place_is_one_more_than_the_number_of_better_seats(seats: list[tuple[int, int | None]]) -> None:
    """For any places and takeovers, a place is one more than the number of better seats."""
    result = places_with_faults([place for place, _ in seats], [moment for _, moment in seats])
    for mine, (place, moment) in zip(result, seats, strict=True):
        better = 0
        for other_place, other_moment in seats:
            if moment is None:
                better += other_moment is None and other_place < place
            else:
                better += other_moment is None or other_moment > moment
        assert mine == better + 1
