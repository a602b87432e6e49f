"""The result of a match: games, reports and ratings in one transaction."""

from dataclasses import replace

from sqlalchemy import Connection, bindparam, insert, select, update

from arena.match import encode
from arena.rating import GamePlayed
from arena.store import ladder
from arena.store.matches import FinishedGame, FinishedMatch
from arena.store.models import Bot, BotVersion, Game, GameSeat, Match, MatchSeat, MatchState
from arena.store.replays import with_authors


def record(connection: Connection, finished: FinishedMatch) -> bool:
    """Write what came of a claim and rate its games, in their order.

    Returns:
        False where the attempt isn't the current one, or is recorded already: nothing is written.

    Raises:
        ValueError: The seats aren't those of the match.
    """
    closed = connection.execute(
        update(Match)
        .where(Match.id == finished.match)
        .where(Match.attempt == finished.attempt)
        .where(Match.state == MatchState.RUNNING)
        .values(state=MatchState.DONE, ended=finished.ended)
    )
    if closed.rowcount == 0:
        return False
    versions = tuple(
        connection.execute(
            select(MatchSeat.version_id).where(MatchSeat.match_id == finished.match).order_by(MatchSeat.seat)
        ).scalars()
    )
    _check_seats(finished, len(versions))
    _write_reports(connection, finished)
    if finished.games:
        numbers = ladder.lock(connection)
        _write_games(connection, finished, versions, numbers.games)
        log = [
            ladder.Logged(numbers.events + index, _played(game, versions, finished), numbers.games + index)
            for index, game in enumerate(finished.games, start=1)
        ]
        ladder.append(connection, log, numbers.games + len(log))
    return True


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


def _write_games(
    connection: Connection, finished: FinishedMatch, versions: tuple[int, ...], last: int
) -> None:
    """Write games and their seats, numbered from the one after ``last``."""
    authors = _authors(connection, versions)
    numbered = list(enumerate(finished.games, start=last + 1))
    connection.execute(
        insert(Game),
        [
            {
                "number": number,
                "id": game.id,
                "match_id": finished.match,
                "position": position,
                "players": len(versions),
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
                "version_id": version,
                "points": game.points[seat],
                "puddings": game.puddings[seat],
                "place": game.places[seat],
                "faults": game.faults[seat],
                "taken_over": game.taken_over[seat],
            }
            for number, game in numbered
            for seat, version in enumerate(versions)
        ],
    )


def _authors(connection: Connection, versions: tuple[int, ...]) -> tuple[str, ...]:
    """Return the authors' names as they are now: an account may have been deleted since the claim."""
    rows = connection.execute(
        select(BotVersion.id, Bot.author)
        .join(Bot, Bot.id == BotVersion.bot_id)
        .where(BotVersion.id.in_(versions))
    )
    names = {row.id: row.author for row in rows}
    return tuple(names[version] for version in versions)


def _played(game: FinishedGame, versions: tuple[int, ...], finished: FinishedMatch) -> GamePlayed:
    return GamePlayed(
        versions=versions,
        places=game.places,
        faulty=tuple(
            ladder.is_faulty(faults, taken_over=taken)
            for faults, taken in zip(game.faults, game.taken_over, strict=True)
        ),
        ended=finished.ended,
    )
