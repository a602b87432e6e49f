"""How many bots may run at a time, and how much of the cores each gets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.play.launcher import HostTooSmall
from arena.play.launcher.slots import SlotPool
from arena.protocol.match import Limits

PLENTY = 1 << 30
"""Memory in MiB."""


@pytest.mark.parametrize(
    ("cores", "size", "share"),
    [(1, 5, 0.2), (2, 5, 0.4), (3, 7, 0.4), (4, 10, 0.4), (64, 160, 0.4)],
)
def test_slots_of_a_host(cores: int, size: int, share: float) -> None:
    """A table of five fits on any host; on a single core each of its bots gets less."""
    pool = SlotPool.for_host(cores, PLENTY, Limits())
    assert (pool.size, pool.share) == (size, share)


@given(cores=st.integers(1, 512), cpus=st.sampled_from([0.05, 0.1, 0.25, 0.3, 0.4, 0.5, 1.0, 2.0]))
def test_shares_never_exceed_the_cores(cores: int, cpus: float) -> None:
    """Whatever the host and the share: all seats together get no more than there is, and five of them fit."""
    pool = SlotPool.for_host(cores, PLENTY, Limits(cpus=cpus))
    assert pool.size * pool.share <= cores + 1e-6
    assert pool.size >= 5
    assert 0 < pool.share <= cpus


@given(cores=st.integers(1, 512), memory=st.integers(0, 1 << 20))
def test_slots_fit_into_the_memory(cores: int, memory: int) -> None:
    """What all slots may use, and one more, is there beside a reserve; or no table can be seated."""
    if memory < 6 * 256 + 384:
        with pytest.raises(HostTooSmall, match=f"1920 MiB of memory; this one has {memory} MiB"):
            SlotPool.for_host(cores, memory, Limits())
    else:
        pool = SlotPool.for_host(cores, memory, Limits())
        assert pool.size >= 5
        assert (pool.size + 1) * 256 + 384 <= memory


def test_fewer_slots_are_used_while_the_host_has_other_work() -> None:
    """What is taken stays so; one table always fits, and none where nothing is used."""
    pool = SlotPool(10, 0.4)
    first = pool.take(5)
    assert first is not None
    pool.use(7)
    assert (pool.take(3), pool.take(2)) == (None, (5, 6))
    pool.use(1)
    assert pool.take(1) is None
    pool.give_back(first)
    assert pool.take(1) is None
    pool.give_back((5, 6))
    assert pool.take(5) == first
    pool.give_back(first)
    pool.use(0)
    assert pool.take(2) is None
    pool.use(10)
    assert pool.take(10) is not None


@given(st.lists(st.integers(1, 5), max_size=20))
def test_a_slot_is_taken_once(wanted: list[int]) -> None:
    """Slots in use are all different, and no more than there are; given back, they can be taken again."""
    pool = SlotPool(7, 0.4)
    taken = [slots for count in wanted if (slots := pool.take(count)) is not None]
    used = [slot for slots in taken for slot in slots]
    assert len(set(used)) == len(used) <= 7
    for slots in taken:
        pool.give_back(slots)
    assert pool.take(7) == tuple(range(7))
    assert pool.take(1) is None


def test_a_match_that_was_given_is_played_though_fewer_slots_are_used_by_now() -> None:
    """The host had room when it was given the match; it became busy while that was on its way."""
    slots = SlotPool(5, 0.4)
    assert slots.take(2) == (0, 1)
    slots.use(0)
    assert slots.take(2) is None
    assert slots.take(2, promised=True) == (2, 3)
    assert slots.take(2, promised=True) is None
