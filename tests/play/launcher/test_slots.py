"""Slots: their number and their share of the cores, and the removal of stray sandboxes and folders."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.play.launcher import HostTooSmall
from arena.play.launcher.slots import SlotPool, sweeper
from arena.protocol.match import Limits
from arena.sandbox.runtime import RuntimeFailure
from tests.patience import wait_until
from tests.play.launcher import programs
from tests.play.launcher.conftest import Hall
from tests.sandbox.stage import FOREVER, listening, spec_for

PLENTY = 1 << 30
"""Enough memory for any number of slots, in MiB."""


@pytest.mark.parametrize(
    ("cores", "size", "share"),
    [(1, 5, 0.2), (2, 5, 0.4), (3, 7, 0.4), (4, 10, 0.4), (64, 160, 0.4)],
)
def test_slots_of_a_host(cores: int, size: int, share: float) -> None:
    """A table of five fits on any host; on a single core each bot's share is smaller."""
    pool = SlotPool.for_host(cores, PLENTY, Limits())
    assert (pool.size, pool.share) == (size, share)


@given(cores=st.integers(1, 512), cpus=st.sampled_from([0.05, 0.1, 0.25, 0.3, 0.4, 0.5, 1.0, 2.0]))
def test_shares_never_exceed_the_cores(cores: int, cpus: float) -> None:
    """On any host and with any share, all slots together use at most the host's cores, and five slots fit."""
    pool = SlotPool.for_host(cores, PLENTY, Limits(cpus=cpus))
    assert pool.size * pool.share <= cores + 1e-6
    assert pool.size >= 5
    assert 0 < pool.share <= cpus


@given(cores=st.integers(1, 512), memory=st.integers(0, 1 << 20))
def test_slots_fit_into_the_memory(cores: int, memory: int) -> None:
    """The memory suffices for all slots, one more and a reserve; a host too small for a table is refused."""
    if memory < 6 * 256 + 384:
        with pytest.raises(HostTooSmall, match=f"1920 MiB of memory; this one has {memory} MiB"):
            SlotPool.for_host(cores, memory, Limits())
    else:
        pool = SlotPool.for_host(cores, memory, Limits())
        assert pool.size >= 5
        assert (pool.size + 1) * 256 + 384 <= memory


def test_fewer_slots_are_used_while_the_host_has_other_work() -> None:
    """Slots in use aren't withdrawn. With a limit above 0 one table always fits; with 0 none does."""
    pool = SlotPool(10, 0.4)
    first = pool.reserve(5)
    assert first is not None
    pool.usable = 7
    assert (pool.reserve(3), pool.reserve(2)) == (None, (5, 6))
    pool.usable = 1
    assert pool.reserve(1) is None
    pool.release(first)
    assert pool.reserve(1) is None
    pool.release((5, 6))
    assert pool.reserve(5) == first
    pool.release(first)
    pool.usable = 0
    assert pool.reserve(2) is None
    pool.usable = 10
    assert pool.reserve(10) is not None


@given(st.lists(st.integers(1, 5), max_size=20))
def test_a_slot_is_taken_once(wanted: list[int]) -> None:
    """No slot is in use twice; slots that are given back can be taken again."""
    pool = SlotPool(7, 0.4)
    taken = [slots for count in wanted if (slots := pool.reserve(count)) is not None]
    used = [slot for slots in taken for slot in slots]
    assert len(set(used)) == len(used) <= 7
    for slots in taken:
        pool.release(slots)
    assert pool.reserve(7) == tuple(range(7))
    assert pool.reserve(1) is None


def test_a_kept_slot_is_free_once_its_sandbox_is_gone() -> None:
    """It stays in use after its release."""
    pool = SlotPool(5, 0.4, first=10)
    first, second = pool.reserve(2), pool.reserve(2)
    assert first == (10, 11)
    assert second == (12, 13)
    pool.keep(10, "a")
    pool.keep(12, "b")
    assert pool.unswept() == {}
    pool.release(first)
    pool.release(second)
    assert pool.unswept() == {10: "a", 12: "b"}
    assert (pool.busy, pool.reserved) == (2, 0)
    assert pool.reserve(4) is None
    pool.free_swept([12])
    assert (pool.busy, pool.unswept()) == (1, {10: "a"})
    assert pool.reserve(4) == (11, 12, 13, 14)


def test_a_kept_slot_does_not_count_as_a_match() -> None:
    """A match that needs more slots than are usable can start if the others in use are only kept ones."""
    pool = SlotPool(10, 0.4)
    slots = pool.reserve(1)
    assert slots is not None
    pool.keep(slots[0], "sandbox")
    pool.release(slots)
    pool.usable = 3
    assert pool.reserve(5) is not None


def test_a_promised_match_is_played_even_if_fewer_slots_are_usable_by_then() -> None:
    """A match is played if its host had room when it was assigned, even if the host has since become busy."""
    slots = SlotPool(5, 0.4)
    assert slots.reserve(2) == (0, 1)
    slots.usable = 0
    assert slots.reserve(2) is None
    assert slots.reserve(2, already_sent=True) == (2, 3)
    assert slots.reserve(2, already_sent=True) is None


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
