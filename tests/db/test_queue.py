"""Tests of the match queue and the quarantine."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from arena.db.audit import NewAuditEntry
from arena.db.errors import BotDisqualified, NoSuchMatch, VersionGone, WrongState
from arena.db.matches import Claim, ClaimedSeat, NewMatch
from arena.db.store import Store
from arena.play.replay.document import parse
from arena.protocol.match import MatchSpec, RuntimeName
from arena.protocol.states import MatchKind, MatchState
from arena.protocol.status import QuarantineEntry, Seated
from tests.db.builders import (
    START,
    add_bot,
    add_matches,
    claim_one,
    claimed,
    finished,
    new_match,
    next_claim,
    next_match,
    put_aside,
    run_sql,
    waiting_and_running,
)
from tests.db.test_cost import statements
from tests.db.test_submissions import submit
from tests.kinds import on_both


def test_a_match_is_queued_before_it_is_played(store: Store) -> None:
    """A claim of a queued match returns everything needed to play it."""
    greedy = add_bot(store, "greedy", source="sha256:aa", author="house")
    random_ = add_bot(store, "random", source="sha256:bb")
    wanted = replace(new_match("s7-0", [greedy, random_]), seatings=((1, 0), (0, 1)))
    store.queue.add(wanted)
    store.queue.add(new_match("s7-1", [random_, greedy]))
    assert waiting_and_running(store) == (2, 0)

    claim = next_claim(store)

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
            seatings=((1, 0), (0, 1)),
        ),
        seats=(
            ClaimedSeat(version=greedy, bot="greedy", number=1, author="house"),
            ClaimedSeat(version=random_, bot="random", number=1, author="ann"),
        ),
        rated=True,
    )
    assert waiting_and_running(store) == (1, 1)


def test_a_house_bot_whose_source_is_gone_is_neither_drawn_nor_claimed(store: Store) -> None:
    """The bot's matches wait until its source is available again. Others are claimed meanwhile."""
    pairs = (("greedy", "house"), ("mine", "ann"), ("yours", "ben"))
    house, ann, ben = (add_bot(store, name, author=author) for name, author in pairs)
    store.queue.add(new_match("with", [house, ann]))
    store.queue.add(new_match("without", [ann, ben]))
    store.bots.record_house_versions(gone=[house], back=[], at=START)
    assert [each.available for each in store.bots.house_versions()] == [False]
    assert {each.bot for each in store.ratings.candidates()} == {"mine", "yours"}
    assert store.queue.waiting(RuntimeName.DOCKER) == 1
    assert next_match(store) == "without"
    assert next_match(store) is None
    store.bots.record_house_versions(gone=[], back=[house], at=START)
    assert {each.bot for each in store.ratings.candidates()} == {"greedy", "mine", "yours"}
    assert next_match(store) == "with"


def test_restarts_do_not_lead_to_quarantine(store: Store) -> None:
    """A restart is not a void. After many restarts, one void only requeues the match."""
    claim = claimed(store, [add_bot(store, name) for name in ("a", "b")])
    for _ in range(5):
        store.leases.release("here")
        claim = claim_one(store)
    assert claim.spec.attempt == 6
    assert store.leases.record_void(claim.spec.match, 6, "engine gone", START) is MatchState.WAITING


def test_the_third_void_quarantines_a_match(store: Store) -> None:
    """After each earlier void the match is played again with other deals."""
    first = claimed(store, [add_bot(store, name) for name in ("a", "b")])
    states = [store.leases.record_void(first.spec.match, 1, "engine gone", START)]
    for attempt in (2, 3):
        again = claim_one(store)
        assert again.spec == replace(first.spec, attempt=attempt, seeds=again.spec.seeds)
        assert set(again.spec.seeds).isdisjoint(first.spec.seeds)
        states.append(store.leases.record_void(again.spec.match, attempt, "out of disk \0\ud800", START))
    assert states == [MatchState.WAITING, MatchState.WAITING, MatchState.QUARANTINED]
    assert next_claim(store) is None
    assert waiting_and_running(store) == (0, 0)


def test_a_stale_attempt_voids_nothing(store: Store) -> None:
    """Only the current attempt can void a match, and only while the match is running."""
    claim = claimed(store, [add_bot(store, name) for name in ("a", "b")])
    assert store.leases.record_void(claim.spec.match, 2, "engine gone", START) is None
    assert store.leases.record_void("another", 1, "engine gone", START) is None
    assert store.results.record(finished(claim, [(1, 2)]))
    assert store.leases.record_void(claim.spec.match, 1, "engine gone", START) is None


