"""The fold from a ladder's log to its ratings.

A log is a sequence of numbered events: versions that start and games that were
played. Each version has one entry in the overall list and one in the list of
each number of players. An entry depends on the events before it alone, so a
list that is kept step by step and one that is rebuilt are equal to the bit.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from arena.rating.closings import Closings, close
from arena.rating.step import Rating, initial, next_version, update
from arena.rating.times import Times, add

OVERALL = 0
"""The list that counts every game; the others are named by their number of players."""

LISTS = (OVERALL, 2, 3, 4, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionStarted:
    """A version of a bot enters the ladder.

    Attributes:
        version: Id.
        previous: Id of the version whose means it carries on, or None for a new bot.
    """

    version: int
    previous: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GamePlayed:
    """A game to be rated; one entry a seat in every tuple.

    Attributes:
        versions: Ids, all different.
        places: From 1; equal is a tie.
        faulty: Whether the seat had a fault.
        times: The median of the seat's decisions in microseconds; None where it gave no answer.
        ended: UTC.
    """

    versions: tuple[int, ...]
    places: tuple[int, ...]
    faulty: tuple[bool, ...]
    times: tuple[int | None, ...]
    ended: datetime


Event = VersionStarted | GamePlayed

Key = tuple[int, int]
"""Id of a version; a list, as in :data:`LISTS`."""

Rate = Callable[[tuple[Rating, ...], tuple[int, ...]], tuple[Rating, ...]]
"""From ratings and places to ratings: :func:`arena.rating.update`, or what remembers its answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What one list says of one version.

    Attributes:
        rating: After the last event.
        games: Rated games in this list.
        wins: Games in which it was first, alone or shared.
        place_sum: Of all its places.
        faulty: Games in which it had a fault.
        last_played: End of its last rated game, UTC.
        times: How long its decisions took: of each game the median.
        closings: The rating at the end of the last days on which it played.
    """

    rating: Rating
    games: int = 0
    wins: int = 0
    place_sum: int = 0
    faulty: int = 0
    last_played: datetime | None = None
    times: Times = ()
    closings: Closings = ()


def apply(entries: Mapping[Key, Entry], event: Event, rate: Rate = update) -> dict[Key, Entry]:
    """Return the entries that an event makes or changes; ``entries`` stays as it is.

    Args:
        entries: Of the versions that the event builds on.
        event: What happened.
        rate: Rates a game.

    Raises:
        KeyError: A version that the event builds on has no entry.
        ValueError: A version starts twice, or sits at one table twice.
    """
    if isinstance(event, VersionStarted):
        return _start(entries, event)
    return _play(entries, event, rate)


def rebuild(events: Iterable[Event]) -> dict[Key, Entry]:
    """Fold a whole log, in the order of its numbers.

    Raises:
        KeyError: As :func:`apply`.
        ValueError: As :func:`apply`.
    """
    entries: dict[Key, Entry] = {}
    for event in events:
        entries |= apply(entries, event)
    return entries


def _start(entries: Mapping[Key, Entry], event: VersionStarted) -> dict[Key, Entry]:
    if (event.version, OVERALL) in entries:
        raise ValueError(f"version {event.version} has started already")
    if event.previous is None:
        return {(event.version, players): Entry(rating=initial()) for players in LISTS}
    return {
        (event.version, players): Entry(rating=next_version(entries[event.previous, players].rating))
        for players in LISTS
    }


def _play(entries: Mapping[Key, Entry], event: GamePlayed, rate: Rate) -> dict[Key, Entry]:
    if len(set(event.versions)) < len(event.versions):
        raise ValueError(f"versions {event.versions} at one table: a version can't play itself")
    day = event.ended.astimezone(UTC).toordinal()
    changed: dict[Key, Entry] = {}
    for players in (OVERALL, len(event.versions)):
        before = [entries[version, players] for version in event.versions]
        after = rate(tuple(entry.rating for entry in before), event.places)
        seats = zip(event.versions, before, after, event.places, event.faulty, event.times, strict=True)
        for version, entry, rating, place, faulty, micros in seats:
            changed[version, players] = replace(
                entry,
                rating=rating,
                games=entry.games + 1,
                wins=entry.wins + (place == 1),
                place_sum=entry.place_sum + place,
                faulty=entry.faulty + faulty,
                last_played=event.ended,
                times=entry.times if micros is None else add(entry.times, micros),
                closings=close(entry.closings, day, rating),
            )
    return changed
