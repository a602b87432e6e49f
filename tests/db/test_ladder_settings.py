"""Tests of the ladder's settings, which operators can change."""

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count

import pytest

from arena.db.store import Store
from arena.ladder.settings import LadderChange, LadderSettings
from arena.protocol.match import Clock, Limits, RuntimeName
from arena.protocol.sandbox_controls import Gate
from arena.protocol.states import MatchState
from arena.scheduler.ladder import Entropy, Ladder
from tests.db.builders import ENTRY, START, add_bot, finished, next_claim
from tests.db.test_submissions import PLENTY, new, qualify

USUAL = LadderSettings(paused=False, players=(2, 3, 4, 5), deals=12)


def change(
    store: Store,
    *,
    paused: bool | None = None,
    players: tuple[int, ...] | None = None,
    deals: int | None = None,
) -> bool:
    """Change the ladder's settings."""
    return store.ladder.change(LadderChange(paused=paused, players=players, deals=deals), ENTRY)


@pytest.fixture
def ladder(store: Store) -> Ladder:
    """Return a ladder with five house bots that have played before."""
    numbers = count(1)
    dice = random.Random(7)  # noqa: S311 - no secret
    chances = Entropy(
        now=lambda: START,
        new_id=lambda: f"set{next(numbers)}",
        new_seed=lambda: dice.randbytes(16),
        dice=dice,
    )
    made = Ladder(store, RuntimeName.DOCKER, chances, Gate(own=True), Limits())
    made.enter_house_bots((name, f"sha256:{name}") for name in ("aa", "bb", "cc", "dd", "ee"))
    made.ensure_round()
    play(store)
    return made


def play(store: Store) -> list[tuple[int, int]]:
    """Play all waiting matches, and return the players and deals of each."""
    played = []
    while claim := next_claim(store):
        places = [tuple(range(1, len(claim.seats) + 1))] * len(claim.spec.seeds)
        assert store.results.record(finished(claim, places))
        played.append((len(claim.seats), len(claim.spec.seeds)))
    return played


def test_settings_can_be_changed_one_by_one(store: Store) -> None:
    """A change leaves the other settings as they are. Each effective change is in the audit log."""
    assert change(store, players=(2, 4))
    assert change(store, deals=1, paused=True)
    assert store.ladder.settings() == LadderSettings(paused=True, players=(2, 4), deals=1)
    assert not change(store, players=(2, 4), paused=True)
    assert change(store, paused=False)
    assert store.ladder.settings() == LadderSettings(paused=False, players=(2, 4), deals=1)
    assert len(store.accounts.audit(9)) == 3


def test_concurrent_changes_are_all_made(store: Store) -> None:
    """No concurrent change overwrites another."""
    wanted = [LadderChange(paused=True), LadderChange(players=(3,)), LadderChange(deals=2)]
    with ThreadPoolExecutor(3) as pool:
        assert all(pool.map(lambda each: store.ladder.change(each, ENTRY), wanted))
    assert store.ladder.settings() == LadderSettings(paused=True, players=(3,), deals=2)


def test_invalid_settings_change_nothing(store: Store) -> None:
    """The error lists the valid values. tests/cli/test_admin_ladder.py tests more invalid settings."""
    for players in ((), (3, 2)):
        with pytest.raises(ValueError, match=r"choose from 2, 3, 4 and 5|in ascending order"):
            change(store, players=players)
    assert store.ladder.settings() == USUAL
    assert store.accounts.audit(9) == ()


def test_matches_have_the_clock_and_limits_that_the_ladder_had_when_they_were_drawn(
    store: Store, ladder: Ladder
) -> None:
    """Rated and qualification matches keep both. A host with smaller shares gives smaller ones."""
    ladder.limits = Limits(cpus=0.2)
    assert ladder.add_match()
    assert store.ladder.change(LadderChange(move_millis=200, bank_millis=0, memory_mib=64), ENTRY)
    assert ladder.add_match()
    store.submissions.add(new(), PLENTY)
    qualify(store)
    ladder.qualify("u1", 0, 0)
    clock, limits = Clock(move_millis=200, bank_millis=0), Limits(cpus=0.2, memory_mib=64)
    assert store.ladder.settings() == replace(USUAL, clock=clock, limits=replace(limits, cpus=0.4))
    specs = {}
    while claim := next_claim(store):
        specs[claim.spec.match] = (claim.spec.clock, claim.spec.limits)
    assert sorted(specs.values(), key=str) == sorted(
        [(Clock(), Limits(cpus=0.2)), (clock, limits), (clock, limits)], key=str
    )


def test_a_paused_ladder_draws_nothing_and_submissions_qualify(store: Store, ladder: Ladder) -> None:
    """A pause stops only drawing: waiting matches are played. After the pause, drawing continues."""
    assert ladder.add_match()
    waiting = ladder.waiting()
    assert waiting > 0
    change(store, paused=True)
    assert not ladder.add_match()
    add_bot(store, "newcomer", source="sha256:newcomer", author="ann")
    ladder.ensure_round()
    assert ladder.waiting() == waiting
    store.submissions.add(new(), PLENTY)
    qualify(store)
    ladder.qualify("u1", 0, 0)
    assert len(play(store)) == waiting + 1
    assert [played.state for played in store.submissions.games("u1")] == [MatchState.DONE]
    change(store, paused=False)
    assert ladder.add_match()


def test_only_tables_of_the_set_sizes_are_filled(store: Store, ladder: Ladder) -> None:
    """Only the set table sizes are used for matches drawn one by one, and for a round of all bots."""
    players = (3, 5)
    change(store, players=players)
    for _ in range(4):
        assert ladder.add_match()
    assert {seats for seats, _ in play(store)} == set(players)
    ladder.ensure_round()
    queued = [candidate.queued for candidate in store.ratings.candidates()]
    assert all((each[count] > 0) == (count in players) for each in queued for count in each)
    assert {seats for seats, _ in play(store)} == set(players)


def test_a_match_has_as_many_deals_as_the_ladder_says(store: Store, ladder: Ladder) -> None:
    """A match with a bot that has no rated games yet has one deal."""
    change(store, deals=3, players=(2,))
    assert ladder.add_match()
    assert {deals for _, deals in play(store)} == {3}
    add_bot(store, "newcomer", source="sha256:newcomer", author="ann")
    assert ladder.add_match()
    assert {deals for _, deals in play(store)} == {1}
    change(store, deals=24)
    assert ladder.add_match()
    assert {deals for _, deals in play(store)} == {24}
