"""The sweeper removes what matches have left behind, while the arena is running."""

from pathlib import Path

import pytest

from arena.play.launcher.slots import sweeper
from arena.sandbox.runtime import RuntimeFailure
from tests.patience import wait_until
from tests.play.launcher import programs
from tests.play.launcher.conftest import Hall
from tests.sandbox.stage import FOREVER, listening, spec_for


@pytest.mark.docker
def test_strays_are_removed_and_a_match_in_progress_is_not(docker_hall: Hall) -> None:
    """A sandbox that belongs to no match is removed; those of a match in progress aren't touched."""
    stage = docker_hall.stage
    with listening(slot=4) as (folder, _):
        # Launch the sandbox before the sweeper starts, which could otherwise remove it during the launch.
        sandbox = stage.runtime.launch(spec_for(stage, stage.source(FOREVER), folder, slot=4))
        with sweeper(stage.runtime, stage.install, docker_hall.launcher.owns, seconds=0.05):
            record = docker_hall.play(programs.GOOD, programs.GOOD)
            wait_until(lambda: not stage.leftovers(), "the sweep")
        with pytest.raises(RuntimeFailure, match="not by the arena"):
            sandbox.wait()
    assert [seat.trouble for seat in record.seats] == [None, None]
    assert all(
        decision is None or decision.fault is None for step in record.games[0].steps for decision in step
    )


def test_home_folders_of_processes_are_distinguished(process_hall: Hall) -> None:
    """A sweep removes the home folder of a stray process and keeps that of a spared one."""
    stage = process_hall.stage
    with listening() as (folder, _):
        spared, stray = (spec_for(stage, stage.source(FOREVER), folder) for _ in range(2))
        sandboxes = [stage.runtime.launch(spec) for spec in (spared, stray)]
        try:
            assert stage.runtime.sweep(stage.install, lambda name: name == spared.name) == 1
            homes = {Path(left).name for left in stage.leftovers() if left.startswith("kaiten.")}
            assert [spared.name in home for home in homes] == [True]
        finally:
            for sandbox in sandboxes:
                sandbox.remove()
