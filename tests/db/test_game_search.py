"""Tests of the search for games, whose results are compared with a search of all games in plain Python."""

import random
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import chain, pairwise, product
from typing import Any

import pytest

from arena.db import game_search
from arena.db.game_search import GameFilter, GameOrder
from arena.db.games import GamePage
from arena.db.store import Store
from arena.play.replay.document import parse
from arena.rules import Rules
from tests.builders import START, add_bots, fill, play_matches
from tests.db.builders import ENTRY, add_bot, claimed, finished, present, record
from tests.kinds import filled_on_both
from tests.soak import SOAK

FILTERS: tuple[dict[str, Any], ...] = (
    {"bot": "greedy"},
    {"bot": "no-such-bot"},
    {"author": "HOUSE"},
    {"author": "no such author"},
    {"players": 2},
    {"players": 5},
    {"points": 40},
    {"points": -9},
    {"margin": 0},
    {"margin": 5},
    {"faults": True},
    {"faults": False},
    {"since": START.date()},
    {"until": START.date()},
    {"since": START.date() + timedelta(days=1)},
    {"until": date.max},
    {"since": date.min},
)


def matches(page: GamePage, wanted: GameFilter) -> bool:
    """Return whether a search with this filter should find a game."""
    seats = sorted(page.seats, key=lambda seat: seat.place)
    margin = 0 if seats[1].place == 1 else seats[0].points - seats[1].points
    day = page.ended.astimezone(UTC).date()
    author = (wanted.author or "").lower()
    return (
        wanted.bot in {None, *(seat.bot for seat in seats)}
        and (wanted.author is None or author in {seat.author.lower() for seat in seats})
        and wanted.players in {None, page.players}
        and (wanted.points is None or max(seat.points for seat in seats) >= wanted.points)
        and (
            wanted.margin is None
            or (not (seats[0].taken_over or seats[1].taken_over) and margin <= wanted.margin)
        )
        and wanted.faults in {None, any(seat.faults or seat.taken_over for seat in seats)}
        and (wanted.since is None or day >= wanted.since)
        and (wanted.until is None or day <= wanted.until)
    )


def fill_store(store: Store) -> None:
    """Add games at all table sizes, with faults."""
    fill(store)
    dice = random.Random(2)  # noqa: S311 - reproducible
    bots = add_bots(store, [(f"more-{number}", "Someone") for number in range(5)])
    for number in range(8):
        players = 2 + number % 4
        play_matches(
            store, [dice.sample(bots, players)], Rules(players=players), name=f"m{number}", faults=0.03
        )


@pytest.fixture
def games(filled: Store) -> dict[str, GamePage]:
    """Return all games, newest first."""
    return {game.game: present(filled.games.find(game.game)) for game in filled.games.newest(limit=100)}


@filled_on_both
def test_filters_find_what_they_say(filled: Store, games: dict[str, GamePage]) -> None:
    """Filters are tested alone and in pairs: the soak run tests all pairs, others only neighbours."""
    alone = zip(FILTERS, FILTERS, strict=True)
    pairs = product(FILTERS, repeat=2) if SOAK else chain(alone, pairwise(FILTERS))
    for given in (one | other for one, other in pairs):
        wanted = GameFilter(**given)
        expected = [game for game, page in games.items() if matches(page, wanted)]
        found = filled.games.search(wanted, GameOrder.NEWEST, None, 100).games
        assert [each.game for each in found] == expected, given
        if len(expected) > 1:
            rest = filled.games.search(wanted, GameOrder.NEWEST, found[0].number, 1).games
            assert [each.game for each in rest] == expected[1:2]


