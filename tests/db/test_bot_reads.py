"""Tests of the data on a bot's page: opponents, rating curves, games, records and the place in the queue."""

import random
from collections.abc import Callable

import pytest
from sqlalchemy import Connection, text

from arena.db.database import Database, OpenTransaction
from arena.db.games import GamePage, GameRepository, GameSeat
from arena.db.histories import MAX_SEARCHED, BotGameFilter, Histories
from arena.db.store import Store
from arena.ladder.rating import Rating
from arena.rules import Rules
from tests.builders import play_matches
from tests.db.builders import add_bot, add_matches, claim_one, finished, outcomes, record, run_sql
from tests.db.test_cost import effort, grow, statements
from tests.kinds import filled_on_both, on_both, on_sqlite


def fill_store(store: Store) -> None:
    """Record games of four bots, one of which has two versions, at tables of all sizes, some with faults."""
    dice = random.Random(5)  # noqa: S311 - a test's dice
    current = [add_bot(store, name) for name in ("mine", "b", "c", "d")]
    for number in range(12):
        if number == 6:
            current[0] = add_bot(store, "mine", source="sha256:2")
        seated = dice.sample(current, dice.randint(2, 4))
        faults = [dice.choice((0, 0, 0, 1, 3)) for _ in seated]
        places = outcomes(dice, len(seated), 3)
        record(store, seated, places, id_=f"s{number}", minute=number, faults=faults)


def pages(games: GameRepository) -> list[GamePage]:
    """Return all games with the bot ``mine``, newest first."""
    found = [games.find(game.game) for game in games.newest(limit=100)]
    return [page for page in found if page and any(seat.bot == "mine" for seat in page.seats)]


@on_both
def test_a_bot_is_found_in_any_case(store: Store, url: str) -> None:
    """If names differ only in case, the bot with exactly the given name is preferred."""
    for name in ("Mine", "other"):
        add_bot(store, name)
    run_sql(url, "UPDATE bot SET name = 'mine' WHERE name = 'other'")  # as in old databases
    found = {name: store.bots.find_in_any_case(name) for name in ("mINE", "mine", "Mine", "mine2")}
    assert [bot and bot.name for bot in found.values()] == ["Mine", "mine", "Mine", None]


@filled_on_both
def test_opponents_are_those_of_the_games(filled: Store) -> None:
    """Opponents with the most games come first, in pages, each with the rating of its active version."""
    met = filled.histories.opponents("mine")
    games = pages(filled.games)
    assert {each.bot for each in met} == {"b", "c", "d"}
    assert [each.games for each in met] == sorted((each.games for each in met), reverse=True)
    board = {standing.bot: standing for standing in filled.ratings.standings()}
    for each in met:
        places = [{seat.bot: seat.place for seat in page.seats} for page in games]
        both = [(place["mine"], place[each.bot]) for place in places if each.bot in place]
        assert each.games == len(both)
        assert each.ahead == sum(mine < other for mine, other in both)
        assert each.behind == sum(mine > other for mine, other in both)
        assert each.tied == sum(mine == other for mine, other in both)
        assert each.rating == board[each.bot].entry.rating
    assert filled.histories.opponents("mine", 1, 1) == met[1:2]
    assert filled.histories.opponents("nobody-there") == ()


@filled_on_both
def test_a_curve_goes_from_the_start_to_now(filled: Store) -> None:
    """Each version has its own curve in every list. While games are few, the curve has a point for each."""
    known = {version.number: version for version in filled.bots.versions("mine")}
    for players in (0, 2, 3, 4, 5):
        curves = filled.histories.curve("mine", players)
        assert [curve.version for curve in curves] == [1, 2]
        for curve in curves:
            entry = known[curve.version].results[players]
            assert [point.games for point in curve.points] == list(range(entry.games + 1))
            last = curve.points[-1]
            assert (Rating(last.mean, last.deviation), last.ended) == (entry.rating, entry.last_played)
    assert [curve.version for curve in filled.histories.curve("mine", versions=1)] == [2]
    assert filled.histories.curve("nobody-there") == ()


