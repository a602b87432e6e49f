"""Bots, matches and results for tests.

The stand-in plays every seat, and records and replays are correct. The points and places are chosen by the
test, since the store doesn't compare them with the record.
"""

import random
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TypeVar
from zlib import crc32

from sqlalchemy import Connection, text

from arena.db.accounts import NewAccount
from arena.db.audit import NewAuditEntry
from arena.db.bots import NewVersion
from arena.db.challenges import NewChallenge
from arena.db.credentials import KnownAccount
from arena.db.database import Database
from arena.db.leases import LeaseTime
from arena.db.matches import Claim, FinishedGame, FinishedMatch, NewMatch
from arena.db.store import Store
from arena.ladder.matchmaking import rotations
from arena.protocol.faults import FAULTS_TO_TAKE_OVER, Fault, stand_in
from arena.protocol.match import Clock, Decision, GameRecord, Limits, RuntimeName, SeatReport
from arena.protocol.states import Role
from arena.rules import Rules, State, apply, new_game, seats_to_move, shuffled_deck, view
from tests.builders import play_matches, rated

T = TypeVar("T")

START = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
ENTRY = NewAuditEntry(at=START, who="terminal:root", what="test")


def add_bot(
    store: Store, bot: str, *, source: str = "sha256:1", author: str = "ann", account: int | None = None
) -> int:
    """Add a version of a bot, and return the version's id."""
    house = author == "house"
    new = NewVersion(bot=bot, author=author, house=house, source=source, created=START, account=account)
    return store.bots.add_version(new)


def bot_of(store: Store, bot: str, account: KnownAccount, *, source: str = "sha256:1") -> int:
    """Add a version of an account's bot, and return the version's id."""
    return add_bot(store, bot, source=source, author=account.name, account=account.id)


def add_few_games(store: Store) -> None:
    """Add only four games, since analyses are slow. They have two players; the last two games have faults."""
    a, b = add_bot(store, "a"), add_bot(store, "b")
    play_matches(store, [(a, b)], Rules(players=2), name="two")
    play_matches(store, [(b, a)], Rules(players=2), name="faulty", faults=0.1)


def new_match(id_: str, versions: Sequence[int], *, deals: int = 2) -> NewMatch:
    """Return a match in which no bot changes seats."""
    return NewMatch(
        id=id_,
        rules=Rules(players=len(versions)),
        bots=tuple(versions),
        seeds=tuple(f"{crc32(id_.encode()):08x}{deal:024x}" for deal in range(deals)),
        clock=Clock(),
        limits=Limits(),
        runtime=RuntimeName.DOCKER,
        created=START,
    )


def add_matches(
    store: Store, id_: str, versions: Sequence[int], *, deals: int = 2, matches: int | None = None
) -> tuple[str, ...]:
    """Add ``matches`` rated matches, by default one per bot, each in another seat order. Return their ids."""
    new = [
        new_match(f"{id_}-{index}", order, deals=deals)
        for index, order in enumerate(rotations(versions)[:matches])
    ]
    for each in new:
        store.queue.add(each)
    return tuple(each.id for each in new)


def new_challenge(
    id_: str, account: int, versions: Sequence[int], *, deals: int = 2, matches: int | None = None
) -> NewChallenge:
    """Return a challenge by the first version, with ``matches`` matches, by default one per bot."""
    return NewChallenge(
        id=id_,
        account=account,
        version=versions[0],
        matches=tuple(
            replace(new_match(f"{id_}-{index}", order), seeds=new_match(id_, versions, deals=deals).seeds)
            for index, order in enumerate(rotations(versions)[:matches])
        ),
    )


def present(found: T | None) -> T:
    """Return a value that must not be None."""
    assert found is not None
    return found


@dataclass
class SetClock:
    """A lease clock that the test sets."""

    seconds: float = 1_000.0
    name: str = "test"

    def __call__(self, _: Connection) -> LeaseTime:
        """Return the time."""
        return LeaseTime(self.seconds, self.name)


def next_claim(store: Store, coordinator: str = "here", *, house_only: bool = False) -> Claim | None:
    """Claim the next match, if there is one."""
    return store.leases.claim(coordinator, "worker", START, RuntimeName.DOCKER, house_only=house_only)


def next_match(store: Store, *, house_only: bool = False) -> str | None:
    """Claim the next match, if there is one, and return its id."""
    claim = next_claim(store, house_only=house_only)
    return None if claim is None else claim.spec.match


def claim_one(store: Store, coordinator: str = "here") -> Claim:
    """Claim the next match."""
    return present(next_claim(store, coordinator))


