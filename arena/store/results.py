"""The result of a match: games, reports and ratings in one transaction."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, insert, update

from arena.failpoints import reach
from arena.match import encode
from arena.rating import GamePlayed, game_time
from arena.store import bot_states, card_counts, ladder, live_games
from arena.store.log import Logged, counted_points
from arena.store.matches import FinishedGame, FinishedMatch
from arena.store.models import Game, GameSeat, Match, MatchKind, MatchSeat, MatchState
from arena.store.replays import with_authors
from arena.store.seated import AUTHOR, seated
from arena.store.submission_models import UnratedGame


class _Seat(NamedTuple):
    """Who sat there: a version, which only a match that is not rated may lack, and its author."""

    version: int
    author: str


def record(connection: Connection, finished: FinishedMatch) -> bool:
    """Write what came of a claim and rate its games, in their order, if the match is a rated one.

    Returns:
        False where the attempt isn't the current one, or is recorded already: nothing is written.

    Raises:
        ValueError: The seats aren't those of the match.
    """
    kind = connection.execute(
        update(Match)
        .where(Match.id == finished.match)
        .where(Match.attempt == finished.attempt)
        .where(Match.state == MatchState.RUNNING)
        .values(state=MatchState.DONE, ended=finished.ended)
        .returning(Match.kind)
    ).scalar_one_or_none()
    if kind is None:
        return False
    seats = _seats(connection, finished.match)
    _check_seats(finished, len(seats))
    live_games.clear(connection)
    _write_reports(connection, finished)
    if finished.games and kind == MatchKind.RATED:
        _rate(connection, finished, seats)
    elif finished.games:
        _write_unrated(connection, finished, seats)
    reach("recording")
    return True


def _rate(connection: Connection, finished: FinishedMatch, seats: list[_Seat]) -> None:
    numbers = ladder.lock(connection)
    _write_games(connection, finished, seats, numbers.games)
    versions = tuple(seat.version for seat in seats)
    log = [
        Logged(
            numbers.events + index,
            _played(game, versions, finished),
            numbers.games + index,
            counted_points(game.points, game.taken_over),
        )
        for index, game in enumerate(finished.games, start=1)
    ]
    barred = ladder.disqualified(connection)
    ladder.append(connection, log, numbers.games + len(log), barred)
    if barred.isdisjoint(versions):
        card_counts.add(connection, [game.cards for game in finished.games])
    bot_states.bench_failing(connection, _taken_over(finished, versions), finished.ended)


def _taken_over(finished: FinishedMatch, versions: Sequence[int]) -> list[tuple[int, str]]:
    """Return who was taken over in a match, with what happened, in words."""
    return [
        (version, finished.reports[seat].trouble or _last_fault(finished, seat))
        for seat, version in enumerate(versions)
        if any(game.taken_over[seat] for game in finished.games)
    ]


def _last_fault(finished: FinishedMatch, seat: int) -> str:
    faults = [
        decision.trouble or decision.fault.value
        for game in finished.games
        for step in game.record.steps
        if (decision := step[seat]) is not None and decision.fault is not None
    ]
    return faults[-1] if faults else "it was gone"


def _seats(connection: Connection, match: str) -> list[_Seat]:
    """Return who sat there, with the authors' names as they are now: one may have gone since the claim."""
    rows = connection.execute(seated(MatchSeat.version_id, AUTHOR).where(MatchSeat.match_id == match))
    return [_Seat(row.version_id, row.author) for row in rows]


def _check_seats(finished: FinishedMatch, players: int) -> None:
    for count, what in [
        (len(finished.reports), "the reports"),
        *((len(g.places), g.id) for g in finished.games),
    ]:
        if count != players:
            raise ValueError(f"match {finished.match} has {players} seats, {what} {count}")


def _write_reports(connection: Connection, finished: FinishedMatch) -> None:
    connection.execute(
        update(MatchSeat)
        .where(MatchSeat.match_id == bindparam("of_match"), MatchSeat.seat == bindparam("of_seat"))
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


def _write_games(connection: Connection, finished: FinishedMatch, seats: list[_Seat], last: int) -> None:
    """Write games and their seats, numbered from the one after ``last``."""
    authors = [seat.author for seat in seats]
    numbered = list(enumerate(finished.games, start=last + 1))
    connection.execute(
        insert(Game),
        [
            {
                "number": number,
                "id": game.id,
                "match_id": finished.match,
                "position": position,
                "players": len(seats),
                "ended": finished.ended,
                "replay": with_authors(game.replay, authors),
                "record": encode(game.record),
            }
            for position, (number, game) in enumerate(numbered)
        ],
    )
    connection.execute(
        insert(GameSeat),
        [
            {
                "game_number": number,
                "seat": seat,
                "version_id": who.version,
                "points": game.points[seat],
                "puddings": game.puddings[seat],
                "place": game.places[seat],
                "faults": game.faults[seat],
                "taken_over": game.taken_over[seat],
                "median_micros": _time(game, seat),
            }
            for number, game in numbered
            for seat, who in enumerate(seats)
        ],
    )


def _write_unrated(connection: Connection, finished: FinishedMatch, seats: list[_Seat]) -> None:
    """Write games that no rating, number or list knows of."""
    authors = [seat.author for seat in seats]
    connection.execute(
        insert(UnratedGame),
        [
            {
                "id": game.id,
                "match_id": finished.match,
                "position": position,
                "ended": finished.ended,
                "replay": with_authors(game.replay, authors),
                "record": encode(game.record),
            }
            for position, game in enumerate(finished.games)
        ],
    )


def _played(game: FinishedGame, versions: tuple[int, ...], finished: FinishedMatch) -> GamePlayed:
    return GamePlayed(
        versions=versions,
        places=game.places,
        faulty=tuple(
            ladder.is_faulty(faults, taken_over=taken)
            for faults, taken in zip(game.faults, game.taken_over, strict=True)
        ),
        times=tuple(_time(game, seat) for seat in range(len(versions))),
        ended=finished.ended,
    )


def _time(game: FinishedGame, seat: int) -> int | None:
    """Return the median of a seat's decisions, in microseconds."""
    decisions = (step[seat] for step in game.record.steps)
    return game_time(decision.millis for decision in decisions if decision is not None)
