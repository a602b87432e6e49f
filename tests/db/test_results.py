"""Tests of recording matches: once, completely, or not at all."""

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy.exc import IntegrityError

from arena.db.store import Store
from arena.ladder.card_counts import nothing
from arena.protocol.match import SeatReport
from tests.db.builders import (
    START,
    add_bot,
    add_matches,
    claimed,
    finished,
    next_claim,
    outcomes,
    present,
    record,
    run_sql,
)
from tests.kinds import on_both
from tests.soak import many


def test_a_result_counts_once(store: Store) -> None:
    """Recording a result again changes nothing, and returns False."""
    claim = claimed(store, [add_bot(store, name) for name in ("a", "b")])
    result = finished(claim, [(1, 2), (2, 1)])
    assert store.results.record(result)
    board, games, cards = store.ratings.standings(), store.games.newest(), store.cards.find()
    assert not store.results.record(result)
    assert (store.ratings.standings(), store.games.newest(), store.cards.find()) == (board, games, cards)
    assert [line.entry.games for line in board] == [2, 2]


def test_only_the_current_attempt_counts(store: Store) -> None:
    """Results of an earlier, later or unknown attempt are dropped."""
    claim = claimed(store, [add_bot(store, name) for name in ("a", "b")])
    result = finished(claim, [(1, 2)])
    assert not store.results.record(replace(result, attempt=0))
    assert not store.results.record(replace(result, attempt=2))
    assert not store.results.record(replace(result, match="another"))
    store.leases.release("here")
    assert not store.results.record(result)
    assert store.activity.totals().games == 0
    assert store.cards.find() == nothing()
    assert {line.entry.games for line in store.ratings.standings()} == {0}


@on_both
def test_a_failure_in_the_middle_leaves_nothing_behind(store: Store) -> None:
    """If a match's last game can't be stored, none of its games is, and the match is still running."""
    versions = [add_bot(store, name) for name in ("a", "b")]
    record(store, versions, [(1, 2), (1, 2)])
    before = (store.ratings.standings(), store.games.newest(), store.ratings.candidates())

    claim = claimed(store, versions, id_="t")
    good = finished(claim, [(2, 1), (2, 1)])
    doubled = replace(good, games=(good.games[0], replace(good.games[1], id="s-0-0")))
    with pytest.raises(IntegrityError):
        store.results.record(doubled)

    assert (store.ratings.standings(), store.games.newest()) == before[:2]
    assert store.activity.totals().matches_running == 1
    assert store.ladder.rebuild().differing == 0
    assert store.results.record(good)
    assert store.activity.totals().games == 4


@on_both
def test_a_rating_that_can_not_be_computed_leaves_nothing_behind(store: Store, url: str) -> None:
    """An error in a rating also removes the games. Once the cause is fixed, the result can be recorded."""
    result = finished(claimed(store, [add_bot(store, name) for name in ("a", "b")]), [(1, 2), (1, 2)])
    run_sql(url, "UPDATE rating SET deviation = 0")
    with pytest.raises(ValueError, match="must be finite"):
        store.results.record(result)
    assert store.games.newest() == ()
    assert store.ladder.rebuild().events == 2
    assert store.results.record(result)
    assert store.activity.totals().games == 2


def test_wrong_numbers_of_seats_are_refused(store: Store) -> None:
    """Two reports per seat, or a game of three in a match of two, are refused, and nothing is stored."""
    versions = [add_bot(store, name) for name in ("a", "b", "c")]
    claim = claimed(store, versions[:2])
    good = finished(claim, [(1, 2)])
    three = finished(claimed(store, versions, id_="t"), [(1, 2, 3)])
    for bad in (replace(good, reports=good.reports * 2), replace(good, games=three.games)):
        with pytest.raises(ValueError, match="match s-0 has 2 seats"):
            store.results.record(bad)
    assert store.activity.totals().games == 0
    assert store.results.record(good)


def test_a_match_without_a_game_ends(store: Store) -> None:
    """After a crash at the start, no game is rated, and the match is done."""
    result = finished(claimed(store, [add_bot(store, name) for name in ("a", "b")]), [])
    assert store.results.record(result)
    totals = store.activity.totals()
    assert (totals.games, totals.matches_waiting, totals.matches_running) == (0, 0, 0)


@on_both
def test_whatever_a_bot_prints_can_be_stored(store: Store) -> None:
    """NUL characters and lone surrogates in a report don't lose the result."""
    result = finished(claimed(store, [add_bot(store, name) for name in ("a", "b")]), [(1, 2)])
    odd = SeatReport(
        image="i", runtime="r", limits=(), sdk="\0", stderr="\0\ud800 ok", trouble="said \0 and left"
    )
    assert store.results.record(replace(result, reports=(odd, odd)))
    page = present(store.games.find("s-0-0"))
    assert page.seats[0].trouble == "said \0 and left"


@on_both
def test_concurrent_results_are_all_rated(store: Store) -> None:
    """No result is lost or counted twice."""
    versions = [add_bot(store, name) for name in "abcde"]
    dice = random.Random(3)  # noqa: S311 - a test's dice
    results = []
    batches = many(1, 3)
    for index in range(batches):
        add_matches(store, f"s{index}", versions)
    while claim := next_claim(store):
        results.append(finished(claim, outcomes(dice, 5, 2)))
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(store.results.record, results))
    assert [game.number for game in store.games.newest(None, 100)] == list(range(10 * batches, 0, -1))
    assert store.ladder.rebuild().differing == 0


@on_both
def test_times_survive_storage(store: Store) -> None:
    """A time in another time zone is returned as the same instant in UTC."""
    result = finished(claimed(store, [add_bot(store, name) for name in ("a", "b")]), [(1, 2)])
    ended = (START + timedelta(microseconds=123_457)).astimezone()
    assert store.results.record(replace(result, ended=ended))
    (game,) = store.games.newest()
    assert game.ended == ended
    assert game.ended.utcoffset() == timedelta(0)
