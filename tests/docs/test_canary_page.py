"""docs/canary.md and the code know the same controls."""

from arena.protocol.controls import CONTROLS
from tests.docs.documents import DOCS, rows

PAGE = DOCS / "canary.md"
LINES = [row for row in rows(PAGE) if len(row) == 4 and row[0] != "control"]


def test_every_control_is_listed_in_order_and_nothing_else() -> None:
    """By its name."""
    assert [line[0].strip("`") for line in LINES] == [control.name for control in CONTROLS]


def test_the_page_says_what_the_code_says() -> None:
    """What each stops and what to do about it, word for word; how it is tried is told for each."""
    for line, control in zip(LINES, CONTROLS, strict=True):
        assert (line[1], line[3]) == (control.stops, control.mend)
        assert line[2]


def test_a_control_is_told_in_few_words() -> None:
    """Names can be typed, sentences end."""
    for control in CONTROLS:
        assert control.name == control.name.lower()
        assert " " not in control.name
        assert control.stops.endswith(".")
        assert control.mend.endswith(".")
