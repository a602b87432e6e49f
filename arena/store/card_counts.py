"""The statistics of cards: kept with every rated game, and counted anew from the records.

They hold the games that count for ratings, so none of a bot that is disqualified. Kept match by match or
counted anew, they are the same. Counting takes about a millisecond a game. So whoever counts anew does it
without the lock on the ladder (:func:`fold`), and under it only what came meanwhile (:func:`rebuild`).
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, select, update

from arena.cardstats import Count, Games, Tally, count_game, merged, nothing
from arena.match import GameRecord, decode
from arena.recorded import played_again
from arena.rules import Card
from arena.store import ladder
from arena.store.card_models import CardCount, CardGames, GameTally
from arena.store.models import Game, GameSeat, Ladder, Match, MatchSet
from arena.store.played_rules import RULES, rules_of
from arena.store.rows import Row, replace
from arena.store.rows import add as add_rows

BATCH = 200
"""Games read at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedCards:
    """What the statistics hold.

    Attributes:
        tally: The sums.
        first: Number of the first game that may be in them; those before are not.
    """

    tally: Tally
    first: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuiltCards:
    """What counting anew found.

    Attributes:
        games: How many there are in the statistics.
        missing: How many games of all had not been counted yet, since they are older than the statistics.
        differing: Rows that were not what the games say; now they are.
    """

    games: int
    missing: int
    differing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """Games counted from the first one on.

    Attributes:
        last: Number of the last one.
        disqualified: Versions whose games were left out.
        tally: The sums.
    """

    last: int
    disqualified: frozenset[int]
    tally: Tally


def add(connection: Connection, tallies: Iterable[Tally]) -> None:
    """Add games that count. The caller holds the lock on the ladder."""
    tally = merged(tallies)
    add_rows(connection, CardGames, _games_rows(tally))
    add_rows(connection, CardCount, _count_rows(tally))


def find(connection: Connection, players: int | None) -> CountedCards:
    """Return what is counted of games of so many players, or of all."""
    games, counts = select(CardGames.__table__), select(CardCount.__table__)
    if players is not None:
        games, counts = games.where(CardGames.players == players), counts.where(CardCount.players == players)
    return CountedCards(
        tally=Tally(
            games={row.players: Games(*row[1:]) for row in connection.execute(games)},
            counts={
                (row.players, Card(row.card), row.turn): Count(*row[3:]) for row in connection.execute(counts)
            },
        ),
        first=connection.execute(select(Ladder.cards_from)).scalar_one(),
    )


def fold(connection: Connection, disqualified: frozenset[int], onto: Folded | None = None) -> Folded:
    """Count all games anew, or those that came after ``onto``, and write nothing.

    Args:
        connection: To the store.
        disqualified: Versions whose games are left out.
        onto: What was counted before; where others had been left out, it is of no use.
    """
    if onto is None or onto.disqualified != disqualified:
        onto = Folded(last=0, disqualified=disqualified, tally=nothing())
    last: int = connection.execute(select(Ladder.games)).scalar_one()
    more = _counted(connection, onto.last + 1, last, disqualified)
    return Folded(last=last, disqualified=disqualified, tally=merged(chain([onto.tally], more)))


def rebuild(connection: Connection, folded: Folded) -> RebuiltCards:
    """Count what came since, compare, and replace what differs.

    Args:
        connection: To the store, for writing.
        folded: Games that were counted without the lock.
    """
    ladder.lock(connection)
    tally = fold(connection, ladder.disqualified(connection), folded).tally
    differing = 0
    for model, rows in ((CardGames, _games_rows(tally)), (CardCount, _count_rows(tally))):
        stored = connection.execute(select(model.__table__))
        differing += replace(connection, model, [row._asdict() for row in stored], rows)
    first: int = connection.execute(select(Ladder.cards_from)).scalar_one()
    connection.execute(update(Ladder).values(cards_from=1))
    games = sum(each.games for each in tally.games.values())
    return RebuiltCards(games=games, missing=first - 1, differing=differing)


def _counted(connection: Connection, first: int, last: int, disqualified: frozenset[int]) -> Iterator[Tally]:
    """Count the games from ``first`` to ``last``, both included."""
    for begin in range(first, last + 1, BATCH):
        for game, sat in _games(connection, Game.number.between(begin, min(begin + BATCH - 1, last))):
            if disqualified.isdisjoint(seat.version_id for seat in sat):
                yield _count(game, sat) if game.tally is None else unpacked(game.tally)


def tallies(connection: Connection, matches: Collection[str]) -> list[tuple[str, int, Tally]]:
    """Count the games of some matches, whose replays are there: (match, number of the game, tally) each."""
    return [
        (game.match_id, game.number, _count(game, sat))
        for game, sat in _games(connection, Game.match_id.in_(matches))
    ]


def packed(tally: Tally) -> bytes:
    """Return the bytes that :func:`unpacked` reads."""
    return msgspec.msgpack.encode(
        (
            [[players, *games] for players, games in tally.games.items()],
            [[players, int(card), turn, *count] for (players, card, turn), count in tally.counts.items()],
        )
    )


def unpacked(content: bytes) -> Tally:
    """Read bytes from :func:`packed`."""
    games, counts = msgspec.msgpack.decode(content, type=tuple[list[list[int]], list[list[int]]])
    return Tally(
        games={players: Games(*each) for players, *each in games},
        counts={(players, Card(card), turn): Count(*each) for players, card, turn, *each in counts},
    )


def _games(connection: Connection, within: ColumnElement[bool]) -> Iterator[tuple[Any, list[Any]]]:
    """Yield some games, and who sat there."""
    seats: dict[int, list[Any]] = {}
    for seat in connection.execute(
        select(GameSeat.game_number, GameSeat.version_id, GameSeat.place, GameSeat.taken_over)
        .join(Game, Game.number == GameSeat.game_number)
        .where(within)
        .order_by(GameSeat.game_number, GameSeat.seat)
    ):
        seats.setdefault(seat.game_number, []).append(seat)
    for game in connection.execute(
        select(Game.number, Game.match_id, Game.record, GameTally.tally, *RULES)
        .join(Match, Match.id == Game.match_id)
        .join(MatchSet, MatchSet.number == Match.set_number)
        .outerjoin(GameTally, GameTally.game_number == Game.number)
        .where(within)
    ):
        yield game, seats[game.number]


def _count(game: Any, seats: Sequence[Any]) -> Tally:  # noqa: ANN401 - rows
    record = decode(game.record, GameRecord)
    return count_game(
        played_again(rules_of(game), record).states,
        record.steps,
        [seat.place for seat in seats],
        [seat.taken_over for seat in seats],
    )


def _games_rows(tally: Tally) -> list[Row]:
    return [{"players": players, **games._asdict()} for players, games in sorted(tally.games.items())]


def _count_rows(tally: Tally) -> list[Row]:
    return [
        {"players": players, "card": int(card), "turn": turn, **count._asdict()}
        for (players, card, turn), count in sorted(tally.counts.items())
    ]
