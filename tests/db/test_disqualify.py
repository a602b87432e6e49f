"""Tests of disqualified bots, whose games don't count, and of reinstated bots, whose games count again."""

import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from arena.db import bot_states
from arena.db.audit import NewAuditEntry
from arena.db.database import Database
from arena.db.errors import WrongState
from arena.db.matches import Claim
from arena.db.store import Store
from arena.ladder.rating import Rating, update
from arena.ladder.rating_events import LISTS, Entry, Event, GamePlayed, VersionStarted
from arena.protocol.faults import FAULTS_TO_TAKE_OVER
from arena.protocol.states import BotState
from arena.protocol.submissions import CauseKind, Stage
from tests.databases import sqlite_store
from tests.db.builders import START, add_bot, add_matches, claimed, finished, next_match, present
from tests.db.test_submissions import PLENTY, game, new, qualify
from tests.kinds import on_both
from tests.ladder.games import rebuild
from tests.soak import many

NOW = START + timedelta(days=1)
ENTRY = NewAuditEntry(at=NOW, who="terminal:root", what="disqualify", subject="bot:cheat", detail="why")
NAMES = ("cheat", "b", "c", "d")
CHEAT = NAMES.index("cheat")

Results = dict[tuple[str, int], dict[int, Entry]]
"""The entries of each list, by bot and version number."""


@dataclass(frozen=True)
class NewVersionOf:
    """A step: a bot gets a new version."""

    bot: int


@dataclass(frozen=True)
class Table:
    """A step: a match of one game, with its bots, their points and their numbers of faults."""

    bots: tuple[int, ...]
    points: tuple[int, ...]
    faults: tuple[int, ...]

    @property
    def places(self) -> tuple[int, ...]:
        """Return the places. Equal points are a tie."""
        return tuple(1 + sum(other > mine for other in self.points) for mine in self.points)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Draw a match."""
    bots = draw(st.lists(st.integers(0, len(NAMES) - 1), min_size=2, max_size=4, unique=True))
    each = st.lists(st.integers(0, 3), min_size=len(bots), max_size=len(bots))
    return Table(tuple(bots), tuple(draw(each)), tuple(draw(each)))


STEPS = st.lists(st.builds(NewVersionOf, st.integers(0, len(NAMES) - 1)) | tables(), max_size=7)


@dataclass
class Life:
    """A store, and the test's own log of what has happened in it."""

    store: Store
    current: list[int] = field(default_factory=list)
    numbers: dict[int, tuple[str, int]] = field(default_factory=dict)
    log: list[Event] = field(default_factory=list)
    matches: int = 0

    def start(self, bot: int) -> None:
        """Add a bot, or a new version of an existing one."""
        name = NAMES[bot]
        before = self.current[bot] if bot < len(self.current) else None
        number = 1 if before is None else self.numbers[before][1] + 1
        version = add_bot(self.store, name, source=f"sha256:{name}{number}", author=name)
        self.current[bot : bot + 1] = [version]
        self.numbers[version] = (name, number)
        self.log.append(VersionStarted(version=version, previous=before))

    def draw(self, table: Table) -> Claim:
        """Start a match."""
        self.matches += 1
        versions = [self.current[bot] for bot in table.bots]
        return claimed(self.store, versions, id_=f"m{self.matches}", deals=1)

    def end(self, claim: Claim, table: Table) -> None:
        """Finish a match."""
        done = finished(claim, [table.places], minute=self.matches, faults=table.faults)
        assert self.store.results.record(done)
        versions = tuple(seat.version for seat in claim.seats if seat.version is not None)
        faulty = tuple(count > 0 for count in table.faults)
        self.log.append(
            GamePlayed(
                versions=versions,
                places=table.places,
                faulty=faulty,
                times=tuple(None if count >= FAULTS_TO_TAKE_OVER else 2500 for count in table.faults),
                ended=done.ended,
            )
        )

    def step(self, step: Table | NewVersionOf) -> None:
        """Apply a step."""
        if isinstance(step, NewVersionOf):
            self.start(step.bot)
        else:
            self.end(self.draw(step), step)

    def recomputed(self, *, without: str | None = None) -> Results:
        """Recompute the results from the test's log, leaving out the games of one bot."""
        left_out = {version for version, (name, _) in self.numbers.items() if name == without}
        entries = rebuild(
            event
            for event in self.log
            if not isinstance(event, GamePlayed) or left_out.isdisjoint(event.versions)
        )
        return {
            number: {players: entries[version, players] for players in LISTS}
            for version, number in self.numbers.items()
        }

    def kept(self) -> Results:
        """Return the entries stored in the store."""
        return {
            (name, version.number): version.results
            for name in NAMES
            for version in self.store.bots.versions(name)
        }


