"""Tests that a stored format's number changes with its shape, so that data isn't misread."""

from dataclasses import replace

from .formats import kept, today, unnumbered


def test_the_committed_shapes_are_up_to_date() -> None:
    """If a shape has changed without a new number, the error says which to raise, and where it is.

    After changing a number, update the file with ``python -m tests.golden.formats``.
    """
    before, now = kept(), today()
    assert "\n".join(unnumbered(before, now)) == ""
    assert before == now


def test_a_changed_shape_is_noticed_unless_its_number_is_raised() -> None:
    """The error has the number and the constant's name."""
    before, name = kept(), "replay"
    changed = replace(before[name], shape={"another": before[name].shape})
    (said,) = unnumbered(before, before | {name: changed})
    assert f"as {name} has changed" in said
    assert f"still {before[name].number}: raise it ({before[name].where})" in said
    assert list(unnumbered(before, before | {name: replace(changed, number="raised")})) == []
