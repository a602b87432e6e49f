"""Tests of the stored card statistics, which are updated with each match and can be recounted."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select, update

from arena.db import card_counts
from arena.db.database import Database
from arena.db.dump import row_check, snapshot
from arena.db.matches import Claim
from arena.db.schema import Base, CardCountRow, LadderRow
from arena.db.store import Store
from arena.ladder.card_counts import POINT, Count, Games, Tally, merged, nothing
from arena.rules import Rules
from tests.builders import fill, finish, play_matches
from tests.db.builders import (
    ENTRY,
    START,
    add_account,
    add_bot,
    add_matches,
    bot_of,
    claimed,
    finished,
    next_claim,
    run_sql,
)
from tests.db.test_challenge_rows import challenge
from tests.db.test_submissions import submit
from tests.kinds import on_both

BILLION = 10**9


def record(store: Store, claim: Claim, seed: int = 1) -> Tally:
    """Play a match at random, record it, and return its tally."""
    result = finish(claim, random.Random(seed), ended=START, faults=0.02)  # noqa: S311 - a test's dice
    assert store.results.record(result)
    return merged(game.cards for game in result.games)


@on_both
def test_the_counts_of_a_match_are_added(store: Store) -> None:
    """All games of a match are added once, by table size."""
    assert store.cards.find() == nothing()
    versions = [add_bot(store, name, author=name) for name in "abcde"]
    added: dict[int, list[Tally]] = {}
    for number in range(6):
        players = 2 + number % 4
        added.setdefault(players, []).append(
            record(store, claimed(store, versions[:players], id_=f"s{number}"), number)
        )
    for players, tallies in added.items():
        assert store.cards.find(players) == merged(tallies)
    assert store.cards.find() == merged(tally for each in added.values() for tally in each)


@on_both
def test_a_recount_repairs_differences(store: Store, url: str) -> None:
    """Changed, missing and wrong rows are restored from the games, and counted.

    The recount uses the records, including variants and faults. Games with a dummy don't count. Without
    differences, it changes nothing.
    """
    fill(store)
    before = store.cards.find()
    rebuilt = store.cards.rebuild()
    assert rebuilt.differing == 0
    assert rebuilt.games == sum(games.games for games in before.games.values())
    assert rebuilt.games == store.activity.totals().games - 4
    assert store.cards.find() == before
    changed = run_sql(
        url,
        "UPDATE card_count SET won_taken = won_taken + 1 WHERE players = 3 AND card = 1 AND turn = 0",
        "DELETE FROM card_count WHERE players = 3 AND card = 2 AND turn = 1",
        "INSERT INTO card_count VALUES (5, 13, 6, 1, 1, 1, 0, 0, 0, 1, 0, 0)",
        "UPDATE card_games SET games = 0 WHERE players = 4",
    )
    assert changed == [1] * 4
    assert store.cards.rebuild().differing == 4
    assert store.cards.rebuild().differing == 0
    assert store.cards.find() == before


def test_only_rated_games_are_counted(store: Store) -> None:
    """Games of qualifications and challenges aren't counted."""
    ben = add_account(store, "ben")
    mine, other = bot_of(store, "mine", ben), add_bot(store, "other")
    store.challenges.add(challenge("c", ben, (mine, other)), max_a_day=9)
    submit(store, None, mine, bot="third")
    while claim := next_claim(store):
        record(store, claim)
    assert store.cards.find() == nothing()
    assert store.cards.rebuild().games == 0


def test_games_of_a_disqualified_bot_are_not_counted(store: Store) -> None:
    """A disqualified bot's games, past or in progress, aren't counted until it is reinstated."""
    cheat, b, c = (add_bot(store, name, author=name) for name in ("cheat", "b", "c"))
    first = record(store, claimed(store, (cheat, b), id_="s1"), 1)
    second = record(store, claimed(store, (b, c), id_="s2"), 2)
    running = claimed(store, (c, cheat, b), id_="s3")
    store.bot_states.disqualify("cheat", "why", START, ENTRY)
    assert store.cards.find() == second
    third = record(store, running, 3)
    assert store.cards.find() == second
    assert store.cards.rebuild().differing == 0
    store.bot_states.reinstate("cheat", START, ENTRY)
    assert store.cards.find() == merged([first, second, third])
    assert store.cards.rebuild().differing == 0


