"""Tests of the data about the arena's recent activity, workload and hosts."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

import pytest
from sqlalchemy import text

from arena.db import activity
from arena.db.database import Database
from arena.db.queue import OpenMatch
from arena.db.store import Store
from arena.ladder.highlights import KEPT, HighlightKind
from arena.ladder.settings import LadderChange
from arena.protocol.match import RuntimeName
from arena.protocol.states import MatchKind
from arena.protocol.status import Hour, Seated
from tests.builders import host_report
from tests.db.builders import (
    ENTRY,
    START,
    add_bot,
    add_matches,
    claim_one,
    claimed,
    finished,
    next_match,
    put_aside,
    record,
)
from tests.db.test_submissions import submit
from tests.kinds import on_both

LATER: Final = START + timedelta(days=9)
HOUR: Final = timedelta(hours=1)
NINE: Final = START.replace(minute=0)


@on_both
def test_an_empty_arena_has_no_activity(store: Store) -> None:
    """An empty arena has no matches, games or highlights."""
    activity = store.activity.current(START)
    assert (activity.running, activity.remarkable) == ((), ())
    assert (activity.games_last_hour, activity.games_last_day) == (0, 0)
    found = store.activity.workload(START)
    assert found.waiting == dict.fromkeys(MatchKind, 0)
    assert (found.paused, found.running, found.quarantined, found.last_game) == (False, (), 0, None)
    assert found.hours == tuple(Hour(begins=NINE - back * HOUR, games=0) for back in reversed(range(24)))


def test_games_of_the_last_hour_and_day_are_counted(store: Store) -> None:
    """Games are counted by the time at which they ended."""
    versions = [add_bot(store, bot) for bot in "ab"]
    for number, minute in enumerate((0, 30, 24 * 60 - 50, 24 * 60 - 40)):
        record(store, versions, [(1, 2)] * 2, id_=f"s{number}", minute=minute)
    at = START + timedelta(hours=24)
    activity = store.activity.current(at)
    assert (activity.games_last_hour, activity.games_last_day) == (4, 6)
    activity = store.activity.current(at + timedelta(minutes=1))
    assert (activity.games_last_hour, activity.games_last_day) == (4, 6)
    activity = store.activity.current(at + timedelta(days=1))
    assert (activity.games_last_hour, activity.games_last_day) == (0, 0)


def surprise(store: Store, versions: list[int], *, day: int) -> None:
    """Record thirty wins of the first bot, and then a loss."""
    record(store, versions, [(1, 2)] * 30 + [(2, 1)], id_=f"day{day}", minute=day * 24 * 60)


def test_upsets_and_points_are_highlights(store: Store) -> None:
    """Highlights come from the last two days that have any, the best first, with the game and its bots."""
    versions = [add_bot(store, bot) for bot in ("strong", "weak")]
    for day in (0, 1, 3):
        surprise(store, versions, day=day)
    found = store.activity.current(LATER).remarkable
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
    """Only a few highlights of each kind are stored per day."""
    versions = [add_bot(store, bot) for bot in "ab"]
    record(store, versions, [(1, 2)] * 12)
    found = store.activity.current(LATER).remarkable
    assert [each.kind for each in found] == [HighlightKind.POINTS] * KEPT
    assert [each.game.number for each in found] == [*range(1, KEPT + 1)]


def test_games_of_a_disqualified_bot_are_not_highlights(store: Store) -> None:
    """Games of a disqualified bot, earlier or later, aren't highlights until it is reinstated."""
    versions = [add_bot(store, bot) for bot in ("strong", "weak")]
    surprise(store, versions, day=1)
    before = store.activity.current(LATER).remarkable
    claim = claimed(store, versions, id_="late")
    store.bot_states.disqualify("weak", "why", LATER, ENTRY)
    assert store.results.record(finished(claim, [(2, 1)] * 2, minute=24 * 60))
    assert store.activity.current(LATER).remarkable == ()
    store.bot_states.reinstate("weak", LATER, ENTRY)
    after = store.activity.current(LATER).remarkable
    assert before[0] in after
    assert store.ladder.rebuild().differing == 0


def test_waiting_matches_are_counted_by_kind(store: Store) -> None:
    """Running and quarantined matches aren't counted as waiting. A paused ladder is reported."""
    versions = [add_bot(store, bot) for bot in "ab"]
    add_matches(store, "aside", versions, matches=1)
    put_aside(store)
    add_matches(store, "s", versions)
    submit(store, versions[0], None, bot="third")
    claim_one(store)
    store.ladder.change(LadderChange(paused=True), ENTRY)
    found = store.activity.workload(START)
    assert found.paused
    assert found.waiting == {MatchKind.RATED: 2, MatchKind.QUALIFICATION: 0, MatchKind.CHALLENGE: 0}
    assert found.quarantined == 1
    assert [match.kind for match in found.running] == [MatchKind.QUALIFICATION]