def test_days_choose_the_games_to_search(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search covers a limited number of games: the newest within the given days."""
    pair = [add_bot(store, name) for name in ("a", "b")]
    for day in range(6):  # two games a day
        match = finished(claimed(store, pair, id_=f"s{day}"), [(1, 2)] * 2)
        assert store.results.record(replace(match, ended=START + timedelta(days=day)))

    def found(*, before: int | None = None, **days: int) -> tuple[list[int], range, bool]:
        limits: dict[str, Any] = {name: START.date() + timedelta(days=day) for name, day in days.items()}
        wanted = GameFilter(**limits)
        told = store.games.search(wanted, GameOrder.NEWEST, before, 9)
        return [each.number for each in told.games], told.searched, told.older

    monkeypatch.setattr(game_search, "WINDOW", 3)
    assert found() == ([12, 11, 10], range(10, 13), True)
    assert found(before=10) == ([9, 8, 7], range(7, 10), True)
    assert found(until=2) == ([6, 5, 4], range(4, 7), True)
    assert found(until=2, before=4) == ([3, 2, 1], range(1, 4), False)
    assert found(since=1, until=2) == ([6, 5, 4], range(4, 7), True)
    assert found(since=1, until=2, before=4) == ([3], range(3, 4), False)
    assert found(since=5) == ([12, 11], range(11, 13), False)
    for nothing in ({"since": 6}, {"until": -1}, {"since": 2, "until": 1}):
        assert found(**nothing)[::2] == ([], False)


@filled_on_both
def test_the_closest_game_since_a_time_is_found(filled: Store) -> None:
    """The result is the first game in the list of closest games that ended after that time, if any."""
    closest = filled.games.search(GameFilter(), GameOrder.CLOSEST, None, 100).games
    ends = sorted({each.ended for each in closest})
    for since in (ends[0] - timedelta(seconds=1), *ends):
        expected = next((each for each in closest if each.ended > since), None)
        assert filled.games.closest_since(since) == expected


def test_the_closest_game_has_no_disqualified_bot(store: Store) -> None:
    """Games with a disqualified bot are skipped."""
    bots = [add_bot(store, bot) for bot in "abc"]
    for number, (pair, places) in enumerate([(bots[:2], (1, 3)), (bots[1:], (1, 2))]):
        record(store, pair, [places], id_=f"s{number}")
    since = datetime.min.replace(tzinfo=UTC)
    assert present(store.games.closest_since(since)).game == "s1-0-0"
    store.bot_states.disqualify("c", "why", START, ENTRY)
    assert present(store.games.closest_since(since)).game == "s0-0-0"


def test_games_can_be_ordered(filled: Store, games: dict[str, GamePage]) -> None:
    """The closest games, the most points or the greatest comebacks come first; among equals, the newest."""
    closest = filled.games.search(GameFilter(), GameOrder.CLOSEST, None, 100).games
    assert [(each.margin, -each.number) for each in closest] == sorted(
        (each.margin, -each.number) for each in closest
    )
    assert len(closest) >= len(games) - 3
    widest = filled.games.search(GameFilter(), GameOrder.WIDEST, None, 100).games
    assert widest == tuple(sorted(closest, key=lambda each: (-(each.margin or 0), -each.number)))
    unranked = [each for each in filled.games.newest(limit=100) if each.margin is None]
    assert len(unranked) == len(games) - len(closest)
    highest = filled.games.search(GameFilter(players=3), GameOrder.HIGHEST, None, 100).games
    tops = [(-max(seat.points for seat in each.seats), -each.number) for each in highest]
    assert tops == sorted(tops)
    assert len(tops) == sum(page.players == 3 for page in games.values()) > 0
    comebacks = filled.games.search(GameFilter(), GameOrder.COMEBACK, None, 100).games
    assert [each.game for each in comebacks] == [
        game
        for game, _ in sorted(behind(games).items(), key=lambda item: -item[1])
        if behind(games)[game] > 0
    ]
    assert [each.behind for each in comebacks] == [behind(games)[each.game] for each in comebacks] != []


PARTS: tuple[dict[str, Any], ...] = ({}, {"players": 3}, {"faults": False, "points": 40})


@filled_on_both
@pytest.mark.parametrize("order", [order for order in GameOrder if order is not GameOrder.NEWEST])
def test_a_sorted_list_continues_after_a_position(filled: Store, order: GameOrder) -> None:
    """The pages contain every game once, in the order of the whole list, even among equals."""
    for wanted in (GameFilter(**part) for part in PARTS):
        whole = filled.games.search(wanted, order, None, 100)
        assert len(whole.positions) == len(whole.games)
        assert list(whole.positions) == sorted(whole.positions, key=lambda each: (each.value, -each.number))
        for limit in (1, 3):
            page = filled.games.search(wanted, order, None, limit)
            found = page.games
            while page.positions:
                page = filled.games.search(wanted, order, None, limit, page.positions[-1])
                found += page.games
            assert found == whole.games


def test_new_games_do_not_move_pages(store: Store) -> None:
    """If games are added during a search, its later pages stay the same."""
    fill(store)
    versions = [add_bot(store, name) for name in ("strong", "weak")]
    record(store, versions, [(1, 2)] * 10 + [(2, 1)] * 2, id_="odds")
    assert len(store.games.search(GameFilter(), GameOrder.UPSET, None, 9).games) > 1
    for order in GameOrder:
        begun = store.games.search(GameFilter(), order, None, 100)
        record(store, versions, [(1, 2)] * 2, id_=f"new-{order}")
        first = store.games.search(GameFilter(), order, begun.searched.stop, 1)
        assert first.games == begun.games[:1]
        for last in first.positions:
            rest = store.games.search(GameFilter(), order, begun.searched.stop, 100, last)
            assert rest.games == begun.games[1:]


def behind(games: dict[str, GamePage]) -> dict[str, int]:
    """Return how many points each game's winner was behind after two rounds, according to the replay."""
    found = {}
    for id_, game in games.items():
        replay = parse(game.replay)
        after = [sum(points) for points in zip(*(each.scores for each in replay.rounds[:2]), strict=True)]
        after = after[: len(replay.places)]
        winners = [seat for seat, place in enumerate(replay.places) if place == 1]
        stayed = [points for points, seat in zip(after, game.seats, strict=True) if not seat.taken_over]
        found[id_] = max(stayed) - min(after[seat] for seat in winners)
    return found


def test_a_bot_that_was_taken_over_was_not_overtaken(store: Store) -> None:
    """A taken-over bot is last, whatever its points. Passing it is no comeback."""
    versions = [add_bot(store, name) for name in ("eel", "tuna", "squid")]
    match = finished(claimed(store, versions, deals=2), [(3, 1, 2), (1, 2, 3)])
    left = replace(match.games[0], after_two=(50, 20, 24), taken_over=(True, False, False))
    alone = replace(match.games[1], after_two=(20, 50, 24), taken_over=(False, True, True))
    assert store.results.record(replace(match, games=(left, alone)))
    [found] = store.games.search(GameFilter(), GameOrder.COMEBACK, None, 9).games
    assert (found.game, found.behind) == (left.id, 4)
    assert [each.margin for each in store.games.newest()] == [None, 1]
