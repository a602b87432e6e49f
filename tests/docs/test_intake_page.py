"""Tests that docs/intake.md agrees with the intake's code."""

import re

import msgspec

from arena.images.image import DEFAULT_LIMITS
from arena.images.reader import INTAKE_UID
from tests.docs.documents import DOCS, rows
from tests.images.hostile import ATTACKS

PAGE = DOCS / "intake.md"
UNITS = {"": 1, "bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "s": 1}
LIMITS = msgspec.structs.asdict(DEFAULT_LIMITS)


def test_every_limit_is_on_the_page() -> None:
    """The table has exactly the limits in the code, with their values."""
    found = {}
    for row in rows(PAGE):
        if len(row) == 3 and row[2].strip("`") in LIMITS:
            number, _, unit = row[1].partition(" ")
            found[row[2].strip("`")] = int(number) * UNITS[unit]
    assert found == LIMITS


def test_the_readers_user_is_on_the_page() -> None:
    """The page has the user that reads archives, so that operators can look it up."""
    assert f"user {INTAKE_UID}" in PAGE.read_text()


def test_the_number_of_attacks_is_not_overstated() -> None:
    """There are more hostile archives than the number that the page gives."""
    stated = re.search(r"more than (\d+) hostile archives", PAGE.read_text())
    assert stated is not None
    assert len(ATTACKS) >= int(stated[1])
