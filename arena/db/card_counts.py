"""Card statistics: updated with every rated match, and rebuilt from the records.

They leave out games with a disqualified bot, as ratings do. Updates and rebuilds give the same counts.
Counting takes about a millisecond per game. A rebuild therefore counts most games without the ladder lock
(:func:`count_all`), and only the games added in the meantime under the lock (:func:`rebuild`).
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, select

from arena.db import ladder
from arena.db.database import Repository, from_row, grouped
from arena.db.games import RULES
from arena.db.projections import RowValues, SplitSum, replace
from arena.db.projections import add as add_rows
from arena.db.schema import (
    CardCountRow,
    CardGamesRow,
    GameRow,
    GameSeatRow,
    GameTallyRow,
    LadderRow,
    MatchRow,
)
from arena.ladder.card_counts import POINT, Count, Games, Tally, count_game, merged, nothing
from arena.protocol.match import GameRecord, decode, played_again
from arena.rules import Card, Rules

BATCH = 200
"""Number of games to read at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuiltCards:
    """The result of a rebuild."""

    games: int  # games in the statistics
    differing: int  # rows that were wrong and have been replaced


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The counts of games 1 to ``last``, except games with ``disqualified`` versions."""

    last: int
    disqualified: frozenset[int]
    tally: Tally


class CardRepository(Repository):
    """The card statistics."""

    def find(self, players: int | None = None) -> Tally:
        """Return the statistics for games with this many players, or for all games."""
        games, counts = select(CardGamesRow.__table__), select(CardCountRow.__table__)
        if players is not None:
            games, counts = (
                games.where(CardGamesRow.players == players),
                counts.where(CardCountRow.players == players),
            )
        with self._transactions.read() as connection:
            return Tally(
                games={row.players: Games(*row[1:]) for row in connection.execute(games)},
                counts={
                    (row.players, Card(row.card), row.turn): _count_of(row)
                    for row in connection.execute(counts)
                },
            )

    def rebuild(self) -> RebuiltCards:
        """Recount the cards of all games, and replace the stored rows that differ.

        This takes about a millisecond per game, but only its last part blocks other changes.
        """
        with self._transactions.read() as connection:
            counted = count_all(connection, ladder.disqualified(connection))
        with self._transactions.write() as connection:
            return rebuild(connection, counted)


def add(connection: Connection, tallies: Iterable[Tally]) -> None:
    """Add the tallies of rated games. The caller holds the ladder lock."""
    tally = merged(tallies)
    add_rows(connection, CardGamesRow, _games_rows(tally))
    add_rows(connection, CardCountRow, _count_rows(tally), SplitSum("point_parts", "points", POINT))


def count_all(connection: Connection, disqualified: frozenset[int], onto: Counted | None = None) -> Counted:
    """Count all games except those with ``disqualified`` versions. Write nothing.

    Start from the counts in ``onto`` if they left out the same versions.
    """
    if onto is None or onto.disqualified != disqualified:
        onto = Counted(last=0, disqualified=disqualified, tally=nothing())
    last: int = connection.execute(select(LadderRow.games)).scalar_one()
    more = _count_range(connection, onto.last + 1, last, disqualified)
    return Counted(last=last, disqualified=disqualified, tally=merged(chain([onto.tally], more)))


def rebuild(connection: Connection, counted: Counted) -> RebuiltCards:
    """Lock the ladder, count the games added since ``counted``, and replace the stored rows that differ."""
    ladder.lock(connection)
    tally = count_all(connection, ladder.disqualified(connection), counted).tally
    differing = 0
    for model, rows in ((CardGamesRow, _games_rows(tally)), (CardCountRow, _count_rows(tally))):
        differing += replace(connection, model, rows)
    games = sum(each.games for each in tally.games.values())
    return RebuiltCards(games=games, differing=differing)


def _count_range(
    connection: Connection, first: int, last: int, disqualified: frozenset[int]
) -> Iterator[Tally]:
    """Count the games from ``first`` to ``last`` inclusive."""
    for begin in range(first, last + 1, BATCH):
        for game, sat in _games(connection, GameRow.number.between(begin, min(begin + BATCH - 1, last))):
            if disqualified.isdisjoint(seat.version_id for seat in sat):
                yield _count(game, sat) if game.tally is None else unpacked(game.tally)


def tallies(connection: Connection, matches: Collection[str]) -> list[tuple[str, int, Tally]]:
    """Return (match, game number, tally) for each game in these matches, which must still have replays."""
    return [
        (game.match_id, game.number, _count(game, sat))
        for game, sat in _games(connection, GameRow.match_id.in_(matches))
    ]


def packed(tally: Tally) -> bytes:
    """Encode a tally for :func:`unpacked`."""
    return msgspec.msgpack.encode(
        (
            [[players, *games] for players, games in tally.games.items()],
            [[players, int(card), turn, *count] for (players, card, turn), count in tally.counts.items()],
        )
    )


def unpacked(content: bytes) -> Tally:
    """Decode a tally from :func:`packed`."""
    games, counts = msgspec.msgpack.decode(content, type=tuple[list[list[int]], list[list[int]]])
    return Tally(
        games={players: Games(*each) for players, *each in games},
        counts={(players, Card(card), turn): Count(*each) for players, card, turn, *each in counts},
    )


def _games(connection: Connection, within: ColumnElement[bool]) -> Iterator[tuple[Any, list[Any]]]:
    seats = connection.execute(
        select(GameSeatRow.game_number, GameSeatRow.version_id, GameSeatRow.place, GameSeatRow.taken_over)
        .join(GameRow, GameRow.number == GameSeatRow.game_number)
        .where(within)
        .order_by(GameSeatRow.game_number, GameSeatRow.seat)
    )
    sat = grouped(seats, "game_number")
    for game in connection.execute(
        select(GameRow.number, GameRow.match_id, GameRow.record, GameTallyRow.tally, *RULES)
        .join(MatchRow, MatchRow.id == GameRow.match_id)
        .outerjoin(GameTallyRow, GameTallyRow.game_number == GameRow.number)
        .where(within)
    ):
        yield game, sat[game.number]


def _count(game: Any, seats: Sequence[Any]) -> Tally:  # noqa: ANN401 - rows
    record = decode(game.record, GameRecord)
    return count_game(
        played_again(from_row(Rules, game), record).states,
        record.steps,
        [seat.place for seat in seats],
        [seat.taken_over for seat in seats],
    )


def _games_rows(tally: Tally) -> list[RowValues]:
    return [{"players": players, **games._asdict()} for players, games in sorted(tally.games.items())]


def _count_rows(tally: Tally) -> list[RowValues]:
    rows: list[RowValues] = []
    for (players, card, turn), count in sorted(tally.counts.items()):
        points, parts = divmod(count.points, POINT)
        whole = count._asdict() | {"points": points, "point_parts": parts}
        rows.append({"players": players, "card": int(card), "turn": turn, **whole})
    return rows


def _count_of(row: Any) -> Count:  # noqa: ANN401 - a row
    whole = {name: getattr(row, name) for name in Count._fields}
    return Count(**whole | {"points": row.points * POINT + row.point_parts})