def life(store: Store, steps: Sequence[Table | NewVersionOf] = ()) -> Life:
    """Add all bots, and apply some steps."""
    made = Life(store)
    for bot in range(len(NAMES)):
        made.start(bot)
    for step in steps:
        made.step(step)
    return made


@settings(max_examples=many(3, 100))
@given(before=STEPS, running=tables(), after=STEPS, later=STEPS)
def test_everybody_is_rated_as_if_a_disqualified_bot_had_never_played(
    before: list[Table | NewVersionOf],
    running: Table,
    after: list[Table | NewVersionOf],
    later: list[Table | NewVersionOf],
) -> None:
    """Ratings are identical to the last bit, even after further games. A reinstatement restores them."""
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(sqlite_store(Path(folder) / "arena.sqlite3")) as store,
    ):
        known = life(store, before)
        claim = known.draw(running)
        was = known.kept()
        assert was == known.recomputed()
        done = store.bot_states.disqualify("cheat", "why", NOW, ENTRY)
        now = known.kept()
        assert now == known.recomputed(without="cheat")
        assert done.events == len(known.log)
        assert done.ratings == sum(
            was[number][players] != now[number][players] for number in was for players in LISTS
        )
        known.end(claim, running)
        for step in after:
            if CHEAT not in (step.bots if isinstance(step, Table) else (step.bot,)):
                known.step(step)
        assert known.kept() == known.recomputed(without="cheat")
        assert store.ladder.rebuild().differing == 0
        store.bot_states.reinstate("cheat", NOW, ENTRY)
        assert known.kept() == known.recomputed()
        for step in later:
            known.step(step)
        assert known.kept() == known.recomputed()
        assert store.ladder.rebuild().differing == 0


WON = Table((0, 1, 2), (3, 2, 1), (0, 0, 0))
"""The cheat wins."""


def test_a_disqualified_bot_leaves_but_its_games_stay(store: Store) -> None:
    """The bot leaves the leaderboard and matchmaking. Its games stay visible, marked as not counting."""
    known = life(store, [WON, Table((1, 2), (3, 2), (0, 0)), WON])
    before = known.kept()
    done = store.bot_states.disqualify("cheat", "it is a twin", NOW, ENTRY)
    assert (done.events, done.ratings) == (7, 6)
    assert known.kept() == known.recomputed(without="cheat")
    assert {line.bot for line in store.ratings.standings()} == {"b", "c", "d"}
    assert {candidate.bot for candidate in store.ratings.candidates()} == {"b", "c", "d"}
    assert "sha256:cheat1" not in store.bots.sources_in_use()
    bot = present(store.bots.find("cheat"))
    assert (bot.state, bot.reason, bot.since) == (BotState.DISQUALIFIED, "it is a twin", NOW)
    assert store.bots.version_id("cheat", 1) is None
    pages = [store.games.find(summary.game) for summary in store.games.newest()]
    assert [page.counts for page in pages if page] == [False, True, False]
    assert [entry.detail for entry in store.accounts.audit(9)] == ["why"]

    with pytest.raises(WrongState, match="cheat is already disqualified: it is a twin"):
        store.bot_states.disqualify("cheat", "again", NOW, ENTRY)
    assert store.bot_states.reinstate("cheat", NOW, ENTRY).ratings == 6
    assert known.kept() == before
    bot = present(store.bots.find("cheat"))
    assert (bot.state, bot.reason) == (BotState.ACTIVE, None)
    assert all(page and page.counts for page in map(store.games.find, ["m1-0-0", "m2-0-0", "m3-0-0"]))
    assert len(store.accounts.audit(9)) == 2


