"""Test of the texts about controls from which docs/canary.md is generated."""

from arena.protocol.sandbox_controls import CONTROLS


def test_names_can_be_typed_and_texts_are_sentences() -> None:
    """Names can be typed into a setting, and texts are sentences."""
    for name, control in CONTROLS.items():
        assert name == name.lower()
        assert " " not in name
        assert control.stops.endswith(".")
        assert control.fix.endswith(".")
