"""Tests of the data that pages show."""

import random
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from sqlalchemy import text

from arena.db.database import Database
from arena.db.game_search import GameFilter, GameOrder, Position
from arena.db.games import GameSummary, RatingChange
from arena.db.store import Store
from arena.ladder.matchmaking import Candidate
from arena.ladder.rating_events import Event, GamePlayed, VersionStarted
from arena.play.replay.document import parse
from arena.protocol.faults import FAULTS_TO_TAKE_OVER
from arena.protocol.games import SeatResult
from arena.protocol.match import Clock
from tests.db.builders import START, add_bot, add_matches, next_claim, outcomes, present, record
from tests.db.test_cost import statements
from tests.kinds import on_both
from tests.ladder.games import rebuild
from tests.person_games import VISITOR, add_person_game


def test_the_leaderboard_follows_from_the_log(store: Store) -> None:
    """Every number on every leaderboard equals the one computed from the log."""
    dice = random.Random(5)  # noqa: S311 - a test's dice
    names = {add_bot(store, name): name for name in "abcde"}
    log: list[Event] = [VersionStarted(version=version, previous=None) for version in names]
    for minute in range(12):
        versions = dice.sample(list(names), dice.randint(2, 5))
        faults = tuple(dice.choice((0, 0, 1, 3)) for _ in versions)
        places = outcomes(dice, len(versions), 3)
        record(store, versions, places, id_=f"s{minute}", minute=minute, faults=faults)
        log += [
            GamePlayed(
                versions=tuple(versions),
                places=each,
                faulty=tuple(count > 0 for count in faults),
                times=tuple(None if count >= FAULTS_TO_TAKE_OVER else 2500 for count in faults),
                ended=START + timedelta(minutes=minute),
            )
            for each in places
        ]
    entries = rebuild(log)
    for players in (0, 2, 3, 4, 5):
        board = store.ratings.standings(players)
        assert len(board) == len(names)
        assert {line.bot: line.entry for line in board} == {
            name: entries[version, players] for version, name in names.items()
        }
        scores = [line.entry.rating.score for line in board if line.entry.games]
        assert scores == sorted(scores, reverse=True)
        assert [line.rank for line in board if line.entry.games] == list(range(1, len(scores) + 1))


def test_bots_without_a_game_come_last_and_share_their_rank(store: Store) -> None:
    """Even a bot that has lost all its games ranks above those without games."""
    winner, loser, *_ = (add_bot(store, name) for name in ("winner", "loser", "new-b", "new-a"))
    record(store, [winner, loser], [(1, 2)] * 2)
    board = store.ratings.standings()
    assert [line.bot for line in board] == ["winner", "loser", "new-a", "new-b"]
    assert [line.rank for line in board] == [1, 2, 3, 3]
    assert board[1].entry.rating.score < board[2].entry.rating.score
    assert [line.entry.games for line in store.ratings.standings(3)] == [0] * 4


def test_games_are_listed_newest_first(store: Store) -> None:
    """Pages split the games by number, without a gap or overlap."""
    versions = [add_bot(store, name) for name in ("a", "b")]
    record(store, versions, [(1, 2)] * 6 + [(2, 1)])
    pages, before = [], None
    while page := store.games.newest(before, 3):
        pages.append([game.number for game in page])
        before = page[-1].number
    assert pages == [[7, 6, 5], [4, 3, 2], [1]]
    assert store.games.newest(None, 1) == (
        GameSummary(
            game="s-0-6",
            number=7,
            players=2,
            ended=START + timedelta(minutes=1),
            seats=(
                SeatResult(bot="a", version=1, points=38, place=2),
                SeatResult(bot="b", version=1, points=39, place=1),
            ),
            margin=1,
            behind=0,
        ),
    )


def test_a_game_has_a_page(store: Store) -> None:
    """A game's page has the seats, their results, and the ratings before and after."""
    a, b, c = (add_bot(store, name, source=f"sha256:{name}") for name in ("a", "b", "c"))
    record(store, [c, a, b], [(2, 1, 3), (1, 3, 2)], faults=(0, 3, 1))
    assert store.games.find("nothing") is None
    page = present(store.games.find("s-0-1"))
    assert (page.match, page.number, page.players, page.variants) == ("s-0", 2, 3, ())
    assert page.ended == START + timedelta(minutes=1)
    assert parse(page.replay).game == "s-0-1"
    assert [(seat.seat, seat.bot, seat.place, seat.points) for seat in page.seats] == [
        (0, "c", 1, 39),
        (1, "a", 3, 37),
        (2, "b", 2, 38),
    ]
    assert [(seat.faults, seat.taken_over) for seat in page.seats] == [(0, False), (3, True), (1, False)]
    assert [seat.image for seat in page.seats] == ["sha256:c", "sha256:a", "sha256:b"]
    assert page.seats[0].limits == ("memory 256 MiB",)
    first = present(store.games.find("s-0-0"))
    for seat, earlier in zip(page.seats, first.seats, strict=True):
        assert earlier.overall is not None
        assert earlier.by_count is not None
        line = next(line for line in store.ratings.standings() if line.bot == seat.bot)
        assert seat.overall == RatingChange(
            mean_before=earlier.overall.mean_after,
            deviation_before=earlier.overall.deviation_after,
            mean_after=line.entry.rating.mean,
            deviation_after=line.entry.rating.deviation,
        )
        assert earlier.overall.mean_before == earlier.by_count.mean_before == 25


