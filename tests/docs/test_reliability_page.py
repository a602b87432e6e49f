"""Test that docs/reliability.md backs its promises with scenarios of the fault suite."""

import re
from itertools import takewhile

from tests.docs.documents import DOCS, rows
from tests.faults.catalog import SCENARIOS

PAGE = DOCS / "reliability.md"
ROWS = rows(PAGE)


def test_every_promise_names_the_scenarios_that_back_it() -> None:
    """Every promise names scenarios that exist."""
    names = {scenario.name for scenario in SCENARIOS}
    first_table = takewhile(lambda row: row[0] != "who", ROWS)
    promises = [row for row in first_table if row[0] != "guarantee"]
    assert len(promises) >= 8
    for _, backing in promises:
        named = set(re.findall(r"`([a-z0-9-]+)`", backing))
        assert named
        assert named <= names
