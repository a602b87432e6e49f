"""A stored shape that changes takes another number, so that nothing is read for what it isn't."""

from dataclasses import replace

import pytest

from .formats import kept, today, unnumbered


def test_no_stored_shape_has_changed_under_its_number() -> None:
    """Otherwise it says which number to raise, and where."""
    assert "\n".join(unnumbered(kept(), today())) == ""


def test_the_kept_shapes_are_those_of_today() -> None:
    """With a new number they are written anew, by ``python -m tests.golden.formats``."""
    assert kept() == today()


@pytest.mark.parametrize("name", ["database", "backup", "replay", "live game", "match"])
def test_a_changed_shape_is_noticed_unless_its_number_is_raised(name: str) -> None:
    """The message names the number and where it is."""
    before = kept()
    changed = replace(before[name], shape={"another": before[name].shape})
    (said,) = unnumbered(before, before | {name: changed})
    assert f"as {name} has changed" in said
    assert f"still {before[name].number}: raise it ({before[name].where})" in said
    assert list(unnumbered(before, before | {name: replace(changed, number="raised")})) == []
