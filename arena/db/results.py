"""Records a match's result: games, reports and ratings in one transaction."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, bindparam, insert, update

from arena.db import bot_states, card_counts, ladder, live_games
from arena.db.database import Database
from arena.db.matches import AUTHOR, FinishedGame, FinishedMatch, seated
from arena.db.projections import RowValues
from arena.db.schema import GameRow, GameSeatRow, MatchRow, MatchSeatRow, UnratedGameRow
from arena.db.schema_revision import check_revision
from arena.ladder.rating import game_time
from arena.platform.environment import failpoint
from arena.protocol.decoding import prepared
from arena.protocol.match import encode, public_trouble
from arena.protocol.states import MatchKind, MatchState


class _ReplaySeat(msgspec.Struct):
    author: str


class _ReplaySeats(msgspec.Struct):
    seats: tuple[_ReplaySeat, ...]


def with_authors(replay: str, authors: Sequence[str | None]) -> str:
    """Return a replay with other authors, one per seat; None keeps a seat's author.

    ``replay`` must be compact JSON text, as :func:`arena.play.replay.document.encode` writes it.
    """
    seats = msgspec.json.decode(replay, type=prepared(_ReplaySeats)).seats
    for seat, now in zip(seats, authors, strict=True):
        if now is not None and seat.author != now:
            replay = replay.replace(f'"author":{_json_text(seat.author)}', f'"author":{_json_text(now)}')
    return replay


def _json_text(name: str) -> str:
    return msgspec.json.encode(name).decode()


class Results:
    """Records match results. Unlike a repository, it first checks the tables' revision."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, finished: FinishedMatch) -> bool:
        """Write a claim's result, and rate the games of a rated match in order.

        Return False, and write nothing, if the attempt is stale or already recorded. Raises DatabaseChanged,
        or ValueError if the number of seats is wrong.
        """
        with self._database.write() as connection:
            check_revision(connection, self._database.url)
            kind = connection.execute(
                update(MatchRow)
                .where(MatchRow.id == finished.match)
                .where(MatchRow.attempt == finished.attempt)
                .where(MatchRow.state == MatchState.RUNNING)
                .values(state=MatchState.DONE, ended=finished.ended)
                .returning(MatchRow.kind)
            ).scalar_one_or_none()
            if kind is None:
                return False
            # Use the authors' current names: an account may have been deleted. The lock keeps accounts from
            # being deleted until this transaction ends.
            numbers = ladder.lock(connection)
            query = seated(MatchSeatRow.version_id, AUTHOR).where(MatchSeatRow.match_id == finished.match)
            seats = connection.execute(query).all()
            _check_seats(finished, len(seats))
            live_games.clear(connection)
            _write_reports(connection, finished)
            if finished.games and kind == MatchKind.RATED:
                _rate(connection, finished, seats, numbers)
            elif finished.games:
                connection.execute(insert(UnratedGameRow), _game_rows(finished, seats))
            failpoint("recording")
            return True


def _rate(
    connection: Connection, finished: FinishedMatch, seats: Sequence[Row[Any]], numbers: Row[int, int]
) -> None:
    """Store the games, and everything that follows from them. ``numbers`` are the last ones assigned."""
    first = numbers.games + 1
    games = [
        {**row, "number": number, "players": len(seats)}
        for number, row in enumerate(_game_rows(finished, seats), start=first)
    ]
    connection.execute(insert(GameRow), games)
    versions = tuple(seat.version_id for seat in seats)
    seat_rows = [
        _seat_rows(number, game, versions) for number, game in enumerate(finished.games, start=first)
    ]
    connection.execute(insert(GameSeatRow), [*chain.from_iterable(seat_rows)])
    log = [
        ladder.game_event(numbers.events + index, numbers.games + index, finished.ended, rows)
        for index, rows in enumerate(seat_rows, start=1)
    ]
    barred = ladder.disqualified(connection)
    ladder.append(connection, log, numbers.games + len(log), barred)
    if barred.isdisjoint(versions):
        card_counts.add(connection, [game.cards for game in finished.games])
    bot_states.bench_failing(connection, _takeovers(finished, versions), finished.ended)


def _takeovers(finished: FinishedMatch, versions: Sequence[int]) -> list[tuple[int, str]]:
    """Return the versions that the stand-in took over from, with the reason as text."""
    return [
        (version, public_trouble(finished.reports[bot]) or _last_fault(finished, bot))
        for bot, version in enumerate(versions)
        if any(game.taken_over[game.bots.index(bot)] for game in finished.games)
    ]


def _last_fault(finished: FinishedMatch, bot: int) -> str:
    faults = [
        decision.trouble or decision.fault.value
        for game in finished.games
        for step in game.record.steps
        if (decision := step[game.bots.index(bot)]) is not None and decision.fault is not None
    ]
    return faults[-1] if faults else "the connection to the bot was lost"


def _check_seats(finished: FinishedMatch, players: int) -> None:
    for count, what in [
        (len(finished.reports), "reports"),
        *((len(game.places), f"places in game {game.id}") for game in finished.games),
    ]:
        if count != players:
            raise ValueError(f"match {finished.match} has {players} seats, but the result has {count} {what}")


def _write_reports(connection: Connection, finished: FinishedMatch) -> None:
    connection.execute(
        update(MatchSeatRow)
        .where(MatchSeatRow.match_id == bindparam("of_match"), MatchSeatRow.seat == bindparam("of_seat"))
        .values(report=bindparam("report"), stderr=bindparam("stderr")),
        [
            {
                "of_match": finished.match,
                "of_seat": seat,
                "report": encode(replace(report, stderr="")),
                "stderr": report.stderr.encode("utf-8", "replace"),
            }
            for seat, report in enumerate(finished.reports)
        ],
    )


def _game_rows(finished: FinishedMatch, seats: Sequence[Row[Any]]) -> list[RowValues]:
    return [
        {
            "id": game.id,
            "match_id": finished.match,
            "position": position,
            "ended": finished.ended,
            "replay": with_authors(game.replay, [seats[bot].author for bot in game.bots]),
            "record": encode(game.record),
        }
        for position, game in enumerate(finished.games)
    ]


def _seat_rows(number: int, game: FinishedGame, versions: Sequence[int]) -> list[RowValues]:
    return [
        {
            "game_number": number,
            "seat": seat,
            "version_id": versions[bot],
            "points": game.points[seat],
            "after_two": game.after_two[seat],
            "puddings": game.puddings[seat],
            "place": game.places[seat],
            "faults": game.faults[seat],
            "taken_over": game.taken_over[seat],
            "median_micros": _median_time(game, seat),
        }
        for seat, bot in enumerate(game.bots)
    ]


def _median_time(game: FinishedGame, seat: int) -> int | None:
    """Return a seat's median decision time in microseconds, or None if the bot never answered."""
    decisions = (step[seat] for step in game.record.steps)
    return game_time(decision.millis for decision in decisions if decision is not None)