@on_both
def test_a_long_curve_ends_now_as_well(store: Store) -> None:
    """A curve's last point is the last game, even if its number isn't a multiple of the curve's stride."""
    versions = [add_bot(store, name) for name in "ab"]
    record(store, versions, outcomes(random.Random(1), 2, 131))  # noqa: S311 - a test's dice
    (curve,) = store.histories.curve("a")
    assert [point.games for point in curve.points] == [*range(0, 131, 2), 131]


FILTERS: tuple[tuple[BotGameFilter, Callable[[GamePage, GameSeat], bool]], ...] = (
    (BotGameFilter(), lambda _page, _own: True),
    (BotGameFilter(version=1), lambda _page, own: own.version == 1),
    (BotGameFilter(opponent="c"), lambda page, _own: any(seat.bot == "c" for seat in page.seats)),
    (BotGameFilter(players=3), lambda page, _own: page.players == 3),
    (BotGameFilter(place=1), lambda _page, own: own.place == 1),
    (BotGameFilter(low=38, high=39), lambda _page, own: 38 <= own.points <= 39),
    (BotGameFilter(faulty=True), lambda _page, own: bool(own.faults)),
    (BotGameFilter(faulty=False), lambda _page, own: not own.faults),
    (
        BotGameFilter(version=2, opponent="b", players=4, faulty=False),
        lambda page, own: (
            (own.version, own.faults, page.players) == (2, 0, 4)
            and any(seat.bot == "b" for seat in page.seats)
        ),
    ),
    (BotGameFilter(opponent="nobody-there"), lambda _page, _own: False),
)
"""Filters, and for each whether it should find a game, given the game's page and the bot's seat."""


@filled_on_both
def test_games_are_found_by_filters(filled: Store) -> None:
    """All matching games are found, newest first, whatever the page size."""
    played = [(page, next(seat for seat in page.seats if seat.bot == "mine")) for page in pages(filled.games)]
    for criteria, fits in FILTERS:
        right = [page.number for page, own in played if fits(page, own)]
        for limit in (2, 50):
            found: list[int] = []
            before = None
            while True:
                page = filled.histories.games("mine", criteria, before, limit)
                found += [game.number for game in page.games]
                assert len(page.games) <= limit
                if page.older is None:
                    break
                before = page.older
            assert found == right, criteria


@pytest.fixture
def five_thousand(store: Store, database: Database) -> Database:
    """Return the store's database after ``mine`` has played 5,000 games, only one of which is remarkable."""
    versions = [add_bot(store, name) for name in ("mine", "b")]
    record(store, versions, [(1, 2)])
    assert grow(database) == 5000
    with database.write() as connection:
        connection.execute(text("UPDATE game_seat SET points = 99, faults = 1 WHERE game_number = 7"))
    return database


@pytest.mark.usefixtures("five_thousand")
def test_a_search_for_rare_games_stops_and_continues(store: Store) -> None:
    """A search reads a limited number of games, and returns where to continue."""
    criteria = BotGameFilter(low=99)
    first = store.histories.games("mine", criteria)
    assert (first.games, first.older, first.searched) == ((), 5001 - MAX_SEARCHED, MAX_SEARCHED)
    second = store.histories.games("mine", criteria, first.older)
    assert (second.games, second.older) == ((), 5001 - 2 * MAX_SEARCHED)
    third = store.histories.games("mine", criteria, second.older)
    assert ([game.number for game in third.games], third.older) == ([7], None)
    (faulty,) = store.histories.games("mine", BotGameFilter(faulty=True)).games
    assert faulty.number == 7


