"""Folds a ladder's log into ratings.

A log is a sequence of numbered events: versions that started and games that were played. Each version has an
entry in the overall list and one in the list for each number of players. Entries depend only on earlier
events, so incremental and rebuilt lists are identical bit for bit.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, TypeVar

from arena.ladder.rating import Closings, Rating, Times, add, close, initial, next_version, update
from arena.ladder.skills import PRIOR, update_skills
from arena.rules import PLAYER_COUNTS

OVERALL = 0
"""The list for all games. The other lists are identified by their number of players."""

LISTS = (OVERALL, *PLAYER_COUNTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionStarted:
    """The start of a version on the ladder."""

    version: int  # id
    previous: int | None  # id of the version whose mean ratings it inherits, or None for a new bot


@dataclass(frozen=True, slots=True, kw_only=True)
class GamePlayed:
    """A game to rate; all tuples have one entry per seat."""

    versions: tuple[int, ...]  # ids, all different
    places: tuple[int, ...]  # from 1; equal places are a tie
    faulty: tuple[bool, ...]  # whether the seat had a fault
    # Median of the seat's decision times in microseconds; None if it never answered.
    times: tuple[int | None, ...]
    ended: datetime  # UTC


Event = VersionStarted | GamePlayed

Key = tuple[int, int]
"""A version's id, and one of :data:`LISTS`."""

Rate = Callable[[tuple[Rating, ...], tuple[int, ...]], tuple[Rating, ...]]
"""Rates a game: :func:`arena.ladder.rating.update` or a cached version of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A version's entry in a list."""

    rating: Rating  # as published
    skill: Rating  # the skill estimated from all games; rank intervals are computed from it
    sound: Rating  # the skill estimated from games in which the version had no fault
    games: int = 0  # rated games
    wins: int = 0  # games in which the version was first or tied for first
    place_sum: int = 0
    faulty: int = 0  # games in which the version had a fault
    last_played: datetime | None = None  # end of the version's last rated game, UTC
    times: Times = ()  # median decision time of each game
    closings: Closings = ()  # ratings at the end of the latest days on which the version played

    @property
    def win_share(self) -> float | None:
        """Share of games in which the version was first or tied for first; None without games."""
        return self.wins / self.games if self.games else None

    @property
    def mean_place(self) -> float | None:
        """Mean place (1 is best); None without games."""
        return self.place_sum / self.games if self.games else None

    @property
    def fault_share(self) -> float | None:
        """Share of games in which the version had a fault; None without games."""
        return self.faulty / self.games if self.games else None


def apply(entries: Mapping[Key, Entry], event: Event, rate: Rate = update) -> dict[Key, Entry]:
    """Return the entries that an event adds or changes. ``entries`` is not modified.

    Raises KeyError if ``entries`` lacks a version that the event needs, or ValueError if a version starts
    twice or has two seats in a game.
    """
    if isinstance(event, VersionStarted):
        return _start(entries, event)
    return _play(entries, event, rate)


def _start(entries: Mapping[Key, Entry], event: VersionStarted) -> dict[Key, Entry]:
    if (event.version, OVERALL) in entries:
        raise ValueError(f"version {event.version} has already started")
    if event.previous is None:
        return {
            (event.version, players): Entry(rating=initial(), skill=PRIOR, sound=PRIOR) for players in LISTS
        }
    return {
        (event.version, players): _next_version_entry(entries[event.previous, players]) for players in LISTS
    }


def _next_version_entry(old: Entry) -> Entry:
    """Return the entry of a bot's next version.

    The means are those from all games: if games with faults didn't count, a bot could commit faults in games
    that it is losing. The deviations increase with the points that faults may have cost, so that a repaired
    bot rises quickly.
    """
    cost = max(0.0, old.sound.mean - old.skill.mean)
    skill = next_version(old.skill, PRIOR, cost)
    return Entry(rating=next_version(old.rating, initial(), cost), skill=skill, sound=skill)


def _play(entries: Mapping[Key, Entry], event: GamePlayed, rate: Rate) -> dict[Key, Entry]:
    if len(set(event.versions)) < len(event.versions):
        raise ValueError(f"versions {event.versions} at one table: a version can't play against itself")
    day = event.ended.astimezone(UTC).toordinal()
    changed: dict[Key, Entry] = {}
    for players in (OVERALL, len(event.versions)):
        before = [entries[version, players] for version in event.versions]
        ratings = rate(tuple(entry.rating for entry in before), event.places)
        skills = update_skills([entry.skill for entry in before], event.places)
        faultless = _faultless_skills(before, event, skills)
        learned = zip(ratings, skills, faultless, strict=True)
        results = zip(event.places, event.faulty, event.times, strict=True)
        seats = zip(event.versions, before, learned, results, strict=True)
        for version, entry, (rating, skill, sound), (place, faulty, micros) in seats:
            changed[version, players] = replace(
                entry,
                rating=rating,
                skill=skill,
                sound=sound,
                games=entry.games + 1,
                wins=entry.wins + (place == 1),
                place_sum=entry.place_sum + place,
                faulty=entry.faulty + faulty,
                last_played=event.ended,
                times=entry.times if micros is None else add(entry.times, micros),
                closings=close(entry.closings, day, rating),
            )
    return changed


def _faultless_skills(before: Sequence[Entry], event: GamePlayed, skills: Sequence[Rating]) -> list[Rating]:
    """Return the seats' skills after this game, from the games in which they had no fault.

    ``skills`` are the skills from all games, after this game.
    """
    own = [entry.skill for entry in before]
    faultless = []
    for seat, (entry, faulty) in enumerate(zip(before, event.faulty, strict=True)):
        if faulty:
            faultless.append(entry.sound)
        elif entry.sound == entry.skill:
            faultless.append(skills[seat])
        else:
            table = [*own[:seat], entry.sound, *own[seat + 1 :]]
            faultless.append(update_skills(table, event.places)[seat])
    return faultless


MAX_POINTS: Final = 128
"""Maximum number of points in a curve. After this many games, a curve has at least half as many points."""

T = TypeVar("T")


def stride(games: int) -> int:
    """Return n such that, after this number of games, a curve keeps the point for every n-th game."""
    return 1 << max(0, (games // MAX_POINTS).bit_length())


def thinned(points: Sequence[T], max_points: int) -> tuple[T, ...]:
    """Return at most ``max_points`` (two or more) evenly spaced points, including the first and the last."""
    last = len(points) - 1
    if last < max_points:
        return tuple(points)
    return tuple(points[index * last // (max_points - 1)] for index in range(max_points))
