"""Tests of the ratings computed from a log, and of the points of rating curves."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ladder.rating import Rating, initial, next_version, update
from arena.ladder.rating_events import (
    LISTS,
    MAX_POINTS,
    Entry,
    Event,
    GamePlayed,
    Key,
    VersionStarted,
    apply,
    stride,
    thinned,
)
from arena.ladder.skills import PRIOR, update_skills
from tests.ladder.games import rebuild

START = datetime(2026, 1, 1, tzinfo=UTC)


def game(
    versions: tuple[int, ...], places: tuple[int, ...], minute: int = 0, *, times: tuple[int | None, ...] = ()
) -> GamePlayed:
    """Return a game without faults."""
    return GamePlayed(
        versions=versions,
        places=places,
        faulty=(False,) * len(versions),
        times=times or (None,) * len(versions),
        ended=START + timedelta(minutes=minute),
    )


@st.composite
def logs(draw: st.DrawFn) -> list[Event]:
    """Draw a log in which bots start, play and get new versions."""
    events: list[Event] = [VersionStarted(version=version, previous=None) for version in range(1, 6)]
    current = [1, 2, 3, 4, 5]
    for minute in range(draw(st.integers(0, 15))):
        if draw(st.integers(0, 4)) == 0:
            bot = draw(st.integers(0, 4))
            version = max(current) + 1
            events.append(VersionStarted(version=version, previous=current[bot]))
            current[bot] = version
        else:
            players = draw(st.integers(2, 5))
            versions = tuple(draw(st.permutations(current))[:players])
            places = tuple(draw(st.lists(st.integers(1, players), min_size=players, max_size=players)))
            events.append(game(versions, places, minute))
    return events


@given(logs())
def test_applying_an_event_changes_no_earlier_entries(events: list[Event]) -> None:
    """The new entries are returned, and those before the event remain as they are."""
    entries: dict[Key, Entry] = {}
    for event in events:
        before = dict(entries)
        changed = apply(entries, event)
        assert entries == before
        entries.update(changed)


@given(logs())
def test_each_list_counts_its_own_games(events: list[Event]) -> None:
    """The overall list counts all of a version's games, others only those at their table size."""
    entries = rebuild(events)
    games = [event for event in events if isinstance(event, GamePlayed)]
    for (version, players), entry in entries.items():
        mine = [g for g in games if version in g.versions and players in {0, len(g.versions)}]
        places = [g.places[g.versions.index(version)] for g in mine]
        assert (entry.games, entry.place_sum, entry.wins) == (len(mine), sum(places), places.count(1))
        assert entry.last_played == (mine[-1].ended if mine else None)


def test_a_new_bot_starts_in_every_list() -> None:
    """In every list, a new bot starts with the initial rating."""
    assert rebuild([VersionStarted(version=7, previous=None)]) == {
        (7, players): Entry(rating=initial(), skill=PRIOR, sound=PRIOR) for players in LISTS
    }


def test_a_new_version_carries_on_in_every_list() -> None:
    """A new version starts from the previous one's rating in the same list, without games."""
    events: list[Event] = [VersionStarted(version=version, previous=None) for version in (1, 2)]
    events += [game((1, 2), (1, 2))] * 30 + [game((2, 1), (1, 2))] * 30
    old = rebuild(events)
    new = apply(old, VersionStarted(version=3, previous=1))
    assert new == {
        (3, players): Entry(
            rating=next_version(old[1, players].rating, initial()),
            skill=next_version(old[1, players].skill, PRIOR),
            sound=next_version(old[1, players].skill, PRIOR),
        )
        for players in LISTS
    }
    assert new[3, 2].rating == Rating(old[1, 2].rating.mean, math.hypot(old[1, 2].rating.deviation, 1))


def test_losses_by_faults_make_the_next_version_less_certain() -> None:
    """The next version's means count all games. Its deviations grow by the faults' possible effect."""
    events: list[Event] = [VersionStarted(version=version, previous=None) for version in (1, 2)]
    events += [game((1, 2), (1, 2))] * 10
    sound = rebuild(events)
    lost = replace(game((1, 2), (2, 1)), faulty=(True, False))
    old = rebuild([*events, *[lost] * 40])
    assert old[1, 0].sound == sound[1, 0].skill
    assert old[1, 0].skill.mean < old[2, 0].skill.mean
    new = apply(old, VersionStarted(version=3, previous=1))[3, 0]
    cost = sound[1, 0].skill.mean - old[1, 0].skill.mean
    assert cost > 1
    assert new.rating == next_version(old[1, 0].rating, initial(), cost)
    assert new.skill == new.sound == next_version(old[1, 0].skill, PRIOR, cost)
    assert (new.rating.mean, new.skill.mean) == (old[1, 0].rating.mean, old[1, 0].skill.mean)
    assert new.rating.deviation > next_version(old[1, 0].rating, initial()).deviation