def test_games_during_the_rehearsal_are_rated(
    store: Store, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rebuild reuses the ratings of the rehearsal, and rates only later games."""
    known = life(store, [WON, Table((1, 2), (3, 2), (0, 0))])
    rated: list[tuple[int, ...]] = []

    def rate(ratings: tuple[Rating, ...], places: tuple[int, ...]) -> tuple[Rating, ...]:
        rated.append(places)
        return update(ratings, places)

    write = database.write

    def play_and_write() -> AbstractContextManager[Connection]:
        assert rated == [(1, 2)]  # for both lists
        known.step(Table((2, 3), (1, 1), (0, 0)))
        known.step(WON)
        return write()

    monkeypatch.setattr(bot_states, "update_ratings", rate)
    monkeypatch.setattr(database, "write", play_and_write)
    bot_states.BotStates(database).disqualify("cheat", "why", NOW, ENTRY)
    assert rated == [(1, 2), (1, 1)]
    assert known.kept() == known.recomputed(without="cheat")
    assert store.ladder.rebuild().differing == 0


def test_two_bots_can_be_disqualified(store: Store) -> None:
    """Games of two disqualified bots don't count. If one is reinstated, the other's still don't."""
    known = life(store, [WON, Table((1, 3), (3, 2), (0, 0)), Table((2, 3), (3, 2), (0, 0)), WON])
    store.bot_states.disqualify("cheat", "why", NOW, ENTRY)
    store.bot_states.disqualify("d", "why", NOW, ENTRY)
    assert all(entry.games == 0 for entry in store.bots.versions("b")[0].results.values())
    store.bot_states.reinstate("cheat", NOW, ENTRY)
    assert known.kept() == known.recomputed(without="d")
    assert store.ladder.rebuild().differing == 0


@on_both
def test_waiting_matches_with_a_disqualified_bot_are_cancelled(store: Store) -> None:
    """Only the bot's waiting matches are cancelled. Its running match is finished, but doesn't count."""
    known = life(store)
    cheat, b, c, _ = known.current
    running = known.draw(WON)
    add_matches(store, "struck", (b, cheat))
    add_matches(store, "kept", (b, c))
    store.bot_states.disqualify("cheat", "why", NOW, ENTRY)
    assert store.activity.totals().matches_waiting == 2
    known.end(running, WON)
    assert [next_match(store) for _ in range(3)] == ["kept-0", "kept-1", None]
    assert {entry.games for entry in store.bots.versions("b")[0].results.values()} == {0}


def test_submissions_of_a_disqualified_bot_are_rejected(store: Store) -> None:
    """The submissions' waiting matches are cancelled. Other bots' submissions continue."""
    house = add_bot(store, "house-bot", author="house")
    add_bot(store, "mine", author="ben")
    for id_, bot in (("u1", "mine"), ("u2", "mine"), ("u3", "yours")):
        store.submissions.add(new(id_, bot), PLENTY)
    for id_ in ("u1", "u3"):
        qualify(store, id_)
        store.submissions.add_game(game(f"q{id_}", id_, (None, house)), played=0)
    store.bot_states.disqualify("mine", "it is a twin", NOW, ENTRY)
    assert [submission.id for submission in store.submissions.open_submissions()] == ["u3"]
    for id_ in ("u1", "u2"):
        rejected = present(store.submissions.find(id_))
        assert (rejected.stage, rejected.ended) == (Stage.REJECTED, NOW)
        assert rejected.cause is not None
        assert rejected.cause.kind is CauseKind.BARRED
        assert "it is a twin" in rejected.cause.text
    assert [next_match(store) for _ in range(2)] == ["qu3-0", None]


def test_a_reinstated_bot_whose_image_is_gone_is_benched(store: Store) -> None:
    """A bot without an image can't be started. Resubmitting the same file reactivates it."""
    life(store, [WON])
    store.bot_states.disqualify("cheat", "why", NOW, ENTRY)
    store.bots.record_missing_images({"sha256:b1", "sha256:c1", "sha256:d1"}, NOW)
    store.bot_states.reinstate("cheat", NOW, ENTRY)
    bot = present(store.bots.find("cheat"))
    assert bot.state is BotState.BENCHED
    assert "the image of the bot's active version was removed" in (bot.reason or "")
    assert "cheat" not in {candidate.bot for candidate in store.ratings.candidates()}
    add_bot(store, "cheat", source="sha256:cheat1", author="cheat")
    assert "cheat" in {candidate.bot for candidate in store.ratings.candidates()}
