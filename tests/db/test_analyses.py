"""Tests of stored analyses of rated games, and of puzzles of the day."""

from dataclasses import replace
from datetime import timedelta

from arena.db.store import Store
from arena.play.analysis.analyst import ANALYST, VERSION
from arena.play.replay.document import parse
from arena.protocol.analysis import COSTLY
from tests.builders import START, analysed, coarse_analysis, puzzled
from tests.db.builders import add_few_games, present
from tests.kinds import on_both


def wanted_game(store: Store, **filters: tuple[str, ...]) -> str | None:
    """Return the id of the game to analyse next."""
    replay = store.analyses.next_replay(ANALYST, VERSION, **filters)
    return None if replay is None else parse(replay).game


def test_remarkable_games_come_first_and_each_game_once(store: Store) -> None:
    """Remarkable games are analysed first, then the newest. A newer version of the analyst starts over."""
    add_few_games(store)
    remarkable = {each.game.game for each in store.activity.current(START).remarkable}
    everything = [game.game for game in store.games.newest()]
    order = []
    while (replay := store.analyses.next_replay(ANALYST, VERSION)) is not None:
        analysis = coarse_analysis(replay)
        assert store.analyses.add(analysis)
        assert store.analyses.find(analysis.game) == analysis
        order.append(analysis.game)
    assert sorted(order) == sorted(everything)
    assert 0 < len(remarkable) < len(everything)
    assert set(order[: len(remarkable)]) == remarkable
    assert order[len(remarkable) :] == [game for game in everything if game not in remarkable]
    assert store.analyses.next_replay(ANALYST, VERSION + 1) is not None


def test_an_analysis_replaces_an_earlier_one(store: Store) -> None:
    """A new analysis of a game replaces the earlier one."""
    add_few_games(store)
    first = coarse_analysis(store.analyses.next_replay(ANALYST, VERSION) or "")
    second = replace(first, seed=2, decisions=first.decisions[:-1])
    assert store.analyses.add(first)
    assert store.analyses.add(second)
    assert store.analyses.find(first.game) == second


@on_both
def test_costly_decisions_are_found_by_the_version_that_made_them(store: Store) -> None:
    """The costliest decisions come first. They are replaced or removed with the game's analysis."""
    add_few_games(store)
    while (replay := store.analyses.next_replay(ANALYST, VERSION)) is not None:
        store.analyses.add(coarse_analysis(replay))
    replays = [parse(page.replay) for game in store.games.newest() if (page := store.games.find(game.game))]
    for bot in {seat.bot for replay in replays for seat in replay.seats}:
        expected = [
            (each.game, decision.round, decision.turn, decision.seat, decision.lost_chance)
            for each in replays
            for decision in present(store.analyses.find(each.game)).decisions
            if decision.grade in COSTLY and not decision.standin and each.seats[decision.seat].bot == bot
        ]
        found = store.analyses.costly(bot, 1)
        assert sorted(expected) == sorted(
            (each.game, each.round, each.turn, each.seat, each.lost_chance) for each in found
        )
        losses = [each.lost_chance for each in found]
        assert losses == sorted(losses, reverse=True)
        assert store.analyses.costly(bot, 2) == ()
    store.logs.remove_replays(START + timedelta(days=9999), 99)
    assert store.analyses.costly(replays[0].seats[0].bot, 1) == ()


@on_both
def test_a_game_that_failed_is_left_out(store: Store) -> None:
    """If the analysis of a game fails, the next game is analysed instead."""
    add_few_games(store)
    first = wanted_game(store) or ""
    second = wanted_game(store, without=(first,)) or ""
    assert "" != first != second != ""


@on_both
def test_no_analysis_outlives_its_replay(store: Store) -> None:
    """An analysis is removed together with the game's replay, and isn't stored without a replay."""
    add_few_games(store)
    analysis = coarse_analysis(store.analyses.next_replay(ANALYST, VERSION) or "")
    assert store.analyses.add(analysis)
    store.logs.remove_replays(START + timedelta(days=9999), 99)
    assert store.analyses.find(analysis.game) is None
    assert not store.analyses.add(analysis)
    assert store.analyses.next_replay(ANALYST, VERSION) is None
    assert store.analyses.find("no-such-game") is None


TODAY = START.date()
DAY = timedelta(days=1)


@on_both
def test_todays_puzzle_stays_and_the_best_becomes_tomorrows(store: Store) -> None:
    """Better decisions don't replace today's puzzle. Tomorrow's can't be found until tomorrow."""
    add_few_games(store)
    first = puzzled(store, "two-0-0", TODAY)
    known = present(store.puzzles.find(TODAY))
    assert (known.game, known.decision) == ("two-0-0", first)
    assert parse(known.replay).game == "two-0-0"
    others = analysed(store, "faulty-0-0").decisions
    for merit, decision in ((0.2, others[3]), (0.5, others[4]), (0.3, others[5])):
        store.puzzles.offer("faulty-0-0", decision, merit, TODAY)
    assert store.puzzles.find(TODAY) == known
    assert store.puzzles.newest(TODAY, 9) == (TODAY,)
    assert store.puzzles.newest(TODAY + DAY, 9) == (TODAY + DAY, TODAY)
    following = present(store.puzzles.find(TODAY + DAY))
    assert following.decision == others[4]


def test_a_puzzle_changes_with_its_game(store: Store) -> None:
    """A new analysis of its game changes the puzzle's answer. Removing the replay removes the puzzle."""
    add_few_games(store)
    decision = puzzled(store, "two-0-0", TODAY)
    known = present(store.puzzles.find(TODAY))
    again = coarse_analysis(known.replay)  # without the house bots' choices
    assert store.analyses.add(again)
    changed = present(store.puzzles.find(TODAY))
    assert changed.decision != decision
    assert (changed.decision.turn, changed.decision.seat) == (decision.turn, decision.seat)
    store.logs.remove_replays(START + DAY, 99)
    assert store.puzzles.find(TODAY) is None
    assert store.puzzles.newest(TODAY, 9) == ()
    store.puzzles.offer("no-such-game", decision, 1.0, TODAY + DAY)
    assert store.puzzles.newest(TODAY + DAY, 9) == ()
