"""The table of the fault suite's results."""

import pytest

from tests.faults.installation import Again
from tests.faults.tally import Tally, print_table


def test_a_scenario_has_a_row_and_holds_within_its_limit(capsys: pytest.CaptureFixture[str]) -> None:
    """Each scenario has a row. The limit on the time to the next claim excludes waits for a processor."""
    times = [Again(1.2, 0.5), Again(5.0, 1.5)]
    print_table(
        [
            Tally("fine", times=2, games=9, again=times, max_seconds=4.0),
            Tally("late", times=2, again=times, max_seconds=3.0),
        ],
        "",
    )
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    fine, late = (row for row in rows if row and row[0] in {"fine", "late"})
    assert fine == ["fine", "2", "0", "9", *["0"] * 6, "3.1/5.0", "2.1/3.5", "4", "yes"]
    assert late[-2:] == ["3", "NO"]
