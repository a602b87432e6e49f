"""Test of matches on a cluster whose members are killed."""

import pytest

from tests.scheduler.cluster.runs import cluster_run
from tests.soak import many


@pytest.mark.timeout(many(600, 3600))
def test_matches_survive_killed_workers_and_a_killed_scheduler() -> None:
    """Every match has one result, the ratings equal those of a rebuild, and no bot has a fault."""
    matches, kills, workers = many(8, 500), many(1, 20), many(2, 3)
    figures = cluster_run(matches=matches, kills=kills, scheduler_kills=1, workers=workers)
    assert (figures.kills, figures.scheduler_kills) == (kills, 1)
    assert figures.played == matches
    assert figures.missing == figures.doubled == figures.differing == 0
    assert figures.quarantined == figures.voided == figures.faults == 0
    assert figures.lost > 0
    assert len(figures.given) == workers
