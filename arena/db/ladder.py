"""The ladder: its settings, its log, and the ratings that follow from the log.

Events are numbered without gaps, under the lock on the row of ``ladder``. The ratings are computed from the
log without the games of disqualified bots.

A rebuild spends nearly all its time rating games. Therefore, first compute the ratings without the lock, with
a rating function that caches its results. The rebuild under the lock then reuses these results.

    rate = cache(update)
    precompute_ratings(reading, disqualified(reading), rate)
    rebuild(writing, rate)
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, insert, select, true, update

from arena.db import audit, subscriptions
from arena.db.audit import NewAuditEntry
from arena.db.database import Repository, from_row, grouped, put
from arena.db.projections import LoggedEvent, Meetings, Projections, RowValues, bots_of, replace
from arena.db.schema import (
    BotRow,
    BotVersionRow,
    EventKind,
    GameRow,
    GameSeatRow,
    LadderRow,
    RatingChangeRow,
    RatingEventRow,
    RatingRow,
)
from arena.ladder.rating import Closings, Rating, Times
from arena.ladder.rating import update as update_ratings
from arena.ladder.rating_events import Entry, GamePlayed, Key, Rate, VersionStarted
from arena.ladder.settings import LadderChange, LadderSettings
from arena.protocol.match import Clock, Limits
from arena.protocol.news import News, Topic, ladder_changed
from arena.protocol.states import BotState


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """The result of a rebuild."""

    events: int  # length of the log
    differing: int  # derived rows that were wrong and have been replaced
    ratings: int  # how many of those rows are current ratings


class LadderRepository(Repository):
    """The ladder's settings, and the rebuild of its ratings."""

    def settings(self) -> LadderSettings:
        """Return the ladder's settings."""
        with self._transactions.read() as connection:
            return settings(connection)

    def news(self) -> News | None:
        """Return the news about the last pause or its end, or None if there has been no pause."""
        with self._transactions.read() as connection:
            row = connection.execute(select(LadderRow.paused, LadderRow.paused_changed)).one()
        return row.paused_changed and ladder_changed(paused=row.paused, at=row.paused_changed)

    def change(self, change: LadderChange, entry: NewAuditEntry) -> bool:
        """Change the ladder's settings for future matches, and notify authors of a pause or its end.

        Return False, and write no audit entry, if the ladder already has these settings. Raises ValueError if
        the ladder doesn't support them.
        """
        with self._transactions.write() as connection:
            lock(connection)
            before = settings(connection)
            after = before.changed(change.named())
            if after == before:
                return False
            connection.execute(
                update(LadderRow).values(
                    paused=after.paused,
                    players=list(after.players),
                    deals=after.deals,
                    **asdict(after.clock),
                    **asdict(after.limits),
                )
            )
            if after.paused != before.paused:
                connection.execute(update(LadderRow).values(paused_changed=entry.at))
                news = ladder_changed(paused=after.paused, at=entry.at)
                subscriptions.notify_all(connection, Topic.LADDER, news)
            audit.record(connection, entry)
            return True

    def rebuild(self) -> Rebuilt:
        """Derive all rows from the log again, and replace those that differ.

        This takes about a millisecond per rated game; only its last part blocks other changes.
        """
        rate = cache(update_ratings)
        with self._transactions.read() as connection:
            precompute_ratings(connection, disqualified(connection), rate)
        with self._transactions.write() as connection:
            return rebuild(connection, rate)


def settings(connection: Connection) -> LadderSettings:
    """Return the ladder's settings."""
    row = connection.execute(select(LadderRow.__table__)).one()
    return from_row(LadderSettings, row, clock=from_row(Clock, row), limits=from_row(Limits, row))