@on_sqlite
def test_a_search_for_rare_games_has_a_bounded_cost(five_thousand: Database) -> None:
    """A search's cost, measured on SQLite, doesn't depend on the number of games."""

    def looking(criteria: BotGameFilter) -> Callable[[Connection], object]:
        return lambda connection: Histories(OpenTransaction(connection)).games("mine", criteria)

    assert effort(five_thousand, looking(BotGameFilter(faulty=True))) < 30
    assert effort(five_thousand, looking(BotGameFilter())) < 60
    assert effort(five_thousand, lambda connection: Histories(OpenTransaction(connection)).curve("mine")) < 60
    assert (
        effort(five_thousand, lambda connection: Histories(OpenTransaction(connection)).opponents("mine"))
        < 30
    )


@on_both
def test_only_versions_with_the_newest_games_are_asked(store: Store) -> None:
    """The last games are right if versions alternate. The number of statements follows from the limit."""
    other = add_bot(store, "other")
    versions = [add_bot(store, "mine", source=f"sha256:{number}") for number in range(9)]
    for number, version in enumerate((8, 3, 5, 4, 8, 3), 1):
        record(store, (versions[version], other), [(1, 2)], id_=f"s{number}", faults=(number % 3, 0))
    for before, limit, numbers in (
        (None, 3, [6, 5, 4]),
        (None, 9, [6, 5, 4, 3, 2, 1]),
        (6, 2, [5, 4]),
        (3, 9, [2, 1]),
    ):
        with statements() as sent:
            assert [game.number for game in store.games.newest(before, limit, bot="mine")] == numbers
        assert len([each for each in sent if each[0].startswith("SELECT game_seat.")]) <= min(limit, 4) + 1
    (faulty, *_) = store.histories.records("mine", 9, faulty=True)
    assert (faulty.number, faulty.version) == (5, 9)


@filled_on_both
def test_records_are_of_the_last_games(filled: Store) -> None:
    """Records are of the last games, with the bot's seat. They can be limited to games with its faults."""
    games = pages(filled.games)
    last = filled.histories.records("mine", 5)
    assert [each.number for each in last] == [page.number for page in games[:5]]
    for each, page in zip(last, games, strict=False):
        own = page.seats[each.seat]
        assert (own.bot, own.version, page.game) == ("mine", each.version, each.game)
        assert each.places == tuple(seat.place for seat in page.seats)
        assert each.taken_over == tuple(seat.taken_over for seat in page.seats)
        assert each.rules == Rules(players=page.players)
        assert all(len(step) == page.players for step in each.record.steps)
    faulty = [page.number for page in games if any(seat.bot == "mine" and seat.faults for seat in page.seats)]
    assert [each.number for each in filled.histories.records("mine", 3, faulty=True)] == faulty[:3]
    assert filled.histories.records("nobody-there", 5) == ()


@on_both
def test_the_place_in_the_queue(store: Store) -> None:
    """The place has the bot's running and waiting rated matches, and all matches ahead of its first one."""
    mine, b, c = (add_bot(store, name) for name in ("mine", "b", "c"))
    add_matches(store, "s1", (b, c))
    add_matches(store, "s2", (mine, c))

    def place(bot: str) -> tuple[int, int, int | None]:
        found = store.queue.place(bot)
        return found.running, found.waiting, found.ahead

    assert (place("mine"), place("b"), place("c")) == ((0, 2, 2), (0, 2, 0), (0, 4, 0))
    claims = [claim_one(store) for _ in range(3)]
    assert (place("mine"), place("b"), place("c")) == ((1, 1, 0), (2, 0, None), (3, 1, 0))
    store.results.record(finished(claims[2], [(1, 2)] * 2))
    assert place("mine") == (0, 1, 0)
    assert place("nobody-there") == (0, 0, None)


def test_variants_are_in_the_records(store: Store) -> None:
    """A record has its game's variants, so that it can be replayed by the same rules."""
    versions = [add_bot(store, name) for name in ("mine", "b")]
    rules = Rules(players=2, dummy=True, soy_sauce=True)
    play_matches(store, [versions], rules, name="variants")
    (one, other) = store.histories.records("mine", 5)
    assert (one.rules, other.rules) == (rules, rules)
