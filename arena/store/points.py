"""The curves of ratings, kept with the log they follow from: a bounded number of points each."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select

from arena.rating import Entry, Key, stride
from arena.store.history_models import RatingPoint
from arena.store.rows import Row, replace


class Points:
    """Goes along with a fold of the log and remembers which points are kept."""

    def __init__(self) -> None:
        self._kept: dict[Key, dict[int, Row]] = {}
        self._thinned: dict[Key, int] = {}

    def note(self, changed: Mapping[Key, Entry]) -> None:
        """Look at the entries that an event made or changed."""
        for key, entry in changed.items():
            kept = self._kept.setdefault(key, {})
            every = stride(entry.games)
            if entry.games and every != stride(entry.games - 1):
                self._thinned[key] = every
                self._kept[key] = kept = {games: row for games, row in kept.items() if games % every == 0}
            if entry.games % every == 0:
                kept[entry.games] = _row(key, entry)

    def add(self, connection: Connection) -> None:
        """Add the points that were noted to those that are kept, of which some may go."""
        if self._thinned:
            connection.execute(
                delete(RatingPoint).where(
                    RatingPoint.version_id == bindparam("of_version"),
                    RatingPoint.players == bindparam("of_players"),
                    RatingPoint.games % bindparam("every") != 0,
                ),
                [
                    {"of_version": version, "of_players": players, "every": every}
                    for (version, players), every in self._thinned.items()
                ],
            )
        if rows := self._rows():
            connection.execute(insert(RatingPoint), rows)

    def put(self, connection: Connection) -> int:
        """Let the points that were noted be all that are kept, and return how many rows differed."""
        of_version: dict[int, list[Row]] = {}
        for row in self._rows():
            of_version.setdefault(row["version_id"], []).append(row)
        kept = connection.execute(select(RatingPoint.version_id).distinct()).scalars()
        differing = 0
        for version in sorted({*kept, *of_version}):
            stored = connection.execute(
                select(RatingPoint.__table__).where(RatingPoint.version_id == version)
            )
            rows = [row._asdict() for row in stored]
            differing += replace(connection, RatingPoint, rows, of_version.get(version, []))
        return differing

    def _rows(self) -> list[Row]:
        return [row for kept in self._kept.values() for row in kept.values()]


def of_versions(connection: Connection, versions: Iterable[int], players: int) -> dict[int, list[Any]]:
    """Return what is kept of some versions in a list: by version its points, first to last."""
    found: dict[int, list[Any]] = {}
    for row in connection.execute(
        select(RatingPoint.__table__)
        .where(RatingPoint.version_id.in_(list(versions)), RatingPoint.players == players)
        .order_by(RatingPoint.version_id, RatingPoint.games)
    ):
        found.setdefault(row.version_id, []).append(row)
    return found


def _row(key: Key, entry: Entry) -> Row:
    version, players = key
    ended: datetime | None = entry.last_played
    return {
        "version_id": version,
        "players": players,
        "games": entry.games,
        "ended": ended,
        "mean": entry.rating.mean,
        "deviation": entry.rating.deviation,
    }