def mark_changed(connection: Connection, bots: ColumnElement[bool], **numbers: int) -> None:
    """Mark bots as changed on the leaderboard, with a new revision.

    Locks the ladder until the transaction ends, so that revisions commit in order. ``bots`` is a
    condition on BotRow; ``numbers`` are other columns of the ladder's row to set.
    """
    revision = connection.execute(
        update(LadderRow).values(revision=LadderRow.revision + 1, **numbers).returning(LadderRow.revision)
    ).scalar_one()
    connection.execute(update(BotRow).where(bots).values(revision=revision))


_TIMES = msgspec.json.Decoder(Times)
_CLOSINGS = msgspec.json.Decoder(Closings)


def lock(connection: Connection) -> Row[int, int]:
    """Lock the ladder until the transaction ends: only the holder assigns numbers.

    Returns the last numbers assigned to ``events`` and rated ``games``.
    """
    return connection.execute(select(LadderRow.events, LadderRow.games).with_for_update()).one()


def append(
    connection: Connection,  # in a write transaction
    log: Sequence[LoggedEvent],  # the events
    games: int,  # the last game's number
    barred: frozenset[int],  # versions of disqualified bots; games with them are logged but change nothing
    rate: Rate = update_ratings,  # rates a game
) -> None:
    """Write events and everything that follows from them. The caller must hold the ladder lock."""
    versions = _versions(log)
    derived = Projections(
        meetings=Meetings(bots_of(connection, versions)), entries=load(connection, versions)
    )
    changes = [row for logged in log for row in derived.apply(logged, barred, rate)]
    connection.execute(insert(RatingEventRow), [_event_row(logged) for logged in log])
    if changes:
        connection.execute(insert(RatingChangeRow), changes)
    touched = {(row["version_id"], row["players"]) for row in changes}
    put(connection, RatingRow, [_rating_row(key, derived.entries[key]) for key in sorted(touched)])
    for kept in (derived.highlights, derived.points, derived.meetings):
        kept.add(connection)
    bot_ids = select(BotVersionRow.bot_id).where(BotVersionRow.id.in_({version for version, _ in touched}))
    mark_changed(connection, BotRow.id.in_(bot_ids), events=log[-1].number, games=games)


def disqualified(connection: Connection) -> frozenset[int]:
    """Return the version ids of disqualified bots, whose games don't count."""
    query = (
        select(BotVersionRow.id)
        .join(BotRow, BotRow.id == BotVersionRow.bot_id)
        .where(BotRow.state == BotState.DISQUALIFIED)
    )
    return frozenset(connection.execute(query).scalars())


def load(connection: Connection, versions: Iterable[int]) -> dict[Key, Entry]:
    """Return the entries of these versions in all lists."""
    rows = connection.execute(select(RatingRow.__table__).where(RatingRow.version_id.in_(list(versions))))
    return {(row.version_id, row.players): entry(row._asdict()) for row in rows}


def entry(row: RowValues) -> Entry:
    """Read a row of ``rating``."""
    return Entry(
        rating=Rating(row["mean"], row["deviation"]),
        skill=Rating(row["skill_mean"], row["skill_deviation"]),
        sound=Rating(row["sound_mean"], row["sound_deviation"]),
        games=row["games"],
        wins=row["wins"],
        place_sum=row["place_sum"],
        faulty=row["faulty"],
        last_played=row["last_played"],
        times=_TIMES.decode(row["times"]),
        closings=_CLOSINGS.decode(row["closings"]),
    )


