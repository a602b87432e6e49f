"""The games of a bot that are as somebody wants them.

Its games are looked through from the newest on, so many at a time at most, and whoever asks goes on where
that ended. So a question costs the same after any number of games, also where nothing fits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, select

from arena.store import games, ladder, seats
from arena.store.bot_models import Bot, BotVersion
from arena.store.models import Game, GameSeat
from arena.store.reads import GameSummary

LOOKED_THROUGH = 2000
"""Games that are looked through for one page."""

_BATCH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedGames:
    """Which games of a bot are wanted; None for all.

    Attributes:
        version: Its version.
        opponent: Name of a bot that played too.
        players: How many.
        place: The bot's.
        low: The least that it scored.
        high: The most that it scored.
        faulty: Whether it had a fault.
    """

    version: int | None = None
    opponent: str | None = None
    players: int | None = None
    place: int | None = None
    low: int | None = None
    high: int | None = None
    faulty: bool | None = None

    @property
    def all(self) -> bool:
        """Tell whether all of the bot's games are wanted, or all of a version of it."""
        return self == WantedGames(version=self.version)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundGames:
    """What was found.

    Attributes:
        games: Newest first.
        older: Before which number to go on; None where there are no more.
        looked_through: How many games were looked through, where that ended before a page was full; or None.
    """

    games: tuple[GameSummary, ...]
    older: int | None
    looked_through: int | None


def find(connection: Connection, bot: str, wanted: WantedGames, before: int | None, limit: int) -> FoundGames:
    """Return a page of the games of a bot, newest first.

    Args:
        connection: To the store.
        bot: Its name.
        wanted: Which.
        before: Only games with a smaller number; None starts with the newest.
        limit: How many at most.
    """
    look = limit + 1 if wanted.all else LOOKED_THROUGH
    rows = seats.newest(
        connection, bot, look, version=wanted.version, before=before, faulty=wanted.faulty is True
    )
    numbers: list[int] = []
    for number in _fitting(connection, [row for row in rows if _fits(row, wanted)], wanted):
        numbers.append(number)
        if len(numbers) > limit:
            break
    shown = numbers[:limit]
    summaries = games.by_number(connection, shown)
    full = len(numbers) <= limit and len(rows) == look
    older = rows[-1].game_number if full else None
    return FoundGames(
        games=tuple(summaries[number] for number in shown),
        older=shown[-1] if len(numbers) > limit else older,
        looked_through=len(rows) if full else None,
    )


def _fits(row: Row[Any], wanted: WantedGames) -> bool:
    """Tell whether the bot's own part in a game is as wanted."""
    return (
        wanted.place in {None, row.place}
        and (wanted.low is None or row.points >= wanted.low)
        and (wanted.high is None or row.points <= wanted.high)
        and wanted.faulty in {None, ladder.is_faulty(row.faults, taken_over=row.taken_over)}
    )


def _fitting(connection: Connection, rows: Sequence[Row[Any]], wanted: WantedGames) -> Iterator[int]:
    """Yield the numbers of those games in which the others are as wanted too."""
    for first in range(0, len(rows), _BATCH):
        numbers = [row.game_number for row in rows[first : first + _BATCH]]
        if wanted.players is not None or wanted.opponent is not None:
            fitting = frozenset(connection.execute(_played(numbers, wanted)).scalars())
            numbers = [number for number in numbers if number in fitting]
        yield from numbers


def _played(numbers: Sequence[int], wanted: WantedGames) -> Any:  # noqa: ANN401 - a statement
    found = select(Game.number).where(Game.number.in_(numbers))
    if wanted.players is not None:
        found = found.where(Game.players == wanted.players)
    if wanted.opponent is not None:
        found = (
            found.join(GameSeat, GameSeat.game_number == Game.number)
            .join(BotVersion, BotVersion.id == GameSeat.version_id)
            .join(Bot, Bot.id == BotVersion.bot_id)
            .where(Bot.name == wanted.opponent)
        )
    return found
