"""Tests of challenges in the store."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from arena.db.challenges import KnownChallenge, NewChallenge
from arena.db.credentials import KnownAccount
from arena.db.errors import QuotaReached, WrongState
from arena.db.quotas import AccountQuota
from arena.db.store import Store
from arena.play.replay.document import parse
from arena.protocol.match import RuntimeName
from arena.protocol.states import BotState, MatchState
from tests.db.builders import (
    ENTRY,
    START,
    add_account,
    add_bot,
    add_matches,
    bot_of,
    claim_one,
    claimed,
    finished,
    new_challenge,
    new_match,
    next_claim,
    present,
    put_aside,
)
from tests.kinds import on_both

NOW = START + timedelta(hours=1)
MANY = 99


def challenge(
    id_: str, account: KnownAccount, versions: Sequence[int], *, deals: int = 1, created: datetime = START
) -> NewChallenge:
    """Return a challenge by the first of these versions' bots."""
    new = new_challenge(id_, account.id, versions, deals=deals)
    return replace(new, matches=tuple(replace(match, created=created) for match in new.matches))


def play(store: Store, *, failing: int | None = None) -> list[str]:
    """Play all waiting matches, and return their ids. The seat ``failing`` is always taken over."""
    played = []
    while claim := next_claim(store):
        seats = range(len(claim.seats))
        faults = [3 if seat == failing else 0 for seat in seats]
        places = [tuple(seat + 1 for seat in seats)] * len(claim.spec.seeds)
        assert store.results.record(finished(claim, places, faults=faults))
        played.append(claim.spec.match)
    return played


def known(store: Store, id_: str) -> KnownChallenge:
    """Return an existing challenge."""
    return present(store.challenges.find(id_))


def test_a_challenge_is_played_once_on_every_seat(store: Store, ben: KnownAccount) -> None:
    """The state of each match can be followed. Its games are in order, with their replays."""
    mine, other = bot_of(store, "mine", ben), add_bot(store, "other", author="house")
    store.challenges.add(challenge("c", ben, (mine, other), deals=2), max_a_day=MANY)
    asked = known(store, "c")
    assert (asked.account, asked.bot, asked.version, asked.created) == (ben.id, "mine", 1, START)
    assert (asked.deals, asked.seats) == (2, (("mine", 1), ("other", 1)))
    assert (asked.states, asked.games) == ((MatchState.WAITING,) * 2, ())
    assert play(store) == ["c-0", "c-1"]
    played = known(store, "c")
    assert played.states == (MatchState.DONE,) * 2
    assert [game.game for game in played.games] == ["c-0-0", "c-0-1", "c-1-0", "c-1-1"]
    assert all('"bot":"other"' in game.replay for game in played.games)
    assert store.challenges.find("d") is None


def test_matches_are_played_in_turn_and_published_together(store: Store, ben: KnownAccount) -> None:
    """While one match runs, the next can't be claimed. No game is published before the last match is over."""
    mine, other = bot_of(store, "mine", ben), add_bot(store, "other", author="house")
    third = add_bot(store, "third", author="house")
    store.challenges.add(challenge("c", ben, (mine, other, third), deals=2), max_a_day=MANY)
    seeds = set()
    for number in range(3):
        assert known(store, "c").games == ()
        assert store.logs.find("c-0-0") is None
        running = claim_one(store)
        assert running.spec.match == f"c-{number}"
        seeds.add(running.spec.seeds)
        assert store.leases.claim("there", "worker", START, RuntimeName.DOCKER) is None
        assert store.queue.waiting(RuntimeName.DOCKER) == 0
        assert store.results.record(finished(running, [(1, 2, 3)] * 2))
    assert len(seeds) == 1
    assert len(known(store, "c").games) == 6
    assert store.logs.find("c-0-0") is not None


def test_challenges_change_no_rating_list_or_number(store: Store, ben: KnownAccount) -> None:
    """Neither waiting nor finished challenges affect ratings, lists or totals, or bench a bot."""
    mine, other = bot_of(store, "mine", ben), add_bot(store, "other", author="house")
    before = (store.ratings.standings(), store.ratings.candidates(), store.bots.versions("mine"))
    for number in range(3):
        store.challenges.add(challenge(f"c{number}", ben, (mine, other), deals=2), max_a_day=MANY)
    assert (store.ratings.standings(), store.ratings.candidates(), store.bots.versions("mine")) == before
    for seat in (0, 1):
        play(store, failing=seat)
    assert (store.ratings.standings(), store.ratings.candidates(), store.bots.versions("mine")) == before
    found = present(store.bots.find("mine"))
    assert found.state is BotState.ACTIVE
    assert (store.games.newest(), store.games.find("c0-0-0"), store.activity.totals().games) == ((), None, 0)
    assert (store.ladder.rebuild().events, store.ladder.rebuild().differing) == (2, 0)
    assert store.results.record(finished(claimed(store, (mine, other), deals=1), [(1, 2)]))
    assert [game.number for game in store.games.newest()] == [1]


