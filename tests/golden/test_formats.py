"""Tests that a stored format's number changes with its shape, so that data isn't misread."""

from dataclasses import replace

import pytest

from .formats import kept, today, unnumbered


def test_no_shape_has_changed_without_a_new_number() -> None:
    """The error says which number to raise, and where it is."""
    assert "\n".join(unnumbered(kept(), today())) == ""


def test_the_committed_shapes_are_up_to_date() -> None:
    """After changing a number, update the file with ``python -m tests.golden.formats``."""
    assert kept() == today()


@pytest.mark.parametrize("name", ["database", "backup", "replay", "live game", "match"])
def test_a_changed_shape_is_noticed_unless_its_number_is_raised(name: str) -> None:
    """The error has the number and the constant's name."""
    before = kept()
    changed = replace(before[name], shape={"another": before[name].shape})
    (said,) = unnumbered(before, before | {name: changed})
    assert f"as {name} has changed" in said
    assert f"still {before[name].number}: raise it ({before[name].where})" in said
    assert list(unnumbered(before, before | {name: replace(changed, number="raised")})) == []
