"""The leaderboards that the site has in memory, one a list, brought up to date whenever somebody asks."""

import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import Final

from arena.rating import OVERALL
from arena.store import Reads
from web.board import Board, Row, Wanted
from web.standings import Standings

_MANY: Final = 1000


@dataclass(slots=True)
class _List:
    """A list, and what of the ladder has been seen for it. Whoever uses it holds its lock."""

    standings: Standings = field(default_factory=Standings)
    revision: int = 0
    games: int = 0
    lock: Lock = field(default_factory=Lock)


class Boards:
    """The leaderboards, for threads to share. Whatever is asked, the store says first what has changed.

    Args:
        reads: The store.
        now: The clock, UTC.
    """

    def __init__(self, reads: Reads, now: Callable[[], datetime]) -> None:
        self._reads = reads
        self._now = now
        self._lists = {players: _List() for players in (OVERALL, 2, 3, 4, 5)}

    def read_all(self) -> None:
        """Read all lists, so that nobody who asks for one waits for what a whole ladder takes."""
        for players, known in self._lists.items():
            with known.lock:
                self._look(known, players)

    def state(self, players: int | None = None) -> tuple[int, int]:
        """Return what a board follows from: where that is as it was, so is the board."""
        known = self._lists[players or OVERALL]
        with known.lock:
            self._look(known, players)
            return known.revision, self._today()

    def board(self, wanted: Wanted) -> Board:
        """Return a part of a leaderboard, as it is now."""
        known = self._lists[wanted.players or OVERALL]
        with known.lock:
            self._look(known, wanted.players)
            found, rows = known.standings.rows(wanted, self._today())
            return Board(
                wanted=wanted,
                rows=tuple(rows),
                found=found,
                bots=len(known.standings),
                games=known.games,
            )

    def find(self, bot: str) -> tuple[Row | None, int]:
        """Return a bot's line of all games, or None where it is not on the board; and how many bots are."""
        known = self._lists[OVERALL]
        with known.lock:
            self._look(known, None)
            return known.standings.row(bot, self._today()), len(known.standings)

    def _look(self, known: _List, players: int | None) -> None:
        changes = self._reads.board_changes(players or OVERALL, known.revision)
        known.standings.update(changes.lines)
        if len(changes.lines) > _MANY:
            # They stay. The garbage collector would look through all of them again and again, half a second
            # each time, while everybody waits.
            gc.collect()
            gc.freeze()
        known.revision, known.games = changes.revision, changes.games

    def _today(self) -> int:
        return self._now().astimezone(UTC).toordinal()
