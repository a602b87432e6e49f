"""The matches that are being played."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select, text

from arena.store.bot_models import Bot, BotVersion
from arena.store.models import OPEN, Match, MatchKind, MatchSeat, MatchSet, MatchState
from arena.store.submission_models import Submission


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenMatch:
    """A match that is being played, rated or not.

    Attributes:
        match: Its id.
        kind: What it is for.
        players: How many.
        deals: So many games it has.
        started: UTC.
        seats: In seat order: (bot, version); no version is a submission that is none yet.
    """

    match: str
    kind: MatchKind
    players: int
    deals: int
    started: datetime
    seats: tuple[tuple[str, int | None], ...]


def listed(connection: Connection) -> tuple[OpenMatch, ...]:
    """Return all, the one that began first first."""
    matches = connection.execute(
        select(Match.id, Match.kind, Match.started, MatchSet.players, MatchSet.deals)
        .join(MatchSet, MatchSet.number == Match.set_number)
        .where(text(OPEN), Match.state == MatchState.RUNNING)
        .order_by(Match.started, Match.id)
    ).all()
    seats: dict[str, list[tuple[str, int | None]]] = {match.id: [] for match in matches}
    for seat in connection.execute(
        select(MatchSeat.match_id, func.coalesce(Bot.name, Submission.bot).label("bot"), BotVersion.number)
        .outerjoin(BotVersion, BotVersion.id == MatchSeat.version_id)
        .outerjoin(Bot, Bot.id == BotVersion.bot_id)
        .outerjoin(Submission, Submission.number == MatchSeat.submission_number)
        .where(MatchSeat.match_id.in_(seats))
        .order_by(MatchSeat.match_id, MatchSeat.seat)
    ):
        seats[seat.match_id].append((seat.bot, seat.number))
    return tuple(
        OpenMatch(
            match=match.id,
            kind=MatchKind(match.kind),
            players=match.players,
            deals=match.deals,
            started=match.started,
            seats=tuple(seats[match.id]),
        )
        for match in matches
    )
