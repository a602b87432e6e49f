"""Analyses of rated games in the store."""

from datetime import timedelta
from functools import cache

from arena.db.store import Store
from arena.play.analysis.analyst import ANALYST, VERSION, analyse
from arena.play.replay.document import parse
from arena.protocol.analysis import COSTLY, Analysis
from tests.builders import START
from tests.db.builders import add_few_games
from tests.kinds import on_both


@cache
def analysed(replay: str, seed: int = 0) -> Analysis:
    """Analyse a game coarsely; once, whichever tests and databases have it."""
    return analyse(parse(replay), playouts=8, seed=seed)


def wanted_game(store: Store, **filters: tuple[str, ...]) -> str | None:
    """Return the id of the game to analyse next."""
    replay = store.analyses.wanted(ANALYST, VERSION, **filters)
    return None if replay is None else parse(replay).game


def test_remarkable_games_come_first_and_each_game_once(store: Store) -> None:
    """Then the newest, until none is left; a newer analyst begins anew."""
    add_few_games(store)
    remarkable = {each.game.game for each in store.activity.current(START).remarkable}
    everything = [game.game for game in store.games.newest()]
    order = []
    while (replay := store.analyses.wanted(ANALYST, VERSION)) is not None:
        analysis = analysed(replay)
        assert store.analyses.add(analysis)
        assert store.analyses.find(analysis.game) == analysis
        order.append(analysis.game)
    assert sorted(order) == sorted(everything)
    assert 0 < len(remarkable) < len(everything)
    assert set(order[: len(remarkable)]) == remarkable
    assert order[len(remarkable) :] == [game for game in everything if game not in remarkable]
    assert store.analyses.wanted(ANALYST, VERSION + 1) is not None


def test_an_analysis_takes_the_place_of_an_earlier_one(store: Store) -> None:
    """A game has one."""
    add_few_games(store)
    replay = parse(store.analyses.wanted(ANALYST, VERSION) or "")
    first, second = (analyse(replay, playouts=8, seed=seed) for seed in (1, 2))
    assert store.analyses.add(first)
    assert store.analyses.add(second)
    assert store.analyses.find(replay.game) == second != first


@on_both
def test_costly_decisions_are_found_by_the_version_that_made_them(store: Store) -> None:
    """The costliest first; a new analysis replaces them, and they go with it."""
    add_few_games(store)
    while (replay := store.analyses.wanted(ANALYST, VERSION)) is not None:
        store.analyses.add(analysed(replay))
    replays = [parse(page.replay) for game in store.games.newest() if (page := store.games.find(game.game))]
    for bot in {seat.bot for replay in replays for seat in replay.seats}:
        expected = [
            (each.game, made.round, made.turn, made.seat, made.lost_chance)
            for each in replays
            for made in (store.analyses.find(each.game) or analyse(each)).decisions
            if made.grade in COSTLY and not made.standin and each.seats[made.seat].bot == bot
        ]
        found = store.analyses.costly(bot, 1)
        assert sorted(expected) == sorted(
            (each.game, each.round, each.turn, each.seat, each.lost_chance) for each in found
        )
        losses = [each.lost_chance for each in found]
        assert losses == sorted(losses, reverse=True)
        assert store.analyses.costly(bot, 2) == ()
    again = analyse(replays[0], playouts=8, seed=3)
    assert store.analyses.add(again)
    store.logs.remove_replays(START + timedelta(days=9999), 99)
    assert store.analyses.costly(replays[0].seats[0].bot, 1) == ()


@on_both
def test_a_game_that_failed_is_left_out(store: Store) -> None:
    """The next one takes its turn."""
    add_few_games(store)
    first = wanted_game(store) or ""
    second = wanted_game(store, without=(first,)) or ""
    assert "" != first != second != ""


@on_both
def test_nothing_is_kept_of_games_that_are_gone(store: Store) -> None:
    """An analysis goes with its replay, and none is stored without."""
    add_few_games(store)
    analysis = analysed(store.analyses.wanted(ANALYST, VERSION) or "")
    assert store.analyses.add(analysis)
    store.logs.remove_replays(START + timedelta(days=9999), 99)
    assert store.analyses.find(analysis.game) is None
    assert not store.analyses.add(analysis)
    assert store.analyses.wanted(ANALYST, VERSION) is None
    assert store.analyses.find("no-such-game") is None
