"""The log of the ladder, and what follows from it."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import permutations

import msgspec

from arena.ladder.highlights import Highlight, best, highlights
from arena.ladder.rating_log import OVERALL, Entry, Event, GamePlayed, Key, VersionStarted, apply
from tests.db.every_table.bots import BARRED, NEW, OLD, VERSIONS
from tests.db.every_table.games import Game

Rows = list[dict[str, object]]

_GAMES_BEFORE_NEW = 4
"""This many were rated before the new version started."""


def rows(games: Sequence[Game]) -> dict[str, Rows]:
    """Return the rows of the log, of all that follows from it, and of the ladder itself."""
    rated = [game for game in games if game.number is not None]
    log = _log(rated)
    entries: dict[Key, Entry] = {}
    made: dict[str, Rows] = {"rating_event": [], "rating_change": [], "rating_point": []}
    days: defaultdict[int, list[Highlight]] = defaultdict(list)
    for number, (event, game) in enumerate(log, start=1):
        made["rating_event"].append(_event(number, event, game))
        if game is not None and not BARRED.isdisjoint(game.versions):
            continue
        if game is not None:
            days[game.ended.toordinal()] += _remarkable(game, entries)
        changed = apply(entries, event)
        made["rating_change"] += [_change(number, key, entries.get(key), changed[key]) for key in changed]
        made["rating_point"] += [_point(key, entry) for key, entry in changed.items()]
        entries |= changed
    return made | {
        "rating": [_rating(key, entry) for key, entry in entries.items()],
        "highlight": [_highlight(day, each) for day, found in days.items() for each in best(found)],
        "meeting": _meetings([game for game in rated if BARRED.isdisjoint(game.versions)]),
        "ladder": [_ladder(len(log), len(rated))],
    }


def _ladder(events: int, games: int) -> dict[str, object]:
    return {
        "events": events,
        "games": games,
        "revision": 7,
        "paused": True,
        "players": [2, 5],
        "deals": 1,
        "cards_from": 1,
    }


def _log(rated: Sequence[Game]) -> list[tuple[Event, Game | None]]:
    """Return the events in their order, with the games that were played."""
    games: list[tuple[Event, Game | None]] = [(_played(game), game) for game in rated]
    new = (VersionStarted(version=NEW.id, previous=OLD.id), None)
    started = [(VersionStarted(version=each.id, previous=None), None) for each in VERSIONS if each != NEW]
    return [*started, *games[:_GAMES_BEFORE_NEW], new, *games[_GAMES_BEFORE_NEW:]]


def _played(game: Game) -> GamePlayed:
    faulty = zip(game.faults, game.taken_over, strict=True)
    return GamePlayed(
        versions=game.versions,
        places=game.places,
        faulty=tuple(count > 0 or lost for count, lost in faulty),
        times=tuple(game.times),
        ended=game.ended,
    )


def _event(number: int, event: Event, game: Game | None) -> dict[str, object]:
    start = event if isinstance(event, VersionStarted) else None
    return {
        "number": number,
        "kind": "start" if start else "game",
        "version_id": start and start.version,
        "previous_id": start and start.previous,
        "game_number": game and game.number,
    }


def _change(number: int, key: Key, before: Entry | None, after: Entry) -> dict[str, object]:
    return {
        "event_number": number,
        "players": key[1],
        "version_id": key[0],
        "mean_before": before and before.rating.mean,
        "deviation_before": before and before.rating.deviation,
        "mean_after": after.rating.mean,
        "deviation_after": after.rating.deviation,
    }


def _point(key: Key, entry: Entry) -> dict[str, object]:
    """Return a point of a curve, which has all of them while there are so few."""
    return {
        "version_id": key[0],
        "players": key[1],
        "games": entry.games,
        "ended": entry.last_played,
        "mean": entry.rating.mean,
        "deviation": entry.rating.deviation,
    }


def _rating(key: Key, entry: Entry) -> dict[str, object]:
    return {
        "version_id": key[0],
        "players": key[1],
        "mean": entry.rating.mean,
        "deviation": entry.rating.deviation,
        "skill_mean": entry.skill.mean,
        "skill_deviation": entry.skill.deviation,
        "sound_mean": entry.sound.mean,
        "sound_deviation": entry.sound.deviation,
        "games": entry.games,
        "wins": entry.wins,
        "place_sum": entry.place_sum,
        "faulty": entry.faulty,
        "last_played": entry.last_played,
        "times": msgspec.json.encode(entry.times),
        "closings": msgspec.json.encode(entry.closings),
    }


def _remarkable(game: Game, before: dict[Key, Entry]) -> tuple[Highlight, ...]:
    assert game.number is not None
    ratings = [before[version, OVERALL].rating for version in game.versions]
    points = [None if lost else made for made, lost in zip(game.points, game.taken_over, strict=True)]
    return highlights(game.number, ratings, game.places, points)


def _highlight(day: int, each: Highlight) -> dict[str, object]:
    return {
        "day": day,
        "kind": each.kind.value,
        "game_number": each.game,
        "seat": each.seat,
        "other": each.other,
        "value": each.value,
    }


def _meetings(games: Sequence[Game]) -> Rows:
    """Return how pairs of bots finished, either way round."""
    found: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for game in games:
        seats = list(zip(game.bots, game.places, strict=True))
        for (bot, place), (other, theirs) in permutations(seats, 2):
            found[bot, other].append(place - theirs)
    return [
        {
            "bot_id": bot,
            "other_id": other,
            "games": len(gaps),
            "ahead": sum(gap < 0 for gap in gaps),
            "behind": sum(gap > 0 for gap in gaps),
            "tied": gaps.count(0),
        }
        for (bot, other), gaps in found.items()
    ]