def test_challenges_take_their_turn(store: Store, ben: KnownAccount) -> None:
    """Challenges come after matches drawn earlier and before later ones. New bots' matches come first."""
    mine, other = bot_of(store, "mine", ben), add_bot(store, "other", author="house")
    add_matches(store, "before", (mine, other), matches=1)
    store.challenges.add(challenge("c", ben, (mine, other)), max_a_day=MANY)
    add_matches(store, "after", (mine, other), matches=1)
    store.queue.add(replace(new_match("new", (mine, other)), soon=True))
    assert play(store) == ["new", "before-0", "c-0", "c-1", "after-0"]


@on_both
def test_an_accounts_newest_challenges_come_first(store: Store, ben: KnownAccount) -> None:
    """An account's list has only its own challenges, newest first, in pages."""
    ann = add_account(store, "ann")
    mine, other = bot_of(store, "mine", ben), bot_of(store, "other", ann)
    for number in range(3):
        store.challenges.add(challenge(f"c{number}", ben, (mine, other)), max_a_day=MANY)
    store.challenges.add(challenge("d", ann, (other, mine)), max_a_day=MANY)
    newest = store.challenges.newest(ben.id, limit=2)
    assert [each.id for each in newest] == ["c2", "c1"]
    assert [each.id for each in store.challenges.newest(ben.id, before=newest[-1].number)] == ["c0"]
    assert [(each.id, each.bot) for each in store.challenges.newest(ann.id)] == [("d", "other")]


@on_both
def test_challenges_have_a_quota(store: Store, ben: KnownAccount) -> None:
    """Each account has its own quota per day: the arena's, unless an operator has changed it."""
    ann = add_account(store, "ann")
    mine, other = bot_of(store, "mine", ben), bot_of(store, "other", ann)
    for number in range(2):
        store.challenges.add(challenge(f"c{number}", ben, (mine, other)), max_a_day=2)
    later = challenge("c2", ben, (mine, other), created=START + timedelta(hours=5))
    with pytest.raises(
        QuotaReached, match="requested 2 challenges in the last 24 hours; the limit is 2"
    ) as refused:
        store.challenges.add(later, max_a_day=2)
    assert refused.value.wait == timedelta(hours=19)
    assert store.challenges.find("c2") is None
    assert store.activity.totals().matches_waiting == 4
    store.challenges.add(challenge("d", ann, (other, mine)), max_a_day=2)

    store.accounts.set_quota(ben.id, AccountQuota(challenges_a_day=3), ENTRY)
    store.challenges.add(challenge("c2", ben, (mine, other)), max_a_day=2)
    with pytest.raises(QuotaReached, match="the limit is 3"):
        store.challenges.add(challenge("c3", ben, (mine, other)), max_a_day=2)
    play(store)  # so that no more are open than allowed
    store.accounts.set_quota(ben.id, AccountQuota(challenges_a_day=0), ENTRY)
    tomorrow = challenge("c4", ben, (mine, other), created=START + timedelta(days=1, minutes=1))
    with pytest.raises(QuotaReached, match="the limit is 0") as refused:
        store.challenges.add(tomorrow, max_a_day=2)
    assert refused.value.wait is None
    store.accounts.reset_quota(ben.id, ENTRY)
    store.challenges.add(tomorrow, max_a_day=1)


def test_challenges_have_a_quota_of_playing_time(store: Store, ben: KnownAccount) -> None:
    """Each challenge of the quota adds three minutes. Matches that ended more than a day ago don't count."""
    ann = add_account(store, "ann")
    mine, other = bot_of(store, "mine", ben), bot_of(store, "other", ann)
    store.challenges.add(challenge("c0", ben, (mine, other)), max_a_day=2)
    for minutes in (2, 4):
        assert store.results.record(finished(claim_one(store), [(1, 2)], minute=minutes))
    half_past = START + timedelta(minutes=30)
    with pytest.raises(QuotaReached, match="taken 6 minutes in the last 24 hours; the limit is 6") as refused:
        store.challenges.add(challenge("c1", ben, (mine, other), created=half_past), max_a_day=2)
    free = START + timedelta(days=1, minutes=2)
    assert refused.value.wait == free - half_past
    store.challenges.add(challenge("d", ann, (other, mine), created=half_past), max_a_day=2)

    store.accounts.set_quota(ben.id, AccountQuota(challenges_a_day=3), ENTRY)
    store.challenges.add(challenge("c1", ben, (mine, other), created=half_past), max_a_day=2)
    store.accounts.reset_quota(ben.id, ENTRY)
    store.challenges.add(challenge("c2", ben, (mine, other), created=free), max_a_day=2)