@pytest.mark.parametrize("barred", [False, True])
def test_games_during_a_recount_are_counted(store: Store, database: Database, *, barred: bool) -> None:
    """Games recorded since a count are added to it, unless the set of games that count has changed."""
    a, b, c = (add_bot(store, name, author=name) for name in "abc")
    first = record(store, claimed(store, (a, b), id_="s1"), 1)
    with database.read() as connection:
        counted = card_counts.count_all(connection, frozenset())
    assert (counted.last, counted.tally) == (2, first)
    second = record(store, claimed(store, (b, c), id_="s2"), 2)
    if barred:
        store.bot_states.disqualify("a", "why", START, ENTRY)
    with database.write() as connection:
        assert card_counts.rebuild(connection, counted).differing == 0
    assert store.cards.find() == (second if barred else merged([first, second]))


def test_concurrent_results_are_all_counted(store: Store) -> None:
    """If several threads record matches at the same time, all of them are counted."""
    versions = [add_bot(store, name, author=name) for name in "abcd"]
    for number in range(8):
        add_matches(store, f"s{number}", versions[: 2 + number % 3], deals=1, matches=1)
    claims = []
    while claim := next_claim(store):
        claims.append(claim)
    with ThreadPoolExecutor(4) as pool:
        tallies = list(pool.map(record, [store] * 8, claims, range(8)))
    assert store.cards.find() == merged(tallies)


def test_a_recount_reads_games_in_batches(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recount in several batches counts each game once."""
    monkeypatch.setattr(card_counts, "BATCH", 2)
    versions = [add_bot(store, name, author=name) for name in "ab"]
    for number in range(3):
        play_matches(store, [versions], Rules(players=2), name=f"s{number}")
    assert store.activity.totals().games > 2 * card_counts.BATCH
    rebuilt = store.cards.rebuild()
    assert (rebuilt.games, rebuilt.differing) == (6, 0)


def times(tally: Tally, factor: int) -> Tally:
    """Return the tally multiplied by a factor."""
    return Tally(
        games={key: Games(*(each * factor for each in games)) for key, games in tally.games.items()},
        counts={key: Count(*(each * factor for each in count)) for key, count in tally.counts.items()},
    )


@on_both
def test_results_are_added_to_large_sums(store: Store, database: Database) -> None:
    """Later games' results are added exactly to sums multiplied by a billion, and game numbers continue."""
    versions = [add_bot(store, name, author=name) for name in "abcde"]
    result = finished(claimed(store, versions, deals=6), [(1, 2, 3, 4, 5)] * 6)
    once = merged(game.cards for game in result.games)
    many = times(once, BILLION)
    assert max(count.points for count in many.counts.values()) > 2**63, "no single column could hold it"
    with database.write() as connection:
        card_counts.add(connection, [many])
        connection.execute(update(LadderRow).values(games=6 * BILLION, events=7 * BILLION))
    assert store.results.record(result)
    assert store.cards.find() == times(once, BILLION + 1)
    again = finished(claimed(store, versions, id_="t", deals=6), [(5, 4, 3, 2, 1)] * 6)
    assert store.results.record(again)
    assert store.cards.find() == merged([many, once, *(game.cards for game in again.games)])
    assert max(game.number for game in store.games.newest()) == 6 * BILLION + 12
    with database.read() as connection:
        assert connection.execute(select(func.max(CardCountRow.point_parts))).scalar_one() < POINT
    with snapshot(database) as whole:
        for table in whole.tables:
            check = row_check(Base.metadata.tables[table.name], table.columns)
            for batch in table.batches():
                check(batch)