def test_a_match_of_unknown_versions_is_refused(store: Store) -> None:
    """A match of unknown versions is refused, and nothing is stored."""
    version = add_bot(store, "a")
    with pytest.raises(ValueError, match="unknown versions"):
        add_matches(store, "s", [version, version + 1])
    assert waiting_and_running(store) == (0, 0)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda good: replace(good, seeds=()), "no deals"),
        (lambda good: replace(good, seeds=("1" * 32, "1" * 32)), "repeats a deal"),
        (lambda good: replace(good, bots=(1, 1)), "different versions"),
        (lambda good: replace(good, bots=(1, 2, 3)), "a table of 2"),
        (lambda good: replace(good, seatings=((0, 1),)), "2 deals need 2 seatings"),
        (lambda good: replace(good, seatings=((0, 1), (1, 1))), "in one seat"),
    ],
)
def test_an_invalid_match_is_refused(change: Callable[[NewMatch], NewMatch], text: str) -> None:
    """The error says what is wrong with the match."""
    with pytest.raises(ValueError, match=text):
        change(new_match("s", [1, 2]))


@on_both
def test_no_deal_is_dealt_twice(store: Store) -> None:
    """Neither two rated matches nor two attempts of one share a deal. The database enforces this."""
    versions = [add_bot(store, name) for name in ("a", "b")]
    add_matches(store, "s", versions, deals=6)
    seeds: list[str] = []
    for attempt in (1, 2):
        claims = [claim_one(store) for _ in range(2)]
        for claim in claims:
            assert claim.spec.attempt == attempt
            assert [len(bytes.fromhex(seed)) for seed in claim.spec.seeds] == [16] * 6
            seeds += claim.spec.seeds
        if attempt == 1:
            store.leases.release("here")
    assert len(set(seeds)) == len(seeds) == 24
    assert store.results.record(finished(claims[0], [(1, 2)] * 6))
    played = [page.replay for game in store.games.newest() if (page := store.games.find(game.game))]
    assert {parse(replay).seed for replay in played} == set(seeds[12:18])


def test_a_match_is_claimed_once(store: Store) -> None:
    """Concurrent claims return different matches, and all matches are claimed."""
    versions = [add_bot(store, name) for name in "abcde"]
    ids = {match for id_ in ("s", "t") for match in add_matches(store, id_, versions)}
    with ThreadPoolExecutor(4) as pool:
        claims = list(pool.map(lambda _: next_claim(store), range(12)))
    got = [claim.spec.match for claim in claims if claim]
    assert sorted(got) == sorted(ids)


NOW = START + timedelta(hours=1)
ENTRY = NewAuditEntry(at=NOW, who="terminal:root", what="release", subject="match:s-0")


@pytest.fixture
def versions(store: Store) -> tuple[int, int]:
    """Return new versions of two bots."""
    return add_bot(store, "mine", source="sha256:a"), add_bot(store, "other", source="sha256:b")


@on_both
def test_quarantined_matches_are_listed(store: Store, versions: tuple[int, int]) -> None:
    """The list is newest first, with seats, reason and time. Qualification matches are included."""
    assert store.queue.quarantined() == ()
    add_matches(store, "s", versions, matches=1)
    put_aside(store, minute=1)
    submit(store, versions[1], None, bot="third")
    put_aside(store, minute=2)
    first = QuarantineEntry(
        match="s-0",
        kind=MatchKind.RATED,
        seats=(Seated(bot="mine", version=1), Seated(bot="other", version=1)),
        attempts=3,
        reason="no engine",
        since=START + timedelta(minutes=1),
    )
    second = QuarantineEntry(
        match="q-0",
        kind=MatchKind.QUALIFICATION,
        seats=(Seated(bot="other", version=1), Seated(bot="third", version=None)),
        attempts=3,
        reason="no engine",
        since=START + timedelta(minutes=2),
    )
    with statements() as sent:
        assert store.queue.quarantined() == (second, first)
    assert len([each for each, _ in sent if each.startswith("SELECT")]) == 2  # however many matches there are
    assert store.queue.quarantined(1) == (second,)


@on_both
def test_a_released_match_waits_again_as_a_new_one_does(store: Store, versions: tuple[int, int]) -> None:
    """A released match may be voided twice more. Attempts keep counting, so stale results are dropped."""
    add_matches(store, "s", versions, matches=1)
    first = claim_one(store)
    store.leases.record_void("s-0", 1, "no engine", START)
    for attempt in (2, 3):
        claim_one(store)
        store.leases.record_void("s-0", attempt, "no engine", START)
    store.queue.release("s-0", ENTRY)
    assert (len(store.queue.quarantined()), store.activity.totals().matches_waiting) == (0, 1)
    assert [candidate.queued[2] for candidate in store.ratings.candidates()] == [2, 2]
    assert [entry.subject for entry in store.accounts.audit(9)] == ["match:s-0"]
    for attempt in (4, 5):
        assert claim_one(store).spec.attempt == attempt
        store.leases.record_void("s-0", attempt, "no engine", START)
    assert store.queue.quarantined() == ()
    again = claim_one(store)
    assert again.spec.attempt == 6
    assert not store.results.record(finished(first, [(1, 2)]))
    assert store.results.record(finished(again, [(1, 2)]))
    assert store.activity.totals().games == 1


def test_a_released_match_can_be_quarantined_again(store: Store, versions: tuple[int, int]) -> None:
    """Three more voids quarantine a released match again, with the time of the last one."""
    add_matches(store, "s", versions, matches=1)
    put_aside(store, minute=1)
    store.queue.release("s-0", ENTRY)
    put_aside(store, minute=5)
    (again,) = store.queue.quarantined()
    assert (again.attempts, again.since) == (6, START + timedelta(minutes=5))


