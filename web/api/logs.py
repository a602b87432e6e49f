"""What bots left of a game, for their owners: what they printed and noted, and what went wrong."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter

from arena.accounts import Scope
from arena.gamelog import SeatDecision, decisions
from arena.store import GameLog, Reads, SeatLog
from web.api.guard import Guard, may_see
from web.api.routes import DataRouter
from web.caller import Caller, Callers
from web.problems import Problem
from web.reading import GameId


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedSeat:
    """What became of a seat.

    Attributes:
        seat: From 0.
        bot: Name.
        version: Number; null for a submission, which was no version then.
        exit_code: Of its program; null where that ran until the end of the match.
        out_of_memory: Whether the kernel ended it for memory.
        trouble: What went wrong with its sandbox, or null.
        stderr: The head and the tail of what it printed there, in the whole match.
        decisions: Those with a note, a fault or a trouble.
    """

    seat: int
    bot: str
    version: int | None
    exit_code: int | None
    out_of_memory: bool
    trouble: str | None
    stderr: str
    decisions: tuple[SeatDecision, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Logs:
    """What bots left of a game.

    Attributes:
        game: Its id.
        match: Id of its match.
        seats: Those that are for the caller.
    """

    game: str
    match: str
    seats: tuple[LoggedSeat, ...]


def logs_api(reads: Reads, callers: Callers) -> APIRouter:
    """Return the route of logs."""
    router = DataRouter("games")
    guard = Guard(callers)
    Reader = Annotated[Caller, guard(Scope.READ)]  # noqa: N806 - a type

    @router.get("/games/{game}/logs")
    def logs(caller: Reader, game: GameId) -> Logs:
        """Return what one's own bots left of a game, rated or not; operators see every seat."""
        log = reads.game_log(game)
        seats = [seat for seat in log.seats if may_see(caller, seat.account)] if log else []
        if log is None or not seats:
            raise Problem(404, "There is no game of this id in which you have a bot.")
        if not log.kept:
            raise Problem(
                410,
                "The logs of this game are no longer kept.",
                hint="Whoever runs the arena sets how long they are; read them sooner.",
            )
        return Logs(game=log.game, match=log.match, seats=tuple(_seat(log, seat) for seat in seats))

    return router


def _seat(log: GameLog, seat: SeatLog) -> LoggedSeat:
    return LoggedSeat(
        seat=seat.seat,
        bot=seat.bot,
        version=seat.version,
        exit_code=seat.report.exit_code,
        out_of_memory=seat.report.out_of_memory,
        trouble=seat.report.trouble,
        stderr=seat.report.stderr,
        decisions=decisions(log, seat.seat),
    )
