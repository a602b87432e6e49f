"""The leaderboard in memory.

The pages, the API, the CSV file and the badges show the same rows. Reading them all each time would take a
hundred times as long as reading only the changes.
"""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import ceil, floor
from threading import Lock
from typing import Final

from arena.db.standings import RatingRepository
from arena.ladder.rating_events import LISTS, OVERALL
from arena.ladder.standings import BoardQuery, Standings
from arena.protocol.leaderboard import Row

_STEP: Final = 5
_SHORT: Final = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A part of a leaderboard."""

    query: BoardQuery
    rows: tuple[Row, ...]  # in the requested order
    found: int  # rows that match, on all pages
    bots: int  # rows in the whole list
    games: int  # rated games so far, in all lists


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The shared axis of all bars. It contains every μ ± 2σ, and ends at multiples of five."""

    low: int
    high: int

    def at(self, rating: float) -> float:
        """Return a rating's position, from 0 at ``low`` to 1000 at ``high``."""
        return round(1000 * (rating - self.low) / (self.high - self.low), 1)

    @property
    def ticks(self) -> tuple[int, ...]:
        """Ratings to label: every fifth, or every tenth on a long axis."""
        step = _STEP if self.high - self.low <= _SHORT else 2 * _STEP
        return tuple(rating for rating in range(self.low, self.high + 1) if rating % step == 0)


def scale_of(rows: Sequence[Row]) -> Scale:
    """Return the axis for these rows' bars. Bots without games have no bar."""
    played = [row for row in rows if row.games]
    low = min((row.mean - row.spread for row in played), default=0)
    high = max((row.mean + row.spread for row in played), default=50)
    first = floor(low / _STEP) * _STEP
    return Scale(low=first, high=max(ceil(high / _STEP) * _STEP, first + _STEP))


_MANY: Final = 1000


@dataclass(slots=True)
class _List:
    """A list, and the store's state when it was read."""

    standings: Standings = field(default_factory=Standings)
    revision: int = 0
    games: int = 0
    lock: Lock = field(default_factory=Lock)


class Boards:
    """The leaderboards, brought up to date with the store on each read. Thread-safe."""

    def __init__(self, ratings: RatingRepository, now: Callable[[], datetime]) -> None:
        self._ratings = ratings
        self._now = now
        self._lists = {players: _List() for players in LISTS}

    def read_all(self) -> None:
        """Read all lists, so that no visitor waits for a first read."""
        for players in self._lists:
            self.state(players)

    def state(self, players: int | None = None) -> tuple[int, int]:
        """Return a value that changes whenever the board does."""
        with self._current(players) as known:
            return known.revision, self._today()

    def board(self, query: BoardQuery) -> Board:
        """Return a part of a leaderboard, up to date."""
        with self._current(query.players) as known:
            found, rows = known.standings.rows(query, self._today())
            return Board(
                query=query, rows=tuple(rows), found=found, bots=len(known.standings), games=known.games
            )

    def names(self) -> list[str]:
        """Return the names of all bots, best first. This is much cheaper than reading their rows."""
        with self._current() as known:
            return known.standings.names

    def find(self, bot: str) -> tuple[Row | None, int]:
        """Return a bot's row, if any, on the board of all games, and the number of bots."""
        with self._current() as known:
            return known.standings.row(bot, self._today()), len(known.standings)

    @contextmanager
    def _current(self, players: int | None = None) -> Iterator[_List]:
        """Bring a list up to date, and yield it while its lock is held."""
        known = self._lists[players or OVERALL]
        with known.lock:
            changes = self._ratings.changes(players or OVERALL, known.revision)
            known.standings.update(changes.lines)
            if len(changes.lines) > _MANY:
                # Exempt the rows from garbage collection: scanning them would stop everything for half
                # a second.
                gc.collect()
                gc.freeze()
            known.revision, known.games = changes.revision, changes.games
            yield known

    def _today(self) -> int:
        return self._now().astimezone(UTC).toordinal()
