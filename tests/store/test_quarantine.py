"""Matches that were put aside, and let go again, on both kinds of database."""

from datetime import timedelta

import pytest

from arena.match import RuntimeName
from arena.store import (
    BotDisqualified,
    Claim,
    MatchKind,
    NewAuditEntry,
    NoSuchMatch,
    QuarantinedMatch,
    Store,
    VersionGone,
    WrongState,
)
from tests.store.builders import START, add_bot, claimed, finished, new_set
from tests.store.test_cost import statements
from tests.store.test_submissions import PLENTY, game, new, qualify

NOW = START + timedelta(hours=1)
ENTRY = NewAuditEntry(at=NOW, who="terminal:root", what="release", subject="match:s-0")


def claim(store: Store) -> Claim:
    """Claim the next match, which must be there."""
    taken = store.leases.claim("here", "worker", START, RuntimeName.DOCKER)
    assert taken is not None
    return taken


def put_aside(store: Store, *, minute: int = 1) -> str:
    """Let the match that is due fail three times, and return its id."""
    for _ in range(3):
        spec = claim(store).spec
        store.leases.void(spec.match, spec.attempt, "no engine", START + timedelta(minutes=minute))
    return spec.match


@pytest.fixture
def versions(store: Store) -> tuple[int, int]:
    """Give versions of two bots."""
    return add_bot(store, "mine", source="sha256:a"), add_bot(store, "other", source="sha256:b")


def test_what_was_put_aside_is_listed(store: Store, versions: tuple[int, int]) -> None:
    """The last one first, with who sits there, why and when; also a submission that is no version yet."""
    assert store.reads.quarantine() == ()
    store.writes.add_set(new_set("s", versions, matches=1))
    put_aside(store, minute=1)
    store.desk.add(new(bot="third"), PLENTY)
    qualify(store)
    store.desk.add_game(game("q", "u1", (versions[1], None)), played=0)
    put_aside(store, minute=2)
    first = QuarantinedMatch(
        match="s-0",
        kind=MatchKind.RATED,
        seats=(("mine", 1), ("other", 1)),
        attempts=3,
        reason="no engine",
        since=START + timedelta(minutes=1),
    )
    second = QuarantinedMatch(
        match="q-0",
        kind=MatchKind.QUALIFICATION,
        seats=(("other", 1), ("third", None)),
        attempts=3,
        reason="no engine",
        since=START + timedelta(minutes=2),
    )
    with statements() as sent:
        assert store.reads.quarantine() == (second, first)
    assert len([each for each, _ in sent if each.startswith("SELECT")]) == 2  # not one more for each match
    assert store.reads.quarantined() == 2


def test_a_released_match_waits_again_as_a_new_one_does(store: Store, versions: tuple[int, int]) -> None:
    """It may fail as often; its attempts go on, so no old result counts; and it is played and rated."""
    store.writes.add_set(new_set("s", versions, matches=1))
    first = claim(store)
    store.leases.void("s-0", 1, "no engine", START)
    for attempt in (2, 3):
        claim(store)
        store.leases.void("s-0", attempt, "no engine", START)
    store.writes.release("s-0", ENTRY)
    assert (store.reads.quarantined(), store.reads.totals().matches_waiting) == (0, 1)
    assert [candidate.queued[2] for candidate in store.reads.candidates()] == [2, 2]
    assert [entry.subject for entry in store.people.audit(9)] == ["match:s-0"]
    for attempt in (4, 5):
        assert claim(store).spec.attempt == attempt
        store.leases.void("s-0", attempt, "no engine", START)
    assert store.reads.quarantined() == 0
    again = claim(store)
    assert again.spec.attempt == 6
    assert not store.writes.record(finished(first, [(1, 2)]))
    assert store.writes.record(finished(again, [(1, 2)]))
    assert store.reads.totals().games == 1


def test_a_released_match_may_be_put_aside_again(store: Store, versions: tuple[int, int]) -> None:
    """After three more faults, with the newest reason and time."""
    store.writes.add_set(new_set("s", versions, matches=1))
    put_aside(store, minute=1)
    store.writes.release("s-0", ENTRY)
    put_aside(store, minute=5)
    (again,) = store.reads.quarantine()
    assert (again.attempts, again.since) == (6, START + timedelta(minutes=5))


def test_only_what_was_put_aside_is_released(store: Store, versions: tuple[int, int]) -> None:
    """Others say where they are; nothing is written down."""
    with pytest.raises(NoSuchMatch, match="there is no match s-0"):
        store.writes.release("s-0", ENTRY)
    running = claimed(store, versions)
    with pytest.raises(WrongState, match="match s-0 is running: it was not put aside"):
        store.writes.release("s-0", ENTRY)
    store.writes.record(finished(running, [(1, 2)]))
    with pytest.raises(WrongState, match="match s-0 is done"):
        store.writes.release("s-0", ENTRY)
    assert store.people.audit(9) == ()


def test_a_qualification_is_not_released(store: Store, versions: tuple[int, int]) -> None:
    """Its submission plays another one; a fourth would be one too many."""
    store.desk.add(new(bot="third"), PLENTY)
    qualify(store)
    store.desk.add_game(game("q", "u1", (versions[1], None)), played=0)
    put_aside(store)
    with pytest.raises(WrongState, match="q-0 qualifies a submission, which is given another one by itself"):
        store.writes.release("q-0", ENTRY)
    assert store.reads.quarantined() == 1


def test_who_can_not_play_is_not_released(store: Store, versions: tuple[int, int]) -> None:
    """A bot that was disqualified, or whose image was removed; reinstated it can."""
    store.writes.add_set(new_set("s", versions, matches=1))
    put_aside(store)
    store.bots.disqualify("other", "it is a twin", NOW, ENTRY)
    assert store.reads.quarantined() == 1
    with pytest.raises(BotDisqualified, match=r"other was disqualified .* it is a twin"):
        store.writes.release("s-0", ENTRY)
    store.bots.reinstate("other", NOW, ENTRY)
    store.bots.note_gone({"sha256:a"}, NOW)
    with pytest.raises(VersionGone, match="the image of other@1 was removed on 2026-03-01"):
        store.writes.release("s-0", ENTRY)
    add_bot(store, "other", source="sha256:c")
    add_bot(store, "other", source="sha256:b")
    store.writes.release("s-0", ENTRY)
    assert claim(store).spec.match == "s-0"
