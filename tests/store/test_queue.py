"""The queue of matches."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from arena.match import MatchSpec, RuntimeName
from arena.store import Claim, ClaimedSeat, MatchState, NewSet, Store
from tests.store.builders import START, add_bot, claimed, finished, new_set


def waiting_and_running(store: Store) -> tuple[int, int]:
    """Count the matches that are open."""
    totals = store.reads.totals()
    return totals.matches_waiting, totals.matches_running


def test_a_match_is_there_before_it_is_played(store: Store) -> None:
    """A set's matches wait in the queue, and a claim gives all that is needed to play one."""
    greedy = add_bot(store, "greedy", source="sha256:aa", author="house")
    random_ = add_bot(store, "random", source="sha256:bb")
    wanted = new_set("s7", [greedy, random_])
    assert store.writes.add_set(wanted) == ("s7-0", "s7-1")
    assert waiting_and_running(store) == (2, 0)

    claim = store.leases.claim("here", "worker", START, RuntimeName.DOCKER)

    assert claim == Claim(
        spec=MatchSpec(
            match="s7-0",
            attempt=1,
            rules=wanted.rules,
            seeds=wanted.seeds,
            seats=("sha256:aa", "sha256:bb"),
            clock=wanted.clock,
            limits=wanted.limits,
            runtime=RuntimeName.DOCKER,
        ),
        seats=(
            ClaimedSeat(version=greedy, bot="greedy", number=1, author="house"),
            ClaimedSeat(version=random_, bot="random", number=1, author="ann"),
        ),
        rated=True,
    )
    assert waiting_and_running(store) == (1, 1)


def test_claims_come_oldest_first(store: Store) -> None:
    """Sets in the order of their making, matches in that of their set; then nothing waits."""
    versions = [add_bot(store, name) for name in ("a", "b")]
    for id_ in ("z", "y"):
        store.writes.add_set(new_set(id_, versions))
    claims = [store.leases.claim("here", "worker", START, RuntimeName.DOCKER) for _ in range(5)]
    assert [claim and claim.spec.match for claim in claims] == ["z-0", "z-1", "y-0", "y-1", None]


def test_a_released_match_is_claimed_anew(store: Store) -> None:
    """After a crash what ran waits again; the next claim has a higher attempt, the old one is stale."""
    old = claimed(store, [add_bot(store, name) for name in ("a", "b")])
    assert store.leases.release("here") == 1
    new = store.leases.claim("here", "worker", START + timedelta(hours=1), RuntimeName.DOCKER)
    assert new is not None
    assert (new.spec.match, new.spec.attempt) == (old.spec.match, 2)
    assert not store.writes.record(finished(old, [(1, 2)]))
    assert store.reads.totals().games == 0
    assert store.writes.record(finished(new, [(1, 2)]))


def test_restarts_lead_nowhere_near_quarantine(store: Store) -> None:
    """Being released is no fault of the match: after many restarts one fault only makes it wait again."""
    claim = claimed(store, [add_bot(store, name) for name in ("a", "b")])
    for _ in range(5):
        store.leases.release("here")
        again = store.leases.claim("here", "worker", START, RuntimeName.DOCKER)
        assert again is not None
        claim = again
    assert claim.spec.attempt == 6
    assert store.leases.void(claim.spec.match, 6, "engine gone", START) is MatchState.WAITING


def test_the_third_fault_of_the_arena_is_quarantine(store: Store) -> None:
    """A voided match is played again with the same deals; the third time it is put aside."""
    first = claimed(store, [add_bot(store, name) for name in ("a", "b")])
    states = [store.leases.void(first.spec.match, 1, "engine gone", START)]
    for attempt in (2, 3):
        again = store.leases.claim("here", "worker", START, RuntimeName.DOCKER)
        assert again is not None
        assert again.spec == replace(first.spec, attempt=attempt)
        states.append(store.leases.void(again.spec.match, attempt, "out of disk \0\ud800", START))
    assert states == [MatchState.WAITING, MatchState.WAITING, MatchState.QUARANTINED]
    assert store.leases.claim("here", "worker", START, RuntimeName.DOCKER) is None
    assert waiting_and_running(store) == (0, 0)


def test_a_stale_attempt_voids_nothing(store: Store) -> None:
    """Only the current claim can void a match, and only while it runs."""
    claim = claimed(store, [add_bot(store, name) for name in ("a", "b")])
    assert store.leases.void(claim.spec.match, 2, "engine gone", START) is None
    assert store.leases.void("another", 1, "engine gone", START) is None
    assert store.writes.record(finished(claim, [(1, 2)]))
    assert store.leases.void(claim.spec.match, 1, "engine gone", START) is None


def test_a_set_of_unknown_versions_is_refused(store: Store) -> None:
    """Nothing of it is written."""
    version = add_bot(store, "a")
    with pytest.raises(ValueError, match="no versions"):
        store.writes.add_set(new_set("s", [version, version + 1]))
    assert waiting_and_running(store) == (0, 0)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda good: replace(good, seeds=()), "0 deals"),
        (lambda good: replace(good, seatings=()), "0 matches"),
        (lambda good: replace(good, seeds=("1" * 32, "1" * 32)), "a deal twice"),
        (lambda good: replace(good, seatings=((1, 1),)), "different versions"),
        (lambda good: replace(good, seatings=((1, 2, 3),)), "a table of 2"),
    ],
)
def test_a_set_that_makes_no_sense_can_not_be_made(change: Callable[[NewSet], NewSet], text: str) -> None:
    """The error says what is wrong with it."""
    with pytest.raises(ValueError, match=text):
        change(new_set("s", [1, 2]))


def test_a_match_is_claimed_once(store: Store) -> None:
    """Several claimers at once get different matches, and all of them."""
    versions = [add_bot(store, name) for name in "abcde"]
    ids = {match for id_ in ("s", "t") for match in store.writes.add_set(new_set(id_, versions))}
    with ThreadPoolExecutor(4) as pool:
        claims = list(
            pool.map(lambda _: store.leases.claim("here", "worker", START, RuntimeName.DOCKER), range(12))
        )
    got = [claim.spec.match for claim in claims if claim]
    assert sorted(got) == sorted(ids)
