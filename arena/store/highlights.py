"""The most remarkable games of each day, kept with the log they follow from."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC

from sqlalchemy import Connection, select

from arena.highlights import Highlight, HighlightKind, best, highlights
from arena.rating import OVERALL, Entry, GamePlayed, Key
from arena.store.log import Logged
from arena.store.models import Highlight as HighlightRow
from arena.store.rows import Row, replace

Days = Mapping[int, Iterable[Highlight]]
"""By day, as :meth:`datetime.date.toordinal` counts them, in UTC."""


class Highlights:
    """Goes along with a fold of the log and remembers the best of each day."""

    def __init__(self) -> None:
        self._days: defaultdict[int, tuple[Highlight, ...]] = defaultdict(tuple)

    def note(self, logged: Logged, before: Mapping[Key, Entry]) -> None:
        """Look at an event that counts.

        Args:
            logged: The event.
            before: Entries before it.
        """
        event, game = logged.event, logged.game
        if not isinstance(event, GamePlayed) or game is None:
            return
        ratings = [before[version, OVERALL].rating for version in event.versions]
        found = highlights(game, ratings, event.places, logged.points)
        day = event.ended.astimezone(UTC).toordinal()
        self._days[day] = best((*self._days[day], *found))

    def add(self, connection: Connection) -> None:
        """Let the games that were noted take their places among those that are kept."""
        if not self._days:
            return
        stored = _stored(connection, self._days)
        rows: list[Row] = []
        for day, found in self._days.items():
            known = [_highlight(row) for row in stored if row["day"] == day]
            rows += _rows(day, best((*known, *found)))
        replace(connection, HighlightRow, stored, rows)

    def put(self, connection: Connection) -> int:
        """Let the games that were noted be all that are kept, and return how many rows differed."""
        rows = [row for day, found in self._days.items() for row in _rows(day, found)]
        return replace(connection, HighlightRow, _stored(connection), rows)


def newest(connection: Connection, days: int) -> tuple[Highlight, ...]:
    """Return the best of the last days for which there are any: of so many at most."""
    wanted = select(HighlightRow.day).distinct().order_by(HighlightRow.day.desc()).limit(days)
    return best(map(_highlight, _stored(connection, connection.execute(wanted).scalars().all())))


def _stored(connection: Connection, days: Iterable[int] | None = None) -> list[Row]:
    wanted = select(HighlightRow.__table__)
    if days is not None:
        wanted = wanted.where(HighlightRow.day.in_(list(days)))
    return [row._asdict() for row in connection.execute(wanted)]


def _rows(day: int, found: Iterable[Highlight]) -> list[Row]:
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


def _highlight(row: Row) -> Highlight:
    return Highlight(
        kind=HighlightKind(row["kind"]),
        game=row["game_number"],
        seat=row["seat"],
        other=row["other"],
        value=row["value"],
    )
