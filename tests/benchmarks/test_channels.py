"""Tests that a channel's bits are decoded without knowing those that were sent."""

import pytest

from benchmarks.channels import Transfer, decoded


def test_the_two_groups_are_found_in_the_numbers() -> None:
    """The groups may have any values and sizes. Outliers do no harm."""
    bits = [1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0]
    assert decoded([100 + 7 * bit for bit in bits]) == bits
    assert decoded([-900 + 400 * bit + place for place, bit in enumerate(bits)]) == bits
    assert decoded([*(100 + 7 * bit for bit in bits), 10_000]) == [*bits, 1]


def test_equal_numbers_are_zeros() -> None:
    """A receiver that sees no difference can only guess."""
    assert decoded([5] * 20) == [0] * 20


@pytest.mark.parametrize(
    ("bits", "wrong", "chance"), [(100, 50, True), (100, 31, True), (100, 29, False), (10_000, 4_700, False)]
)
def test_a_guess_is_distinguished_from_a_channel(bits: int, wrong: int, chance: bool) -> None:  # noqa: FBT001 - a column of the table
    """A channel must be better than guessing by four standard deviations."""
    assert Transfer(bits, wrong).chance == chance
