"""A state machine of coordinators that claim, stall, crash and restart. No match is lost or counted twice."""

from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import select

from arena.db.database import Database
from arena.db.leases import LEASE_SECONDS
from arena.db.matches import Claim
from arena.db.schema import MatchRow
from arena.db.store import open_store
from arena.protocol.states import MatchState
from tests.copies import Copies
from tests.databases import sqlite_store
from tests.db.builders import ENTRY, START, SetClock, add_bot, add_matches, finished, next_claim
from tests.postgresql import Cluster
from tests.soak import many

MOST_VOIDS: Final = 3
MOST_LOSSES: Final = 20

someone = st.sampled_from(("one", "two", "three"))


@dataclass
class Expected:
    """The expected state of a match: a short model of the protocol."""

    state: MatchState = MatchState.WAITING
    attempt: int = 0
    holder: str | None = None
    until: float = 0.0
    clock: str = ""
    voids: int = 0
    losses: int = 0
    claims: list[Claim] = field(default_factory=list)

    def end(self, state: MatchState = MatchState.WAITING) -> MatchState:
        """Remove the claim."""
        self.state, self.holder = state, None
        return state

    def fail(self, *, void: bool) -> MatchState:
        """Count a void or a loss."""
        self.voids, self.losses = self.voids + void, self.losses + (not void)
        borne = self.voids < MOST_VOIDS and self.losses < MOST_LOSSES
        return self.end(MatchState.WAITING if borne else MatchState.QUARANTINED)