def waiting_and_running(store: Store) -> tuple[int, int]:
    """Return the numbers of waiting and running matches."""
    totals = store.activity.totals()
    return totals.matches_waiting, totals.matches_running


def claimed(store: Store, versions: Sequence[int], *, id_: str = "s", deals: int = 2) -> Claim:
    """Queue one match and claim it."""
    add_matches(store, id_, versions, deals=deals, matches=1)
    return claim_one(store)


def put_aside(store: Store, *, minute: int = 1) -> str:
    """Void the next match three times, which quarantines it, and return its id."""
    for _ in range(3):
        spec = claim_one(store).spec
        store.leases.record_void(spec.match, spec.attempt, "no engine", START + timedelta(minutes=minute))
    return spec.match


def add_account(store: Store, name: str) -> KnownAccount:
    """Add an account."""
    new = NewAccount(name=name, password=f"hash of {name}'s", role=Role.USER, created=START)
    return store.accounts.register(new)


def run_sql(url: str, *statements: str) -> list[int]:
    """Run SQL without the store, and return how many rows each statement changed."""
    with closing(Database(url)) as database, database.write() as connection:
        return [connection.execute(text(statement)).rowcount for statement in statements]


def never_expire(url: str) -> None:
    """Keep published workers, which expire after 30 s. On a busy host a test may take longer."""
    run_sql(url, "UPDATE worker SET leased_until = 1e12")


def finished(
    claim: Claim, places: Sequence[Sequence[int]], *, minute: int = 1, faults: Sequence[int] | None = None
) -> FinishedMatch:
    """Return a claim's result with these places for each game. ``faults`` has a number for each seat."""
    spec = claim.spec
    seats = len(spec.seats)
    faulty = tuple(faults or (0,) * seats)
    games = tuple(_game(claim, index, tuple(each), faulty) for index, each in enumerate(places))
    reports = tuple(
        SeatReport(image=source, runtime="docker/runc", limits=("memory 256 MiB",), stderr=f"seat {seat}")
        for seat, source in enumerate(spec.seats)
    )
    return FinishedMatch(
        match=spec.match,
        attempt=spec.attempt,
        reports=reports,
        games=games,
        ended=START + timedelta(minutes=minute),
    )


def record(  # noqa: PLR0913 - everything about a match
    store: Store,
    versions: Sequence[int],
    places: Sequence[Sequence[int]],
    *,
    id_: str = "s",
    minute: int = 1,
    faults: Sequence[int] | None = None,
) -> None:
    """Queue, play and record a match with a game for each entry of ``places``."""
    claim = claimed(store, versions, id_=id_, deals=len(places))
    assert store.results.record(finished(claim, places, minute=minute, faults=faults))


def _game(claim: Claim, index: int, places: tuple[int, ...], faults: tuple[int, ...]) -> FinishedGame:
    states, record = _play(claim.spec.rules, claim.spec.seeds[index], faults)
    game = rated(claim, index, states, record, places=places)
    return replace(game, points=tuple(40 - place for place in places))


@cache
def _play(rules: Rules, seed: str, faults: Sequence[int]) -> tuple[tuple[State, ...], GameRecord]:
    """Play a game with the stand-in's moves. ``faults`` is each seat's number of late decisions."""
    state = new_game(rules, shuffled_deck(rules, bytes.fromhex(seed)))
    states = [state]
    steps: list[tuple[Decision, ...]] = []
    while not state.over:
        moves = [stand_in(view(state, seat)) for seat in seats_to_move(state)]
        assert len(moves) == rules.players
        state = apply(state, moves)
        states.append(state)
        steps.append(
            tuple(
                _decision(move.cards[0].label, late=len(steps) < count, lost=count >= FAULTS_TO_TAKE_OVER)
                for move, count in zip(moves, faults, strict=True)
            )
        )
    return tuple(states), GameRecord(seed=seed, steps=tuple(steps))


def _decision(card: str, *, late: bool, lost: bool) -> Decision:
    if late:
        return Decision(cards=(card,), fault=Fault.TIMEOUT, standin=True, trouble="no answer in time")
    return Decision(cards=(card,), millis=None if lost else 2.5, standin=lost)


def outcomes(dice: random.Random, players: int, games: int) -> list[tuple[int, ...]]:
    """Draw the places of some games, sometimes with ties."""
    points = [[dice.randrange(12) for _ in range(players)] for _ in range(games)]
    return [tuple(1 + sum(other > mine for other in each) for mine in each) for each in points]
