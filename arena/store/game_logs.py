"""What bots printed and noted in a game. It is private to owners and operators: the caller sees to that."""

from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import Connection, Row, func, select

from arena.match import GameRecord, SeatReport, decode
from arena.rules import Rules
from arena.store.bot_models import Bot, BotVersion
from arena.store.models import Game, Match, MatchSeat, MatchSet
from arena.store.played_rules import RULES, rules_of
from arena.store.seated import BOT, seated
from arena.store.submission_models import Submission, UnratedGame


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatLog:
    """One seat of a game.

    Attributes:
        seat: From 0.
        bot: Name.
        version: Number; None for a submission that was no version then.
        account: Of its owner; None where it is nobody's.
        report: What became of its sandbox in the whole match, with what it printed.
    """

    seat: int
    bot: str
    version: int | None
    account: int | None
    report: SeatReport


@dataclass(frozen=True, slots=True, kw_only=True)
class GameLog:
    """What is kept of a game for those whose bots played it.

    Attributes:
        game: Its id.
        match: Id of its match.
        rules: What was played.
        record: Every decision, with the notes; without a step where the replay is no longer kept.
        kept: Whether the logs still are.
        seats: In seat order.
    """

    game: str
    match: str
    rules: Rules
    record: GameRecord
    kept: bool
    seats: tuple[SeatLog, ...]


_NO_RECORD: Final = GameRecord(seed="0" * 32, steps=())


def find(connection: Connection, id_: str) -> GameLog | None:
    """Return the log of a game, rated or not, or None where there is none of that id."""
    row = None
    for table in (Game, UnratedGame):
        row = row or connection.execute(_game(table, id_)).one_or_none()
    if row is None:
        return None
    return GameLog(
        game=id_,
        match=row.match_id,
        rules=rules_of(row),
        record=decode(row.record, GameRecord) if row.record else _NO_RECORD,
        kept=row.logs,
        seats=_seats(connection, row.match_id),
    )


def _game(table: Any, id_: str) -> Any:  # noqa: ANN401 - one of two tables; a statement of SQLAlchemy's
    return (
        select(
            table.match_id,
            table.record,
            Match.logs,
            *RULES,
        )
        .join(Match, Match.id == table.match_id)
        .join(MatchSet, MatchSet.number == Match.set_number)
        .where(table.id == id_)
    )


def _seats(connection: Connection, match: str) -> tuple[SeatLog, ...]:
    rows = connection.execute(
        seated(
            MatchSeat.seat,
            MatchSeat.report,
            MatchSeat.stderr,
            BOT,
            BotVersion.number,
            func.coalesce(Bot.account_id, Submission.account_id).label("account"),
        ).where(MatchSeat.match_id == match)
    )
    return tuple(_seat(row) for row in rows)


def _seat(row: Row[*tuple[Any, ...]]) -> SeatLog:
    stderr = (row.stderr or b"").decode("utf-8", "replace")
    return SeatLog(
        seat=row.seat,
        bot=row.bot,
        version=row.number,
        account=row.account,
        report=replace(decode(row.report, SeatReport), stderr=stderr),
    )
