"""The log of a ladder and the ratings that follow from it.

Events are numbered without gaps, under the lock on the row of ``ladder``. The ratings are the fold of the log
without the games of bots that are disqualified.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
from sqlalchemy import Connection, bindparam, insert, select, update

from arena.rating import Closings, Entry, GamePlayed, Key, Rate, Times, VersionStarted
from arena.rating import Rating as Skill
from arena.rating import update as update_ratings
from arena.store import revisions
from arena.store.bot_models import Bot, BotState, BotVersion
from arena.store.fold import Fold
from arena.store.log import Logged
from arena.store.meetings import Meetings, bots_of
from arena.store.models import EventKind, Ladder, Rating, RatingChange, RatingEvent
from arena.store.rows import Row

_TIMES = msgspec.json.Decoder(Times)
_CLOSINGS = msgspec.json.Decoder(Closings)


@dataclass(frozen=True, slots=True)
class Numbers:
    """The last numbers given out.

    Attributes:
        events: Of the log.
        games: Of rated games.
    """

    events: int
    games: int


def lock(connection: Connection) -> Numbers:
    """Wait until nobody else gives out numbers, until this transaction ends."""
    row = connection.execute(select(Ladder.events, Ladder.games).with_for_update()).one()
    return Numbers(row.events, row.games)


def append(
    connection: Connection,
    log: Sequence[Logged],
    games: int,
    barred: frozenset[int],
    rate: Rate = update_ratings,
) -> None:
    """Write events, what they change and where they lead. The caller holds the lock.

    Args:
        connection: To the store, for writing.
        log: The events.
        games: The last game's number.
        barred: Versions of bots that are disqualified: games with them are written and change nothing.
        rate: Rates a game.
    """
    versions = _versions(log)
    fold = Fold(meetings=Meetings(bots_of(connection, versions)), entries=load(connection, versions))
    known = set(fold.entries)
    changes = [row for logged in log for row in fold.note(logged, barred, rate)]
    connection.execute(insert(RatingEvent), [_event_row(logged) for logged in log])
    if changes:
        connection.execute(insert(RatingChange), changes)
    touched = {(row["version_id"], row["players"]) for row in changes}
    _save(connection, {key: fold.entries[key] for key in sorted(touched)}, known)
    for kept in (fold.highlights, fold.points, fold.meetings):
        kept.add(connection)
    its = select(BotVersion.bot_id).where(BotVersion.id.in_({version for version, _ in touched}))
    revisions.changed(connection, Bot.id.in_(its), events=log[-1].number, games=games)


def disqualified(connection: Connection) -> frozenset[int]:
    """Return the versions whose games don't count."""
    wanted = (
        select(BotVersion.id).join(Bot, Bot.id == BotVersion.bot_id).where(Bot.state == BotState.DISQUALIFIED)
    )
    return frozenset(connection.execute(wanted).scalars())


def load(connection: Connection, versions: Iterable[int]) -> dict[Key, Entry]:
    """Return the entries of some versions in every list."""
    rows = connection.execute(select(Rating.__table__).where(Rating.version_id.in_(list(versions))))
    return {(row.version_id, row.players): entry(row._asdict()) for row in rows}


def entry(row: Row) -> Entry:
    """Read a row of ``rating``."""
    return Entry(
        rating=Skill(row["mean"], row["deviation"]),
        games=row["games"],
        wins=row["wins"],
        place_sum=row["place_sum"],
        faulty=row["faulty"],
        last_played=row["last_played"],
        times=_TIMES.decode(row["times"]),
        closings=_CLOSINGS.decode(row["closings"]),
    )


def rating_row(key: Key, entry: Entry) -> Row:
    """Return an entry as a row of ``rating``."""
    version, players = key
    return {
        "version_id": version,
        "players": players,
        "mean": entry.rating.mean,
        "deviation": entry.rating.deviation,
        "games": entry.games,
        "wins": entry.wins,
        "place_sum": entry.place_sum,
        "faulty": entry.faulty,
        "last_played": entry.last_played,
        "times": msgspec.json.encode(entry.times),
        "closings": msgspec.json.encode(entry.closings),
    }


def is_faulty(faults: int, *, taken_over: bool) -> bool:
    """Return whether a game counts as one with a fault."""
    return faults > 0 or taken_over


def _versions(log: Sequence[Logged]) -> set[int]:
    """Return whose entries the events build on."""
    versions: set[int] = set()
    for logged in log:
        match logged.event:
            case GamePlayed():
                versions.update(logged.event.versions)
            case VersionStarted(version=version, previous=previous):
                versions.update({version} if previous is None else {version, previous})
    return versions


def _event_row(logged: Logged) -> Row:
    start = logged.event if isinstance(logged.event, VersionStarted) else None
    return {
        "number": logged.number,
        "kind": EventKind.START if start else EventKind.GAME,
        "version_id": start.version if start else None,
        "previous_id": start.previous if start else None,
        "game_number": logged.game,
    }


def _save(connection: Connection, entries: Mapping[Key, Entry], known: set[Key]) -> None:
    """Write entries, those of ``known`` over what is there."""
    new = [rating_row(key, entry) for key, entry in entries.items() if key not in known]
    old = [rating_row(key, entry) for key, entry in entries.items() if key in known]
    if new:
        connection.execute(insert(Rating), new)
    if old:
        table = Rating.__table__
        statement = update(Rating).where(
            Rating.version_id == bindparam("of_version"), Rating.players == bindparam("of_players")
        )
        kept = [column.name for column in table.columns if not column.primary_key]
        rows = [
            {
                "of_version": row["version_id"],
                "of_players": row["players"],
                **{name: row[name] for name in kept},
            }
            for row in old
        ]
        connection.execute(statement.values({name: bindparam(name) for name in kept}), rows)
