"""docs/reliability.md names what there is, and backs what it promises."""

import re
from itertools import takewhile

from arena.platform.environment import FAILPOINTS
from tests.docs.documents import DOCS, rows
from tests.faults.catalog import SCENARIOS

PAGE = DOCS / "reliability.md"
ROWS = rows(PAGE)


def test_every_failpoint_is_listed_in_order_and_nothing_else() -> None:
    """With the words of the code."""
    listed = [tuple(row) for row in ROWS if len(row) == 2 and row[0].strip("`") in FAILPOINTS]
    assert listed == [(f"`{name}`", what) for name, what in FAILPOINTS.items()]


def test_every_scenario_has_its_figures() -> None:
    """Each has one line, and nothing was lost, doubled or blamed in any of them."""
    lines = {row[0].strip("`"): row for row in ROWS if len(row) == 9 and row[0] != "scenario"}
    assert lines.keys() == {scenario.name for scenario in SCENARIOS}
    assert all(row[4:7] == ["0", "0", "0"] for row in lines.values())


def test_every_promise_names_the_scenarios_that_back_it() -> None:
    """And these are there."""
    names = {scenario.name for scenario in SCENARIOS}
    first_table = takewhile(lambda row: row[0] != "who", ROWS)
    promises = [row for row in first_table if row[0] != "promise"]
    assert len(promises) >= 8
    for _, backing in promises:
        named = set(re.findall(r"`([a-z0-9-]+)`", backing))
        assert named
        assert named <= names