def _rating_row(key: Key, entry: Entry) -> RowValues:
    version, players = key
    return {
        "version_id": version,
        "players": players,
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


def is_faulty(faults: int, *, taken_over: bool) -> bool:
    """Return True if a game counts as faulty for a seat."""
    return faults > 0 or taken_over


def _versions(log: Sequence[LoggedEvent]) -> set[int]:
    """Return the versions whose entries are needed to apply the events."""
    versions: set[int] = set()
    for logged in log:
        match logged.event:
            case GamePlayed():
                versions.update(logged.event.versions)
            case VersionStarted(version=version, previous=previous):
                versions.update({version} if previous is None else {version, previous})
    return versions


def _event_row(logged: LoggedEvent) -> RowValues:
    start = logged.event if isinstance(logged.event, VersionStarted) else None
    return {
        "number": logged.number,
        "kind": EventKind.START if start else EventKind.GAME,
        "version_id": start.version if start else None,
        "previous_id": start.previous if start else None,
        "game_number": logged.game,
    }


_BATCH = 1000
"""Number of events to read at a time."""


def precompute_ratings(connection: Connection, barred: frozenset[int], rate: Rate) -> None:
    """Apply the whole log only to fill ``rate``'s cache. Write nothing."""
    events = connection.execute(select(LadderRow.events)).scalar_one()
    derived = Projections(meetings=Meetings(bots_of(connection)))
    deque(_apply_log(connection, derived, events, barred, rate), maxlen=0)


def rebuild(connection: Connection, rate: Rate) -> Rebuilt:
    """Derive all rows from the log again, and replace those that differ."""
    numbers = lock(connection)
    derived = Projections(meetings=Meetings(bots_of(connection)))
    others = 0
    for within, rows in _apply_log(connection, derived, numbers.events, disqualified(connection), rate):
        others += replace(connection, RatingChangeRow, rows, within)
    rows = [_rating_row(key, entry) for key, entry in derived.entries.items()]
    ratings = replace(connection, RatingRow, rows)
    others += sum(kept.replace(connection) for kept in (derived.highlights, derived.points, derived.meetings))
    if ratings + others:
        mark_changed(connection, true())
    return Rebuilt(events=numbers.events, differing=ratings + others, ratings=ratings)


def _apply_log(
    connection: Connection, derived: Projections, events: int, barred: frozenset[int], rate: Rate
) -> Iterator[tuple[ColumnElement[bool], list[RowValues]]]:
    """Apply the log in batches. For each, yield a filter for its stored changes, and the correct ones."""
    for first in range(1, events + 1, _BATCH):
        last = min(first + _BATCH - 1, events)
        log = _log(connection, first, last)
        rows = [row for logged in log for row in derived.apply(logged, barred, rate)]
        yield RatingChangeRow.event_number.between(first, last), rows


def _log(connection: Connection, first: int, last: int) -> list[LoggedEvent]:
    """Read the events from ``first`` to ``last`` inclusive."""
    within = RatingEventRow.number.between(first, last)
    seats = connection.execute(
        select(GameSeatRow.__table__)
        .join(RatingEventRow, RatingEventRow.game_number == GameSeatRow.game_number)
        .where(within)
        .order_by(GameSeatRow.game_number, GameSeatRow.seat)
    )
    sat = grouped(seats, "game_number")
    events = connection.execute(
        select(RatingEventRow.__table__, GameRow.ended)
        .outerjoin(GameRow, GameRow.number == RatingEventRow.game_number)
        .where(within)
        .order_by(RatingEventRow.number)
    )
    return [
        game_event(row.number, row.game_number, row.ended, [seat._asdict() for seat in sat[row.game_number]])
        if row.game_number
        else LoggedEvent(row.number, VersionStarted(version=row.version_id, previous=row.previous_id))
        for row in events
    ]


def game_event(number: int, game: int, ended: datetime, seats: Sequence[Mapping[str, Any]]) -> LoggedEvent:
    """Return the event with this number for a game, given its ``game_seat`` rows in seat order."""
    played = GamePlayed(
        versions=tuple(seat["version_id"] for seat in seats),
        places=tuple(seat["place"] for seat in seats),
        faulty=tuple(is_faulty(seat["faults"], taken_over=seat["taken_over"]) for seat in seats),
        times=tuple(seat["median_micros"] for seat in seats),
        ended=ended,
    )
    points = tuple(None if seat["taken_over"] else seat["points"] for seat in seats)
    return LoggedEvent(number, played, game, points)