def test_a_version_has_a_first_game(store: Store) -> None:
    """Only the version's own rated games count. Without any, the result is None."""
    versions = [add_bot(store, name) for name in ("a", "b")]
    assert store.games.first_of("a", 1) is None
    record(store, versions, [(1, 2)] * 2)
    newest = add_bot(store, "b", source="sha256:2")
    assert store.games.first_of("b", 2) is None
    record(store, [versions[0], newest], [(1, 2)] * 2, id_="t")
    assert [store.games.first_of(*each) for each in (("a", 1), ("b", 1), ("b", 2))] == [
        "s-0-0",
        "s-0-0",
        "t-0-0",
    ]


def test_candidates_have_their_played_and_queued_games(store: Store) -> None:
    """Matchmaking gets the newest versions' rated and queued games, by table size."""
    a, b, c = (add_bot(store, name, author="house") for name in ("a", "b", "c"))
    record(store, [a, b], [(1, 2)] * 2)
    add_matches(store, "t", [a, b, c], deals=4)
    next_claim(store)
    newest = add_bot(store, "b", source="sha256:2", author="house")
    none = {2: 0, 3: 0, 4: 0, 5: 0}
    ratings = {line.bot: line.entry.rating for line in store.ratings.standings()}
    expected = {
        a: ("a", START + timedelta(minutes=1), none | {2: 2}, none | {3: 12}),
        c: ("c", None, none, none | {3: 12}),
        newest: ("b", None, none, none),
    }
    assert store.ratings.candidates() == tuple(
        Candidate(
            version=version,
            bot=bot,
            author="house",
            house=True,
            mean=ratings[bot].mean,
            deviation=ratings[bot].deviation,
            last_played=last_played,
            games=games,
            queued=queued,
        )
        for version, (bot, last_played, games, queued) in expected.items()
    )


def test_decision_times_are_means_of_the_last_games(store: Store) -> None:
    """Late decisions count with their full time. Versions without games are left out."""
    versions = [add_bot(store, name) for name in "abc"]
    clock = Clock(move_millis=1000, bank_millis=10_000)
    record(store, versions[:2], [(1, 2)], faults=(0, 3))
    means = {versions[0]: 2500, versions[1]: 1_000_000 * (3 + 10) // 27}
    assert store.ratings.decision_micros(versions, clock) == means
    record(store, versions[:2], [(1, 2)] * 12, id_="t")
    assert store.ratings.decision_micros(versions, clock) == dict.fromkeys(versions[:2], 2500)


_GROWING = r"(?:match|match_seat|game|game_seat|person_game|rating_event|rating_change)\b"
_OPEN = "ix_(?:match|person_game)_open"
_WALK = (
    rf"SCAN {_GROWING}(?! USING (?:COVERING )?INDEX {_OPEN})"  # SQLite
    rf"|Seq Scan on {_GROWING}"  # PostgreSQL, where a scan of a whole index counts as well
    rf"|Scan (?:Backward )?using (?!{_OPEN})\S+ on {_GROWING}.*(?:\n(?!\s*Index Cond)|\Z)"
)

_ONE_DAY = GameFilter(players=2, since=START.date(), until=START.date())


_CALLS: tuple[Callable[[Store], object], ...] = (
    next_claim,
    lambda store: store.leases.release("here"),
    lambda store: store.games.newest(50, 10),
    lambda store: store.games.newest(50, 10, bot="a"),
    lambda store: store.histories.records("a", 5, faulty=True),
    lambda store: store.games.search(_ONE_DAY, GameOrder.NEWEST, None, 10),
    lambda store: store.games.search(_ONE_DAY, GameOrder.CLOSEST, None, 10, Position(1.0, 9)),
    lambda store: store.games.search(_ONE_DAY, GameOrder.UPSET, None, 10, Position(0.1, 9)),
    lambda store: store.games.find("s-0-1"),
    lambda store: store.games.first_of("a", 1),
    lambda store: store.activity.totals(),
    lambda store: store.ratings.candidates(rested_at=START),
    lambda store: store.ratings.decision_micros([1, 2], Clock()),
    lambda store: store.ratings.standings(2),
    lambda store: store.ratings.changes(0, 0),
    lambda store: store.activity.current(START),
    lambda store: add_person_game(store, "waiting", ["a"], START, waits=True),
    lambda store: store.person_games.find("waiting"),
    lambda store: store.person_games.open_of(VISITOR),
    lambda store: store.person_games.open_games(),
    lambda store: store.person_games.begin(),
    lambda store: store.person_games.playing(),
    lambda store: store.person_games.end_abandoned(START, START),
    lambda store: store.person_games.interrupt(START),
)
"""Calls whose cost must not grow with the number of games."""


@on_both
def test_no_statement_scans_all_games(store: Store, database: Database) -> None:
    """Each statement finds matches, games and changes through an index, so its cost doesn't grow."""
    record(store, [add_bot(store, name) for name in ("a", "b")], [(1, 2)] * 2)
    for call in _CALLS:
        with statements() as sent:
            call(store)
        asked = [each for each in sent if re.match(r"SELECT|UPDATE|INSERT|DELETE", each[0])]
        plans = "\n".join(_plan(database, *each) for each in asked)
        assert plans
        assert not re.findall(_WALK, plans), plans


def _plan(database: Database, statement: str, values: Any) -> str:  # noqa: ANN401 - SQLAlchemy's own
    """Return a statement's query plan; on PostgreSQL, the plan for large tables."""
    explain = "EXPLAIN QUERY PLAN" if database.is_sqlite else "EXPLAIN"
    with database.read() as connection:
        if not database.is_sqlite:
            for shortcut in ("seqscan", "bitmapscan"):
                connection.execute(text(f"SET LOCAL enable_{shortcut} = off"))
        return "\n".join(row[-1] for row in connection.exec_driver_sql(f"{explain} {statement}", values))