def test_only_quarantined_matches_can_be_released(store: Store, versions: tuple[int, int]) -> None:
    """The error for any other match gives its state. Nothing is recorded."""
    with pytest.raises(NoSuchMatch, match="no match has the id s-0"):
        store.queue.release("s-0", ENTRY)
    running = claimed(store, versions)
    with pytest.raises(WrongState, match="match s-0 is running, not quarantined"):
        store.queue.release("s-0", ENTRY)
    store.results.record(finished(running, [(1, 2)]))
    with pytest.raises(WrongState, match="match s-0 is done"):
        store.queue.release("s-0", ENTRY)
    assert store.accounts.audit(9) == ()


def test_a_qualification_is_not_released(store: Store, versions: tuple[int, int]) -> None:
    """A quarantined qualification match can't be released. Its submission gets another match instead."""
    submit(store, versions[1], None, bot="third")
    put_aside(store)
    with pytest.raises(WrongState, match="q-0 is part of a qualification, which gets another match"):
        store.queue.release("q-0", ENTRY)
    assert len(store.queue.quarantined()) == 1


@on_both
def test_a_match_that_can_not_be_played_is_not_released(store: Store, versions: tuple[int, int]) -> None:
    """A match whose bot is disqualified or has no image can be released only when that has changed."""
    add_matches(store, "s", versions, matches=1)
    put_aside(store)
    store.bot_states.disqualify("other", "it is a twin", NOW, ENTRY)
    assert len(store.queue.quarantined()) == 1
    with pytest.raises(BotDisqualified, match=r"other was disqualified: it is a twin"):
        store.queue.release("s-0", ENTRY)
    store.bot_states.reinstate("other", NOW, ENTRY)
    store.bots.record_missing_images({"sha256:a"}, NOW)
    with pytest.raises(VersionGone, match="the image of other@1 was removed on 2026-03-01"):
        store.queue.release("s-0", ENTRY)
    add_bot(store, "other", source="sha256:c")
    add_bot(store, "other", source="sha256:b")
    store.queue.release("s-0", ENTRY)
    assert claim_one(store).spec.match == "s-0"


@on_both
@pytest.mark.parametrize("interrupt", ["loss", "void", "release", "expire"])
def test_a_match_of_a_disqualified_bot_is_not_played_again(
    store: Store, url: str, versions: tuple[int, int], interrupt: str
) -> None:
    """If it is interrupted, it is deleted."""
    third = add_bot(store, "third")
    add_matches(store, "s", versions, matches=1)
    add_matches(store, "t", (versions[0], third), matches=1)
    claim = claim_one(store)
    store.bot_states.disqualify("other", "it is a twin", NOW, ENTRY)
    match interrupt:
        case "loss":
            store.leases.record_loss("s-0", claim.spec.attempt, "why", NOW)
        case "void":
            store.leases.record_void("s-0", claim.spec.attempt, "why", NOW)
        case "release":
            store.leases.release("here")
        case _:
            run_sql(url, "UPDATE match SET leased_until = 0 WHERE id = 's-0'")
    store.leases.expire(NOW)
    assert waiting_and_running(store) == (1, 0)
    assert claim_one(store).spec.match == "t-0"
    assert not store.results.record(finished(claim, [(1, 2)]))


def test_a_match_drawn_before_a_disqualification_is_not_queued(
    store: Store, versions: tuple[int, int]
) -> None:
    """The ladder may draw a table while a bot on it is being disqualified."""
    store.bot_states.disqualify("other", "it is a twin", NOW, ENTRY)
    add_matches(store, "s", versions, matches=1)
    assert waiting_and_running(store) == (0, 0)


@on_both
def test_versions_rest_after_their_matches_were_quarantined(store: Store, versions: tuple[int, int]) -> None:
    """The rest doubles with each match since the last rated game. A release ends it, as does a day."""
    add_bot(store, "third")

    def resting(minute: float) -> set[str]:
        at = START + timedelta(minutes=minute)
        drawn = {each.bot for each in store.ratings.candidates(rested_at=at)}
        return {each.bot for each in store.ratings.candidates()} - drawn

    both, second = {"mine", "other"}, 1 / 60
    for id_, minute in (("s", 10), ("t", 20)):
        add_matches(store, id_, versions, matches=1)
        put_aside(store, minute=minute)
    assert [resting(minute) for minute in (10, 11, 22 - second, 22)] == [both, set(), both, set()]
    store.queue.release("s-0", ENTRY)
    assert [resting(minute) for minute in (21 - second, 21)] == [both, set()]
    assert store.results.record(finished(claim_one(store), [(1, 2)] * 2, minute=30))
    for number, minute in enumerate(range(40, 60)):
        add_matches(store, f"u{number}", versions, matches=1)
        put_aside(store, minute=minute)
        if not number:
            assert [resting(each) for each in (41 - second, 41)] == [both, set()]
    day = 24 * 60
    assert [resting(minute) for minute in (40 + day, 59 + day)] == [both, set()]