def test_running_matches_are_listed_in_seat_order(store: Store) -> None:
    """A submitted bot has no version number yet. Viewers see only rated matches."""
    versions = [add_bot(store, bot) for bot in "abc"]
    submit(store, versions[0], None, bot="third")
    add_matches(store, "s", versions, deals=4)
    for minute in range(3):
        assert store.leases.claim("here", "worker", START + timedelta(minutes=minute), RuntimeName.DOCKER)
    qualification = OpenMatch(
        match="q-0",
        kind=MatchKind.QUALIFICATION,
        players=2,
        deals=1,
        started=START,
        worker="worker",
        coordinator="here",
        seats=(Seated(bot="a", version=1), Seated(bot="third", version=None)),
    )
    rated = tuple(
        OpenMatch(
            match=match,
            kind=MatchKind.RATED,
            players=3,
            deals=4,
            started=START + timedelta(minutes=minute),
            worker="worker",
            coordinator="here",
            seats=tuple(Seated(bot=bot, version=1) for bot in seats),
        )
        for match, minute, seats in (("s-0", 1, "abc"), ("s-1", 2, "cab"))
    )
    assert store.activity.workload(START).running == (qualification, *rated)
    activity = store.activity.current(START)
    assert (activity.running, activity.matches_running) == (rated, 3)


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
    """Games count for the hour in which they ended. The list ends with the current hour."""
    versions = [add_bot(store, bot) for bot in "ab"]
    for number, (minute, games) in enumerate([(20, 1), (40, 2), (50, 2)]):
        record(store, versions, [(1, 2)] * games, id_=f"s{number}", minute=minute)
    found = store.activity.workload(at)
    assert [hour.games for hour in found.hours[-3:]] == hours
    assert found.hours[-1].begins == at.replace(minute=0)
    assert found.last_game == START + timedelta(minutes=50)


def test_the_newest_report_of_each_host_is_kept(store: Store) -> None:
    """A host's new report replaces the previous one. The most recently checked host comes first."""
    old = host_report("swap", host="a")
    new = replace(host_report(host="a"), checked=START + timedelta(days=300))
    other = replace(host_report("cpu", host="b"), checked=START + timedelta(days=600))
    store.activity.record_host(old, {"swap"})
    assert [(found.report, found.accepted) for found in store.activity.hosts()] == [
        (old, frozenset({"swap"}))
    ]
    store.activity.record_host(other, ())
    store.activity.record_host(new, ())
    assert [found.report for found in store.activity.hosts()] == [other, new]
    assert [found.unaccepted for found in store.activity.hosts()] == [("cpu",), ()]


@on_both
def test_old_reports_are_deleted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the newest reports are kept."""
    monkeypatch.setattr(activity, "_MAX_HOSTS", 2)
    for day, host in enumerate(["a", "b", "a", "c", "d"]):
        report = replace(host_report(host=host), checked=START + timedelta(days=day))
        store.activity.record_host(report, ())
    assert [found.report.host for found in store.activity.hosts()] == ["d", "c"]


@on_both
def test_an_older_report_without_slots_is_read(store: Store, database: Database) -> None:
    """In a report without slots, their number is None."""
    store.activity.record_host(host_report(), ())
    with database.write() as connection:
        report = bytes(connection.execute(text("SELECT report FROM host_report")).scalar_one())
        older = report.replace(b',"slots":5', b"")
        assert older != report
        connection.execute(text("UPDATE host_report SET report = :older"), {"older": older})
    (found,) = store.activity.hosts()
    assert found.report == replace(host_report(), slots=None)


def test_a_host_with_a_long_name_is_stored(store: Store) -> None:
    """The report of a host with a long name can be stored and replaced."""
    for _ in range(2):
        store.activity.record_host(host_report(host="long-" * 40), ())
    (found,) = store.activity.hosts()
    assert found.report.host == "long-" * 40


@on_both
def test_matches_with_submitted_bots_wait(store: Store) -> None:
    """While only house bots may play, only matches between them are claimed, even if others are older."""
    house = [add_bot(store, name, author="house") for name in "ab"]
    stranger = add_bot(store, "c")
    add_matches(store, "mixed", [house[0], stranger])
    add_matches(store, "own", house)

    assert store.queue.waiting(RuntimeName.DOCKER, house_only=True) == 2
    assert store.queue.waiting(RuntimeName.DOCKER) == 4
    assert [next_match(store, house_only=True) for _ in range(3)] == ["own-0", "own-1", None]
    assert [next_match(store) for _ in range(3)] == ["mixed-0", "mixed-1", None]


def test_candidates_can_be_limited_to_house_bots(store: Store) -> None:
    """While untrusted bots are barred they aren't candidates, and their waiting matches aren't counted."""
    house = [add_bot(store, name, author="house") for name in "ab"]
    stranger = add_bot(store, "c")
    add_matches(store, "mixed", [house[0], stranger], deals=3)
    add_matches(store, "own", house, deals=1)
    both = {candidate.version: candidate.queued[2] for candidate in store.ratings.candidates()}
    alone = {
        candidate.version: candidate.queued[2] for candidate in store.ratings.candidates(house_only=True)
    }
    assert both == {house[0]: 8, house[1]: 2, stranger: 6}
    assert alone == {house[0]: 2, house[1]: 2}
