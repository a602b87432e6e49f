"""What the arena is doing, and what was remarkable of late."""

from datetime import timedelta
from typing import Final

import pytest
from sqlalchemy import create_engine, text

from arena.highlights import KEPT, HighlightKind
from arena.match import RuntimeName
from arena.store import NewAuditEntry, RunningMatch, Store
from tests.store.builders import START, add_bot, claimed, finished, new_set

LATER: Final = START + timedelta(days=9)
ENTRY: Final = NewAuditEntry(at=LATER, who="terminal:root", what="test")


def test_nothing_happens_in_an_empty_arena(store: Store) -> None:
    """No match, no game, nothing remarkable."""
    activity = store.reads.activity(START)
    assert (activity.running, activity.remarkable) == ((), ())
    assert (activity.games, activity.games_last_hour, activity.games_last_day) == (0, 0, 0)


def test_what_is_played_is_told_with_who_sits_there(store: Store) -> None:
    """In seat order; what waits is counted."""
    versions = [add_bot(store, bot) for bot in "abc"]
    store.writes.add_set(new_set("s", versions, deals=4))
    for _ in range(2):
        assert store.leases.claim("here", "worker", START, RuntimeName.DOCKER)
    activity = store.reads.activity(START)
    assert (activity.matches_running, activity.matches_waiting) == (2, 1)
    assert activity.running == tuple(
        RunningMatch(match=match, players=3, deals=4, started=START, seats=tuple((bot, 1) for bot in seats))
        for match, seats in (("s-0", "abc"), ("s-1", "cab"))
    )


def test_games_of_the_last_hour_and_day_are_counted(store: Store) -> None:
    """By when they ended."""
    versions = [add_bot(store, bot) for bot in "ab"]
    for number, minute in enumerate((0, 30, 24 * 60 - 50, 24 * 60 - 40)):
        claim = claimed(store, versions, id_=f"s{number}")
        assert store.writes.record(finished(claim, [(1, 2)] * 2, minute=minute))
    at = START + timedelta(hours=24)
    activity = store.reads.activity(at)
    assert (activity.games, activity.games_last_hour, activity.games_last_day) == (8, 4, 6)
    activity = store.reads.activity(at + timedelta(minutes=1))
    assert (activity.games_last_hour, activity.games_last_day) == (4, 6)
    activity = store.reads.activity(at + timedelta(days=1))
    assert (activity.games_last_hour, activity.games_last_day) == (0, 0)


def surprise(store: Store, versions: list[int], *, day: int) -> None:
    """Let the first win thirty games, and lose one."""
    claim = claimed(store, versions, id_=f"day{day}", deals=31)
    assert store.writes.record(finished(claim, [(1, 2)] * 30 + [(2, 1)], minute=day * 24 * 60))


def test_upsets_and_points_are_remarkable(store: Store) -> None:
    """Of the last two days with any; the best first, with the game and who was in it."""
    versions = [add_bot(store, bot) for bot in ("strong", "weak")]
    for day in (0, 1, 3):
        surprise(store, versions, day=day)
    found = store.reads.activity(LATER).remarkable
    upsets = [each for each in found if each.kind is HighlightKind.UPSET]
    assert upsets[0].game.seats[upsets[0].seat].bot == "weak"
    assert upsets[0].other is not None
    assert upsets[0].game.seats[upsets[0].other].bot == "strong"
    assert [each.value for each in upsets] == sorted(each.value for each in upsets)
    assert {each.game.game for each in upsets} == {"day1-0-30", "day3-0-30"}
    points = [each for each in found if each.kind is HighlightKind.POINTS]
    assert [each.value for each in points] == [39] * KEPT
    assert {each.game.game[:4] for each in points} == {"day1"}


def test_a_day_keeps_a_few(store: Store) -> None:
    """Of each kind, however much was played."""
    versions = [add_bot(store, bot) for bot in "ab"]
    assert store.writes.record(finished(claimed(store, versions, deals=12), [(1, 2)] * 12))
    found = store.reads.activity(LATER).remarkable
    assert [each.kind for each in found] == [HighlightKind.POINTS] * KEPT
    assert [each.game.number for each in found] == [*range(1, KEPT + 1)]


def test_games_of_a_disqualified_bot_are_not_remarkable(store: Store) -> None:
    """Neither are those that it still plays; once it is reinstated they are again."""
    versions = [add_bot(store, bot) for bot in ("strong", "weak")]
    surprise(store, versions, day=1)
    before = store.reads.activity(LATER).remarkable
    claim = claimed(store, versions, id_="late")
    store.bots.disqualify("weak", "why", LATER, ENTRY)
    assert store.writes.record(finished(claim, [(2, 1)] * 2, minute=24 * 60))
    assert store.reads.activity(LATER).remarkable == ()
    store.bots.reinstate("weak", LATER, ENTRY)
    after = store.reads.activity(LATER).remarkable
    assert before[0] in after
    assert store.writes.rebuild_ratings().differing == 0


@pytest.mark.parametrize(
    "statement",
    ["DELETE FROM highlight WHERE seat = 1", "UPDATE highlight SET value = 99 WHERE kind = 'points'"],
)
def test_a_rebuild_repairs_what_differs(store: Store, url: str, statement: str) -> None:
    """Lost and altered rows become what the log says again, and are counted."""
    versions = [add_bot(store, bot) for bot in ("strong", "weak")]
    surprise(store, versions, day=1)
    before = store.reads.activity(LATER).remarkable
    engine = create_engine(url)
    with engine.begin() as connection:
        changed = connection.execute(text(statement)).rowcount
    engine.dispose()
    assert changed > 0
    assert store.writes.rebuild_ratings().differing == changed
    assert store.reads.activity(LATER).remarkable == before
