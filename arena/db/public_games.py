"""Rated games in bulk, without their ratings, which may change."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select

from arena.db.database import Repository, from_row, grouped
from arena.db.schema import GameRow, GameSeatRow


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicGame:
    """A rated game without its ratings, which change when a bot is disqualified."""

    game: str  # id
    match: str  # id
    number: int  # its position in the order in which games were rated, from 1
    ended: datetime  # UTC
    taken_over: tuple[bool, ...]  # per seat: whether the stand-in played it to the end
    replay: str  # `sushigo-replay/1` as JSON text


class PublicGames(Repository):
    """The rated games that still have a replay. All rated games are public; unrated games never are."""

    def first_ended(self, since: datetime, after: int) -> datetime | None:
        """Return the earliest end of the games that ended at ``since`` or later, or None.

        Only games with numbers above ``after`` count.
        """
        with self._transactions.read() as connection:
            return connection.execute(
                select(GameRow.ended)
                .where(GameRow.ended >= since, GameRow.number > after, GameRow.replay != "")
                .order_by(GameRow.ended)
                .limit(1)
            ).scalar_one_or_none()

    def numbers(self, start: datetime, end: datetime) -> tuple[int, int]:
        """Return the lowest and highest numbers among games that ended in the interval [start, end).

        There must be at least one such game.
        """
        ended = GameRow.ended
        with self._transactions.read() as connection:
            numbers = select(func.min(GameRow.number), func.max(GameRow.number))
            first, last = connection.execute(numbers.where(ended >= start, ended < end)).one()
            return first, last

    def find(self, numbers: range, since: datetime) -> tuple[PublicGame, ...]:
        """Return the games that have these numbers and ended at ``since`` or later, in order."""
        with self._transactions.read() as connection:
            seats = connection.execute(
                select(GameSeatRow.game_number, GameSeatRow.taken_over)
                .where(GameSeatRow.game_number.in_(numbers))
                .order_by(GameSeatRow.game_number, GameSeatRow.seat)
            )
            sat = grouped(seats, "game_number")
            rows = connection.execute(
                select(GameRow.id.label("game"), GameRow.match_id.label("match"))
                .add_columns(GameRow.number, GameRow.ended, GameRow.replay)
                .where(GameRow.number.in_(numbers), GameRow.ended >= since, GameRow.replay != "")
                .order_by(GameRow.number)
            )
            return tuple(
                from_row(PublicGame, row, taken_over=tuple(seat.taken_over for seat in sat[row.number]))
                for row in rows
            )
