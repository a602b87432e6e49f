"""Puzzles of the day in the store."""

from datetime import timedelta

from arena.db.store import Store
from arena.play.analysis.analyst import analyse
from arena.play.replay.document import parse
from tests.builders import START, analysed, puzzled
from tests.db.builders import add_few_games, present
from tests.kinds import on_both

TODAY = START.date()
DAY = timedelta(days=1)


@on_both
def test_todays_puzzle_stays_and_the_best_becomes_tomorrows(store: Store) -> None:
    """Tomorrow's is not found before; then it is the newest."""
    add_few_games(store)
    first = puzzled(store, "two-0-0", TODAY)
    known = present(store.puzzles.find(TODAY))
    assert (known.game, known.made) == ("two-0-0", first)
    assert parse(known.replay).game == "two-0-0"
    others = analysed(store, "faulty-0-0").decisions
    for merit, made in ((0.2, others[3]), (0.5, others[4]), (0.3, others[5])):
        store.puzzles.offer("faulty-0-0", made, merit, TODAY)
    assert store.puzzles.find(TODAY) == known
    assert store.puzzles.newest(TODAY, 9) == (TODAY,)
    assert store.puzzles.newest(TODAY + DAY, 9) == (TODAY + DAY, TODAY)
    following = present(store.puzzles.find(TODAY + DAY))
    assert following.made == others[4]


def test_a_puzzle_goes_with_its_game(store: Store) -> None:
    """An analysis that is made anew changes its answer; without the replay there is no puzzle."""
    add_few_games(store)
    made = puzzled(store, "two-0-0", TODAY)
    known = present(store.puzzles.find(TODAY))
    again = analyse(parse(known.replay), playouts=8, seed=5)
    assert store.analyses.add(again)
    changed = present(store.puzzles.find(TODAY))
    assert changed.made != made
    assert (changed.made.turn, changed.made.seat) == (made.turn, made.seat)
    store.logs.remove_replays(START + DAY, 99)
    assert store.puzzles.find(TODAY) is None
    assert store.puzzles.newest(TODAY, 9) == ()
    store.puzzles.offer("no-such-game", made, 1.0, TODAY + DAY)
    assert store.puzzles.newest(TODAY + DAY, 9) == ()
