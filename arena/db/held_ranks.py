"""Records the ranks that bots hold, to notify the owners of bots that are overtaken."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import select

from arena.db.database import Repository, put
from arena.db.schema import ON_THE_BOARD, BotRow, HeldRankRow
from arena.db.subscriptions import notify_account
from arena.ladder.standings import Standing
from arena.protocol.news import News, Topic, overtaken
from arena.protocol.states import BotState

QUIET: Final = timedelta(days=1)
"""Minimum time between notices that a bot was overtaken: equally strong bots overtake each other often."""


class HeldRanks(Repository):
    """Compares the leaderboard with the ranks that bots held."""

    def compare(self, standings: Sequence[Standing], at: datetime) -> None:
        """Record new ranks, and notify the owners of active bots that lost their rank to another bot.

        ``standings`` is the overall leaderboard, best first. If a bot loses a rank within ``QUIET`` of its
        last recorded loss, the new loss is not recorded yet. The bot may regain the rank; otherwise, the
        loss is reported later.
        """
        board = [each for each in standings if each.entry.games]
        ranks = {each.bot: each.rank for each in board}
        bots = select(BotRow.id, BotRow.name, BotRow.account_id, BotRow.house, BotRow.state)
        bots = bots.add_columns(HeldRankRow.rank, HeldRankRow.lost, HeldRankRow.lost_to, HeldRankRow.lost_at)
        bots = bots.outerjoin(HeldRankRow, HeldRankRow.bot_id == BotRow.id)
        bots = bots.where(BotRow.state.in_(ON_THE_BOARD)).order_by(BotRow.id)
        with self._transactions.read() as connection:
            known = connection.execute(bots).all()
        held = {bot.name: bot.rank for bot in known if bot.rank is not None}
        rows = []
        lost: list[tuple[int | None, News]] = []
        for bot in known:
            rank = ranks.get(bot.name)
            if rank is None or rank == bot.rank:
                continue
            row = {"bot_id": bot.id, "rank": rank}
            row |= {"lost": bot.lost, "lost_to": bot.lost_to, "lost_at": bot.lost_at}
            if bot.name in held and rank > bot.rank and bot.state == BotState.ACTIVE and not bot.house:
                if bot.lost_at is not None and at - bot.lost_at < QUIET:
                    continue
                if (by := _overtaker(board, held, bot.rank)) is not None:
                    row |= {"lost": bot.rank, "lost_to": by, "lost_at": at}
                    lost.append((bot.account_id, overtaken(bot.name, by, bot.rank, at)))
            rows.append(row)
        if rows:
            with self._transactions.write() as connection:
                put(connection, HeldRankRow, rows)
                for account, news in lost:
                    notify_account(connection, account, Topic.OVERTAKEN, news)

    def lost(self, bot: str) -> News | None:
        """Return the news about the rank that a bot last lost; None if it hasn't lost any."""
        query = select(HeldRankRow.__table__).join(BotRow, BotRow.id == HeldRankRow.bot_id)
        with self._transactions.read() as connection:
            row = connection.execute(query.where(BotRow.name == bot)).one_or_none()
        if row is None or row.lost_at is None:
            return None
        return overtaken(bot, row.lost_to, row.lost, row.lost_at)


def _overtaker(board: Sequence[Standing], held: Mapping[str, int], rank: int) -> str | None:
    """Return the lowest bot at ``rank`` or above that wasn't above it before; None if there is none.

    ``held`` contains the recorded ranks. The bot that now has the rank may have been ahead all along: a
    newcomer at the top moves all other bots down.
    """
    ahead = (each.bot for each in reversed(board) if each.rank <= rank)
    return next((bot for bot in ahead if held.get(bot, rank) >= rank), None)
