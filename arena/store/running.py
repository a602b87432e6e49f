"""The matches that are being played."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select, text

from arena.store.models import OPEN, Match, MatchKind, MatchSet, MatchState
from arena.store.seated import who_sits


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenMatch:
    """A match that is being played, rated or not.

    Attributes:
        match: Its id.
        kind: What it is for.
        players: How many.
        deals: So many games it has.
        started: UTC.
        worker: Who plays it; empty where an earlier version claimed it, which wrote down no names.
        coordinator: For whom: the id of an installation; likewise.
        seats: In seat order: (bot, version); no version is a submission that is none yet.
    """

    match: str
    kind: MatchKind
    players: int
    deals: int
    started: datetime
    worker: str
    coordinator: str
    seats: tuple[tuple[str, int | None], ...]


def listed(connection: Connection) -> tuple[OpenMatch, ...]:
    """Return all, the one that began first first."""
    matches = connection.execute(
        select(Match.id, Match.kind, Match.started, Match.worker, Match.coordinator)
        .add_columns(MatchSet.players, MatchSet.deals)
        .join(MatchSet, MatchSet.number == Match.set_number)
        .where(text(OPEN), Match.state == MatchState.RUNNING)
        .order_by(Match.started, Match.id)
    ).all()
    seats = who_sits(connection, [match.id for match in matches])
    return tuple(
        OpenMatch(
            match=match.id,
            kind=MatchKind(match.kind),
            players=match.players,
            deals=match.deals,
            started=match.started,
            worker=match.worker or "",
            coordinator=match.coordinator or "",
            seats=seats[match.id],
        )
        for match in matches
    )
