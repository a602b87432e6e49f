"""What there is to do, what is being played, and what was lately, on both kinds of database."""

from datetime import datetime, timedelta

import pytest

from arena.match import RuntimeName
from arena.store import (
    HourOfGames,
    LadderChange,
    MatchKind,
    NewAuditEntry,
    OpenMatch,
    Store,
)
from tests.store.builders import START, add_bot, claimed, finished, new_set
from tests.store.test_quarantine import put_aside
from tests.store.test_submissions import PLENTY, claim, game, new, qualify

HOUR = timedelta(hours=1)
NINE = START.replace(minute=0)


def submit(store: Store, opponent: int) -> None:
    """Let a submission wait for a game."""
    store.desk.add(new(bot="third"), PLENTY)
    qualify(store)
    store.desk.add_game(game("q", "u1", (opponent, None)), played=0)


def test_an_empty_arena_has_nothing_to_do(store: Store) -> None:
    """No match, no game, in no hour."""
    found = store.reads.workload(START, hours=2)
    assert found.waiting == dict.fromkeys(MatchKind, 0)
    assert (found.paused, found.running, found.quarantined, found.last_game) == (False, (), 0, None)
    assert found.hours == (HourOfGames(begins=NINE - HOUR, games=0), HourOfGames(begins=NINE, games=0))


def test_what_waits_is_counted_by_kind(store: Store) -> None:
    """Not what runs, and not what was put aside."""
    versions = [add_bot(store, bot) for bot in "ab"]
    store.writes.add_set(new_set("aside", versions, matches=1))
    put_aside(store)
    store.writes.add_set(new_set("s", versions))
    submit(store, versions[0])
    claim(store)
    found = store.reads.workload(START)
    assert found.waiting == {MatchKind.RATED: 2, MatchKind.QUALIFICATION: 0, MatchKind.CHALLENGE: 0}
    assert found.quarantined == 1
    assert [match.kind for match in found.running] == [MatchKind.QUALIFICATION]


def test_what_is_played_is_told_with_who_sits_there(store: Store) -> None:
    """Of every kind, in seat order; a submission has no version yet."""
    versions = [add_bot(store, bot) for bot in "ab"]
    submit(store, versions[0])
    store.writes.add_set(new_set("s", versions, deals=3, matches=1))
    for minute in range(2):
        assert store.leases.claim("here", "worker", START + timedelta(minutes=minute), RuntimeName.DOCKER)
    assert store.reads.workload(START).running == (
        OpenMatch(
            match="q-0",
            kind=MatchKind.QUALIFICATION,
            players=2,
            deals=1,
            started=START,
            worker="worker",
            coordinator="here",
            seats=(("a", 1), ("third", None)),
        ),
        OpenMatch(
            match="s-0",
            kind=MatchKind.RATED,
            players=2,
            deals=3,
            started=START + timedelta(minutes=1),
            worker="worker",
            coordinator="here",
            seats=(("a", 1), ("b", 1)),
        ),
    )


@pytest.mark.parametrize(
    ("at", "hours"),
    [
        (START + HOUR, [0, 1, 4]),
        (START + HOUR * 2, [1, 4, 0]),
        (START + HOUR * 4, [0, 0, 0]),
    ],
)
def test_games_are_counted_by_the_hour_in_which_they_ended(
    store: Store, at: datetime, hours: list[int]
) -> None:
    """The last hour is the one that has begun."""
    versions = [add_bot(store, bot) for bot in "ab"]
    for number, (minute, games) in enumerate([(20, 1), (40, 2), (50, 2)]):
        match = finished(
            claimed(store, versions, id_=f"s{number}", deals=games), [(1, 2)] * games, minute=minute
        )
        assert store.writes.record(match)
    found = store.reads.workload(at, hours=3)
    assert [hour.games for hour in found.hours] == hours
    assert found.hours[-1].begins == at.replace(minute=0)
    assert found.last_game == START + timedelta(minutes=50)


def test_a_paused_ladder_is_told(store: Store) -> None:
    """As operators have paused it."""
    entry = NewAuditEntry(at=START, who="terminal:root", what="ladder")
    store.writes.change_ladder(LadderChange(paused=True), entry)
    assert store.reads.workload(START).paused


def test_the_list_of_what_was_put_aside_can_be_cut(store: Store) -> None:
    """The last one stays."""
    versions = [add_bot(store, bot) for bot in "ab"]
    store.writes.add_set(new_set("s", versions, matches=2))
    put_aside(store, minute=1)
    last = put_aside(store, minute=2)
    assert [match.match for match in store.reads.quarantine(1)] == [last]
    assert len(store.reads.quarantine()) == 2
