"""Matches on a cluster whose members are killed: none is lost, none is counted twice, nobody is blamed."""

from tests.scheduler.cluster.runs import cluster_run


def test_matches_survive_killed_workers_and_a_killed_scheduler() -> None:
    """Every match has one result, ratings are those of a rebuild, and no bot pays for it."""
    figures = cluster_run(matches=36, kills=5, scheduler_kills=1)
    assert (figures.kills, figures.scheduler_kills) == (5, 1)
    assert figures.played == 36
    assert figures.missing == figures.doubled == figures.differing == 0
    assert figures.quarantined == figures.voided == figures.faults == 0
    assert figures.lost > 0
    assert len(figures.players) == 3
