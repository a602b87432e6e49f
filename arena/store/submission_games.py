"""The games that a submission plays to qualify."""

from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, func, select

from arena.match import GameRecord, SeatReport, decode
from arena.store.models import Match, MatchSeat, MatchSet, MatchState
from arena.store.played_rules import RULES, rules_of
from arena.store.submission_models import Submission, UnratedGame
from arena.store.submitted import QualificationGame


def games(connection: Connection, id_: str) -> tuple[QualificationGame, ...]:
    """Return the games of a submission in their order, those that are still to be played too."""
    rows = connection.execute(
        select(
            Match.id,
            Match.state,
            Match.reason,
            MatchSeat.seat,
            MatchSeat.report,
            MatchSeat.stderr,
            *RULES,
            UnratedGame.id.label("game"),
            UnratedGame.record,
        )
        .join(MatchSeat, MatchSeat.match_id == Match.id)
        .join(Submission, Submission.number == MatchSeat.submission_number)
        .join(MatchSet, MatchSet.number == Match.set_number)
        .outerjoin(UnratedGame, UnratedGame.match_id == Match.id)
        .where(Submission.id == id_)
        .order_by(Match.set_number, UnratedGame.position)
    )
    return tuple(_game(row) for row in rows)


def replay(connection: Connection, id_: str, game: str) -> str | None:
    """Return the replay of a game of a submission, or None where it has none of that id."""
    return connection.execute(
        select(UnratedGame.replay)
        .join(MatchSeat, MatchSeat.match_id == UnratedGame.match_id)
        .join(Submission, Submission.number == MatchSeat.submission_number)
        .where(UnratedGame.id == game, Submission.id == id_)
    ).scalar_one_or_none()


def counted(connection: Connection, id_: str) -> int:
    """Return how many games of a submission are done or open; those that were put aside don't count."""
    return connection.execute(
        select(func.count())
        .select_from(Match)
        .join(MatchSeat, MatchSeat.match_id == Match.id)
        .join(Submission, Submission.number == MatchSeat.submission_number)
        .where(Submission.id == id_, Match.state != MatchState.QUARANTINED)
    ).scalar_one()


def _game(row: Row[*tuple[Any, ...]]) -> QualificationGame:
    return QualificationGame(
        match=row.id,
        state=MatchState(row.state),
        rules=rules_of(row),
        seat=row.seat,
        reason=row.reason,
        report=None if row.report is None else _report(row.report, row.stderr),
        game=row.game,
        record=None if row.record is None else decode(row.record, GameRecord),
    )


def _report(report: bytes, stderr: bytes | None) -> SeatReport:
    return replace(decode(report, SeatReport), stderr=(stderr or b"").decode("utf-8", "replace"))
