"""Projections of the ladder's log: tables derived from it, which new events extend or a rebuild replaces."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import permutations
from typing import Any, Final, NamedTuple, cast

from sqlalchemy import ColumnElement, Connection, Table, and_, bindparam, delete, insert, select
from sqlalchemy import Row as StoredRow

from arena.db.database import from_row, upsert
from arena.db.schema import Base, BotVersionRow, GameRow, HighlightRow, MeetingRow, RatingPointRow
from arena.ladder.highlights import Highlight, HighlightKind, best, highlights
from arena.ladder.rating_events import OVERALL, Entry, Event, GamePlayed, Key, Rate, apply, stride

RowValues = dict[str, Any]
"""A row of a table, keyed by column."""


class SplitSum(NamedTuple):
    """Two columns that store a sum: the value of ``whole`` times ``unit``, plus the value of ``rest``."""

    rest: str
    whole: str
    unit: int


def replace(
    connection: Connection, model: type[Base], rows: list[RowValues], *where: ColumnElement[bool]
) -> int:
    """Replace stored rows that differ from ``rows``, and return how many keys differed."""
    stored = connection.execute(select(model.__table__).where(*where)).all()
    return _replace(connection, model, stored, rows)


def _replace(connection: Connection, model: type[Base], stored: Sequence[Any], rows: list[RowValues]) -> int:
    table = cast("Table", model.__table__)
    keys = [column.name for column in table.primary_key]
    old = {tuple(getattr(row, key) for key in keys): row._asdict() for row in stored}
    new = {tuple(row[key] for key in keys): row for row in rows}
    differing = [key for key in old.keys() | new.keys() if old.get(key) != new.get(key)]
    if removed := [key for key in differing if key in old]:
        same = and_(*(table.c[key] == bindparam(f"of_{key}") for key in keys))
        connection.execute(
            delete(table).where(same),
            [{f"of_{key}": value for key, value in zip(keys, each, strict=True)} for each in removed],
        )
    if added := [new[key] for key in differing if key in new]:
        connection.execute(insert(table), added)
    return len(differing)


def add(
    connection: Connection, model: type[Base], rows: list[RowValues], split: SplitSum | None = None
) -> None:
    """Add each row's non-negative integers to the stored row with the same key, or insert the row."""
    if not rows:
        return
    table = cast("Table", model.__table__)
    new = upsert(connection, model)
    sums = {
        column.name: column + new.excluded[column.name] for column in table.columns if not column.primary_key
    }
    if split is not None:
        rest = sums[split.rest]
        sums |= {split.whole: sums[split.whole] + rest // split.unit, split.rest: rest % split.unit}
    connection.execute(new.on_conflict_do_update(index_elements=list(table.primary_key), set_=sums), rows)


def _replace_by(connection: Connection, model: type[Base], key: str, rows: list[RowValues]) -> int:
    """Replace all rows as :func:`replace` does, one value of the column ``key`` at a time."""
    column = cast("Table", model.__table__).c[key]
    parts: dict[int, list[RowValues]] = {}
    for row in rows:
        parts.setdefault(row[key], []).append(row)
    stored = connection.execute(select(column).distinct()).scalars()
    return sum(
        replace(connection, model, parts.get(value, []), column == value)
        for value in sorted({*stored, *parts})
    )


_COUNTS = ("games", "ahead", "behind", "tied")


class Meetings:
    """Counts bots' head-to-head results. ``bots`` maps each version in the events to its bot."""

    def __init__(self, bots: Mapping[int, int]) -> None:
        self._bots = bots
        self._pairs: dict[tuple[int, int], list[int]] = {}

    def collect(self, event: Event) -> None:
        """Count an event. Versions of the same bot are not opponents."""
        if not isinstance(event, GamePlayed):
            return
        seats = zip([self._bots[version] for version in event.versions], event.places, strict=True)
        for (bot, place), (other, theirs) in permutations(seats, 2):
            if bot != other:
                counts = self._pairs.setdefault((bot, other), [0] * len(_COUNTS))
                counts[0] += 1
                counts[1] += place < theirs
                counts[2] += place > theirs
                counts[3] += place == theirs

    def add(self, connection: Connection) -> None:
        """Add the counts to the stored ones."""
        # The rows are sorted, so that two transactions can't deadlock.
        add(connection, MeetingRow, self._rows())

    def replace(self, connection: Connection) -> int:
        """Replace the stored counts, and return how many rows differed."""
        return _replace_by(connection, MeetingRow, "bot_id", self._rows())

    def _rows(self) -> list[RowValues]:
        return [
            {"bot_id": bot, "other_id": other, **dict(zip(_COUNTS, counts, strict=True))}
            for (bot, other), counts in sorted(self._pairs.items())
        ]


def bots_of(connection: Connection, versions: Iterable[int] | None = None) -> dict[int, int]:
    """Return the bot ids of versions, or of all versions by default, keyed by version id."""
    query = select(BotVersionRow.id, BotVersionRow.bot_id)
    if versions is not None:
        query = query.where(BotVersionRow.id.in_(list(versions)))
    return {row.id: row.bot_id for row in connection.execute(query)}


class RatingHistory:
    """Collects the rating curves' points, and thins them out."""

    def __init__(self) -> None:
        self._kept: dict[Key, dict[int, RowValues]] = {}
        self._thinned: dict[Key, int] = {}

    def collect(self, changed: Mapping[Key, Entry]) -> None:
        """Collect the entries that an event created or changed."""
        for key, entry in changed.items():
            kept = self._kept.setdefault(key, {})
            every = stride(entry.games)
            if entry.games and every != stride(entry.games - 1):
                self._thinned[key] = every
                self._kept[key] = kept = {games: row for games, row in kept.items() if games % every == 0}
            if entry.games % every == 0:
                kept[entry.games] = _point_row(key, entry)

    def add(self, connection: Connection) -> None:
        """Thin out the stored points, then add the collected ones."""
        if self._thinned:
            connection.execute(
                delete(RatingPointRow).where(
                    RatingPointRow.version_id == bindparam("of_version"),
                    RatingPointRow.players == bindparam("of_players"),
                    RatingPointRow.games % bindparam("every") != 0,
                ),
                [
                    {"of_version": version, "of_players": players, "every": every}
                    for (version, players), every in self._thinned.items()
                ],
            )
        if rows := self._rows():
            connection.execute(insert(RatingPointRow), rows)

    def replace(self, connection: Connection) -> int:
        """Replace the stored points, and return how many rows differed."""
        return _replace_by(connection, RatingPointRow, "version_id", self._rows())

    def _rows(self) -> list[RowValues]:
        return [row for kept in self._kept.values() for row in kept.values()]


def _point_row(key: Key, entry: Entry) -> RowValues:
    version, players = key
    return {
        "version_id": version,
        "players": players,
        "games": entry.games,
        "ended": entry.last_played,
        "mean": entry.rating.mean,
        "deviation": entry.rating.deviation,
    }


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event and its position in the log."""

    number: int  # from 1, without gaps
    event: Event
    game: int | None = None  # number of the game; None when a version starts
    points: tuple[int | None, ...] = ()  # per seat, None after a take-over; empty when a version starts


class Highlights:
    """Collects each day's highlights."""

    def __init__(self) -> None:
        self._days: defaultdict[int, tuple[Highlight, ...]] = defaultdict(tuple)

    def collect(self, logged: LoggedEvent, before: Mapping[Key, Entry]) -> None:
        """Collect an event's highlights, given the entries before it."""
        event, game = logged.event, logged.game
        if not isinstance(event, GamePlayed) or game is None:
            return
        ratings = [before[version, OVERALL].rating for version in event.versions]
        found = highlights(game, ratings, event.places, logged.points)
        day = event.ended.astimezone(UTC).toordinal()
        self._days[day] = best((*self._days[day], *found))

    def add(self, connection: Connection) -> None:
        """Merge the collected highlights into the stored ones, and keep only each day's best."""
        if not self._days:
            return
        rows: list[RowValues] = []
        condition = HighlightRow.day.in_(list(self._days))
        stored = connection.execute(select(HighlightRow.__table__).where(condition)).all()
        for day, found in self._days.items():
            known = [_highlight(row) for row in stored if row.day == day]
            rows += _rows(day, best((*known, *found)))
        _replace(connection, HighlightRow, stored, rows)

    def replace(self, connection: Connection) -> int:
        """Replace the stored highlights, and return how many rows differed."""
        rows = [row for day, found in self._days.items() for row in _rows(day, found)]
        return replace(connection, HighlightRow, rows)


_NEWEST_DAYS: Final = 2


def newest(connection: Connection) -> tuple[Highlight, ...]:
    """Return the highlights of the last two days that have any."""
    query = select(HighlightRow.day).distinct().order_by(HighlightRow.day.desc()).limit(_NEWEST_DAYS)
    condition = HighlightRow.day.in_(connection.execute(query).scalars().all())
    return best(map(_highlight, connection.execute(select(HighlightRow.__table__).where(condition))))


def upset_since(connection: Connection, moment: datetime) -> tuple[Highlight, ...]:
    """Return the biggest upset among games that ended after ``moment``, or an empty tuple."""
    query = (
        select(HighlightRow.__table__)
        .join(GameRow, GameRow.number == HighlightRow.game_number)
        .where(HighlightRow.kind == HighlightKind.UPSET, GameRow.ended > moment)
        .order_by(HighlightRow.value, HighlightRow.game_number.desc())
    )
    return tuple(map(_highlight, connection.execute(query.limit(1))))


def _rows(day: int, found: Iterable[Highlight]) -> list[RowValues]:
    return [
        {
            "day": day,
            "kind": each.kind.value,
            "game_number": each.game,
            "seat": each.seat,
            "other": each.other,
            "value": each.value,
        }
        for each in found
    ]


def _highlight(row: StoredRow[*tuple[Any, ...]]) -> Highlight:
    return from_row(Highlight, row, game=row.game_number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Projections:
    """Everything that is derived from the log, or from a part of it."""

    meetings: Meetings
    # Must include the entries of all versions in the events, and of their predecessors.
    entries: dict[Key, Entry] = field(default_factory=dict)
    highlights: Highlights = field(default_factory=Highlights)
    points: RatingHistory = field(default_factory=RatingHistory)

    def apply(self, logged: LoggedEvent, disqualified: frozenset[int], rate: Rate) -> list[RowValues]:
        """Apply an event, and return its ``rating_change`` rows; none for a game that doesn't count."""
        if not _counts(logged.event, disqualified):
            return []
        self.highlights.collect(logged, self.entries)
        changed = apply(self.entries, logged.event, rate)
        self.points.collect(changed)
        self.meetings.collect(logged.event)
        rows = [_change(logged.number, key, self.entries.get(key), entry) for key, entry in changed.items()]
        self.entries.update(changed)
        return rows


def _counts(event: Event, disqualified: frozenset[int]) -> bool:
    """Return True if an event changes ratings. A game with a disqualified version doesn't."""
    return not isinstance(event, GamePlayed) or disqualified.isdisjoint(event.versions)


def _change(number: int, key: Key, before: Entry | None, after: Entry) -> RowValues:
    version, players = key
    return {
        "event_number": number,
        "players": players,
        "version_id": version,
        "mean_before": before.rating.mean if before else None,
        "deviation_before": before.rating.deviation if before else None,
        "mean_after": after.rating.mean,
        "deviation_after": after.rating.deviation,
    }