def test_few_challenges_of_an_account_are_open_at_a_time(store: Store, ben: KnownAccount) -> None:
    """At most three may be open. When one of them has been played, another can be requested."""
    ann = add_account(store, "ann")
    mine, other = bot_of(store, "mine", ben), bot_of(store, "other", ann)
    for number in range(3):
        store.challenges.add(challenge(f"c{number}", ben, (mine, other)), max_a_day=MANY)
    with pytest.raises(QuotaReached, match="the limit is 3"):
        store.challenges.add(challenge("c3", ben, (mine, other)), max_a_day=MANY)
    store.challenges.add(challenge("d", ann, (other, mine)), max_a_day=MANY)
    while (claim := next_claim(store)) is not None and claim.spec.match < "c1":
        assert not claim.rated
        assert store.results.record(finished(claim, [(1, 2)]))
    store.challenges.add(challenge("c3", ben, (mine, other)), max_a_day=MANY)


def test_a_challenge_with_an_unknown_version_leaves_nothing(store: Store, ben: KnownAccount) -> None:
    """Neither the challenge nor any of its matches is stored."""
    mine = bot_of(store, "mine", ben)
    with pytest.raises(ValueError, match="unknown versions"):
        store.challenges.add(challenge("c", ben, (mine, 99)), max_a_day=MANY)
    assert store.challenges.newest(ben.id) == ()
    assert store.activity.totals().matches_waiting == 0


def test_a_disqualified_opponent_cancels_waiting_matches(store: Store, ben: KnownAccount) -> None:
    """Disqualifying an opponent cancels waiting matches, but not those that were played."""
    mine, other = bot_of(store, "mine", ben), add_bot(store, "other")
    store.challenges.add(challenge("c", ben, (mine, other)), max_a_day=MANY)
    claim = claim_one(store)
    assert store.results.record(finished(claim, [(1, 2)]))
    store.bot_states.disqualify("other", "why", NOW, ENTRY)
    left = known(store, "c")
    assert (left.states, [game.game for game in left.games]) == ((MatchState.DONE,), ["c-0-0"])
    assert play(store) == []


@pytest.mark.parametrize("gone", ["ben", "ann"])
def test_a_deleted_account_leaves_no_name_in_challenges(store: Store, ben: KnownAccount, gone: str) -> None:
    """Challenges show the pseudonym for either side, for older versions, and for a match in progress."""
    ann = add_account(store, "ann")
    mine, other = bot_of(store, "mine", ben), bot_of(store, "other", ann)
    by_hand = add_bot(store, "by-hand", author="Ann", source="sha256:by-hand")
    house = add_bot(store, "ben-or-ann", author="house")
    store.challenges.add(challenge("c", ben, (mine, other, by_hand, house)), max_a_day=MANY)
    add_bot(store, "by-hand", author="Ann", source="sha256:newer")
    for minute in range(3):
        claim = claim_one(store)
        assert store.results.record(finished(claim, [(1, 2, 3, 4)], minute=minute))
    running = claim_one(store)
    store.accounts.delete({"ben": ben, "ann": ann}[gone].id, "former-1", NOW)
    assert store.results.record(finished(running, [(1, 2, 3, 4)]))

    games = known(store, "c").games
    assert len(games) == 4
    authors = {"mine": "ben", "other": "ann", "by-hand": "Ann", "ben-or-ann": "house"}
    now = {bot: "former-1" if author.lower() == gone else author for bot, author in authors.items()}
    for game in games:
        assert {seat.bot: seat.author for seat in parse(game.replay).seats} == now


@on_both
def test_no_match_of_a_published_challenge_is_released(store: Store, ben: KnownAccount) -> None:
    """After publication, the deals are public. Before, a quarantined match can be released."""
    mine, other = bot_of(store, "mine", ben), add_bot(store, "other", author="house")
    store.challenges.add(challenge("c", ben, (mine, other)), max_a_day=MANY)
    first = put_aside(store)
    store.queue.release(first, ENTRY)
    assert put_aside(store) == first
    second = put_aside(store)
    assert known(store, "c").games == ()
    store.queue.release(second, ENTRY)
    assert play(store) == [second]
    published = known(store, "c").games
    assert len(published) == 1
    with pytest.raises(WrongState, match="belongs to a challenge whose games are published"):
        store.queue.release(first, ENTRY)
    assert known(store, "c").games == published
    assert [match.match for match in store.queue.quarantined()] == [first]