class Coordinators(RuleBasedStateMachine):
    """Three coordinators on one store, and the expected state of each match."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.clock, self.boots = SetClock(), count(1)
        self.store = open_store(url, self.clock)
        self.database = Database(url)
        versions = [add_bot(self.store, name) for name in ("a", "b")]
        ids = [add_matches(self.store, name, versions, deals=1) for name in ("s", "t")]
        self.matches = {match: Expected() for each in ids for match in each}

    def anything(self) -> bool:
        """Return whether any match has ever been claimed."""
        return bool(self.given())

    def given(self) -> list[Claim]:
        """Return all claims so far."""
        return [claim for match in self.matches.values() for claim in match.claims]

    def those(self, state: MatchState, holder: str | None = None) -> dict[str, Expected]:
        """Return the expected matches in this state that this coordinator holds."""
        return {i: m for i, m in self.matches.items() if (m.state, m.holder) == (state, holder)}

    def current(self, claim: Claim) -> Expected | None:
        """Return the match of a claim if its attempt is the current one."""
        match = self.matches[claim.spec.match]
        counts = match.state is MatchState.RUNNING and match.attempt == claim.spec.attempt
        return match if counts else None

    @rule(coordinator=someone)
    def claim(self, coordinator: str) -> None:
        """Any coordinator can claim the first waiting match, with the next attempt number."""
        self.take(coordinator)

    def take(self, coordinator: str) -> Claim | None:
        """Claim a match."""
        waiting = self.those(MatchState.WAITING)
        claim = next_claim(self.store, coordinator)
        assert (claim.spec.match if claim else None) == min(waiting, default=None)
        if claim is not None:
            match = self.matches[claim.spec.match]
            match.state, match.attempt, match.holder = (MatchState.RUNNING, match.attempt + 1, coordinator)
            match.until, match.clock = self.clock.seconds + LEASE_SECONDS, self.clock.name
            assert claim.spec.attempt == match.attempt
            match.claims.append(claim)
        return claim

    @rule(coordinator=someone, data=st.data())
    def renew(self, coordinator: str, data: st.DataObject) -> None:
        """Renew some leases, including some that have expired."""
        wanted = data.draw(st.sets(st.sampled_from(sorted(self.matches))), label="wanted")
        self.store.leases.renew(coordinator, wanted)
        for id_, match in self.those(MatchState.RUNNING, coordinator).items():
            if id_ in wanted:
                match.until, match.clock = self.clock.seconds + LEASE_SECONDS, self.clock.name

    @rule()
    def expire(self) -> None:
        """Expire exactly the leases that were not renewed in time."""
        over = {
            id_: match
            for id_, match in self.matches.items()
            if match.holder and (match.clock != self.clock.name or match.until < self.clock.seconds)
        }
        found = {id_: state for (id_, _), state in self.store.leases.expire(START).items()}
        assert found == {id_: match.fail(void=False) for id_, match in over.items()}

    @precondition(anything)
    @rule(data=st.data())
    def record(self, data: st.DataObject) -> None:
        """A result counts once, if its attempt is the current one, however late it is."""
        self.hand_in(data.draw(st.sampled_from(self.given()), label="claim"))

    def hand_in(self, claim: Claim) -> None:
        """Record the result of a claim."""
        match = self.current(claim)
        assert self.store.results.record(finished(claim, [(1, 2)])) == (match is not None)
        if match is not None:
            match.end(MatchState.DONE)

    @precondition(anything)
    @rule(data=st.data(), void=st.booleans())
    def fail(self, data: st.DataObject, *, void: bool) -> None:
        """Void or lose an attempt. A stale attempt changes nothing."""
        claim = data.draw(st.sampled_from(self.given()), label="claim")
        match = self.current(claim)
        write = self.store.leases.record_void if void else self.store.leases.record_loss
        found = write(claim.spec.match, claim.spec.attempt, "a reason", START)
        assert found == (match.fail(void=void) if match else None)

    @rule(coordinator=someone, times=st.integers(2, MOST_LOSSES))
    def have_no_luck(self, coordinator: str, times: int) -> None:
        """Up to this many times, claim a match and lose the attempt."""
        for _ in range(times):
            if claim := self.take(coordinator):
                spec = claim.spec
                found = self.store.leases.record_loss(spec.match, spec.attempt, "a reason", START)
                assert found == self.matches[spec.match].fail(void=False)

    @rule(coordinator=someone)
    def start_again(self, coordinator: str) -> None:
        """Restart a killed coordinator, which requeues its own matches and no others."""
        mine = self.those(MatchState.RUNNING, coordinator)
        assert self.store.leases.release(coordinator) == len(mine)
        for match in mine.values():
            match.end()

    @rule(seconds=st.floats(0.1, 1.5 * LEASE_SECONDS))
    def wait(self, seconds: float) -> None:
        """Advance the clock."""
        self.clock.seconds += seconds

    @rule()
    def boot(self) -> None:
        """Reboot the host, which resets its clock."""
        self.clock.seconds, self.clock.name = 3.0, f"boot {next(self.boots)}"

    @rule()
    def mend(self) -> None:
        """Release a quarantined match."""
        for id_, match in self.those(MatchState.QUARANTINED).items():
            self.store.queue.release(id_, ENTRY)
            match.end()
            match.voids = match.losses = 0

    @invariant()
    def nothing_is_lost(self) -> None:
        """Every match is in its expected state, and quarantined only after the allowed failures."""
        with self.database.read() as connection:
            rows = {row.id: row for row in connection.execute(select(*MatchRow.__table__.columns))}
        assert rows.keys() == self.matches.keys()
        for id_, match in self.matches.items():
            row = rows[id_]
            assert (row.state, row.attempt) == (match.state, match.attempt)
            assert (row.voids, row.losses) == (match.voids, match.losses)
            too_often = row.voids >= MOST_VOIDS or row.losses >= MOST_LOSSES
            assert (row.state == MatchState.QUARANTINED) == too_often
            if row.state == MatchState.RUNNING:
                assert (row.coordinator, row.leased_until) == (match.holder, match.until)
                assert row.lease_clock == match.clock

    @invariant()
    def nothing_is_counted_twice(self) -> None:
        """Each recorded match has its games exactly once."""
        assert self.store.activity.totals().games == len(self.those(MatchState.DONE))

    def teardown(self) -> None:
        """Record all claims and play the rest. Each match counts once; the ratings agree with the log."""
        with closing(self.store), closing(self.database):
            for claim in self.given():
                self.hand_in(claim)
            self.mend()
            while claimed := self.take("one"):
                self.hand_in(claimed)
            assert len(self.those(MatchState.DONE)) == len(self.matches)
            numbers = [game.number for game in self.store.games.newest(None, 100)]
            assert numbers == list(range(len(self.matches), 0, -1))
            assert self.store.ladder.rebuild().differing == 0


def play(new_database: Callable[[], str], *, examples: int, steps: int) -> None:
    """Run this many random sequences of coordinators' actions."""

    class Here(Coordinators):
        def __init__(self) -> None:
            super().__init__(new_database())

    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),  # each example creates a database,
            phases=(Phase.reuse, Phase.generate),  # and minimizing a failure takes too long
        ),
    )


def test_no_order_of_events_loses_or_doubles_a_match_in_sqlite(tmp_path: Path) -> None:
    """In any order of the coordinators' actions, each match counts once on SQLite."""
    numbers = count(1)

    def new_database() -> str:
        file = tmp_path / f"{next(numbers)}.sqlite3"
        sqlite_store(file).close()
        return f"sqlite:///{file}"

    play(new_database, examples=many(2, 100), steps=40)


@pytest.mark.postgresql
def test_no_order_of_events_loses_or_doubles_a_match_in_postgresql(
    postgresql_cluster: Cluster, postgresql_copies: Copies
) -> None:
    """In any order of the actions, each match counts once on PostgreSQL, with its locks and connections."""
    with ExitStack() as made:

        def new_database() -> str:
            name = made.enter_context(postgresql_copies.one())
            return postgresql_cluster.address(name, scheme="postgresql+psycopg")

        play(new_database, examples=many(2, 30), steps=many(15, 25))