def test_faults_in_lost_games_improve_no_version() -> None:
    """If a bot has faults in all games that it loses, no version starts with a higher mean or score."""
    entries = rebuild([VersionStarted(version=version, previous=None) for version in (1, 2)])
    lost = replace(game((1, 2), (2, 1)), faulty=(True, False))
    for version in range(3, 9):
        previous = 1 if version == 3 else version - 1
        for result in [game((1, 2), (1, 2)), lost] * 20:
            entries |= apply(entries, replace(result, versions=(previous, 2)))
        entries |= apply(entries, VersionStarted(version=version, previous=previous))
        new, old = entries[version, 0].rating, entries[previous, 0].rating
        assert new.mean == old.mean
        assert new.score < old.score
    assert entries[8, 0].skill.mean < PRIOR.mean + 1


def test_after_a_fault_other_games_count() -> None:
    """A game without faults changes both of a bot's skills. Without any faults, both are equal."""
    start = rebuild([VersionStarted(version=version, previous=None) for version in (1, 2)])
    lost = replace(game((1, 2), (2, 1)), faulty=(True, False))
    first = start | apply(start, lost)
    after = first | apply(first, game((1, 2), (1, 2)))
    assert after[1, 0].skill.mean > first[1, 0].skill.mean
    assert after[1, 0].sound.mean > first[1, 0].sound.mean == PRIOR.mean > first[1, 0].skill.mean
    assert after[2, 0].sound == after[2, 0].skill


def test_a_game_is_rated_overall_and_for_its_number_of_players() -> None:
    """The game changes both ratings, each from its own previous value."""
    start = rebuild([VersionStarted(version=version, previous=None) for version in (1, 2, 3)])
    changed = apply(start, game((3, 1, 2), (1, 1, 3)))
    expected = update([initial()] * 3, (1, 1, 3))
    assert changed.keys() == {(version, players) for version in (1, 2, 3) for players in (0, 3)}
    for players in (0, 3):
        assert tuple(changed[version, players].rating for version in (3, 1, 2)) == expected
        learned = update_skills([PRIOR] * 3, (1, 1, 3))
        assert tuple(changed[version, players].skill for version in (3, 1, 2)) == learned


def test_faults_are_counted() -> None:
    """Each game in which a seat has faults counts as one faulty game for its version."""
    start = rebuild([VersionStarted(version=version, previous=None) for version in (1, 2)])
    played = replace(game((1, 2), (2, 1)), faulty=(True, False))
    changed = apply(start, played)
    assert [changed[version, 0].faulty for version in (1, 2)] == [1, 0]


def test_times_and_closings_are_kept() -> None:
    """Entries have each game's time, if the seat answered, and the rating at the end of each day."""
    start = rebuild([VersionStarted(version=version, previous=None) for version in (1, 2, 3)])
    day = START.toordinal()
    entries = start | apply(start, game((1, 2), (1, 2), times=(1234, None)))
    entries |= apply(entries, game((1, 2), (1, 2), 24 * 60 - 1, times=(1178, 20)))
    entries |= apply(entries, game((1, 2, 3), (1, 2, 3), 24 * 60, times=(7, 7, 7)))
    assert entries[1, 0].times == ((7, 1), (1200, 2))
    assert entries[1, 2].times == ((1200, 2),)
    assert entries[2, 2].times == ((20, 1),)
    assert [each.day for each in entries[1, 0].closings] == [day, day + 1]
    assert [each.day for each in entries[1, 2].closings] == [day]
    assert entries[1, 2].closings[0][1:] == (entries[1, 2].rating.mean, entries[1, 2].rating.deviation)
    assert (entries[3, 4].closings, entries[3, 4].times) == ((), ())
    new = apply(entries, VersionStarted(version=4, previous=1))
    assert (new[4, 0].closings, new[4, 0].times) == ((), ())


@pytest.mark.parametrize(
    ("event", "error", "why"),
    [
        (game((1, 1), (1, 2)), ValueError, "can't play against itself"),
        (VersionStarted(version=1, previous=None), ValueError, "already started"),
        (game((1, 2), (1, 2)), KeyError, "2"),
    ],
)
def test_impossible_events_are_refused(event: Event, error: type[Exception], why: str) -> None:
    """A version starts once, plays only after its start, and never against itself."""
    start = rebuild([VersionStarted(version=1, previous=None)])
    with pytest.raises(error, match=why):
        apply(start, event)


@given(st.integers(0, 10**9))
def test_a_bounded_number_of_points_is_kept(games: int) -> None:
    """Short curves have all points, longer ones at least half of the maximum."""
    points = games // stride(games) + 1
    assert points <= MAX_POINTS
    assert points == games + 1 if games < MAX_POINTS else points > MAX_POINTS // 2


@given(st.integers(1, 10**9))
def test_dropped_points_are_never_needed_again(games: int) -> None:
    """With each game, a curve's stride stays the same or doubles."""
    assert stride(games) in {stride(games - 1), 2 * stride(games - 1)}


@given(st.lists(st.integers(), max_size=500), st.integers(2, 200))
def test_thinned_points_keep_both_ends(points: list[int], most: int) -> None:
    """The remaining points are in order and evenly spaced. If there are few, all remain."""
    numbered = list(enumerate(points))
    left = thinned(numbered, most)
    assert len(left) == min(len(points), most)
    assert list(left) == sorted(set(left))
    if points:
        assert (left[0], left[-1]) == (numbered[0], numbered[-1])
    steps = {later[0] - earlier[0] for earlier, later in pairwise(left)}
    assert not steps or max(steps) - min(steps) <= 1
