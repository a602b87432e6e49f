"""Who sits in matches: versions of bots, and submissions that are none yet."""

from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import Connection, Select, func, select

from arena.store.bot_models import Bot, BotVersion
from arena.store.models import MatchSeat
from arena.store.submission_models import Submission

BOT: Final = func.coalesce(Bot.name, Submission.bot).label("bot")
AUTHOR: Final = func.coalesce(Bot.author, Submission.author).label("author")


def seated(*columns: Any) -> Select[*tuple[Any, ...]]:  # noqa: ANN401 - columns, as SQLAlchemy has them
    """Select columns of seats, and of the versions, bots and submissions in them, in seat order."""
    return (
        select(*columns)
        .select_from(MatchSeat)
        .outerjoin(BotVersion, BotVersion.id == MatchSeat.version_id)
        .outerjoin(Bot, Bot.id == BotVersion.bot_id)
        .outerjoin(Submission, Submission.number == MatchSeat.submission_number)
        .order_by(MatchSeat.match_id, MatchSeat.seat)
    )


def who_sits(
    connection: Connection, matches: Collection[str]
) -> dict[str, tuple[tuple[str, int | None], ...]]:
    """Return of each match who sits there, as (bot, version); no version is a submission that is none yet."""
    found: dict[str, list[tuple[str, int | None]]] = {match: [] for match in matches}
    wanted = seated(MatchSeat.match_id, BOT, BotVersion.number).where(MatchSeat.match_id.in_(matches))
    for seat in connection.execute(wanted):
        found[seat.match_id].append((seat.bot, seat.number))
    return {match: tuple(seats) for match, seats in found.items()}
