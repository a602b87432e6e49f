"""Somebody's bots, as their owner sees them together."""

from dataclasses import dataclass

from arena.store import KnownBot, KnownSubmission, Store
from web.board import Row
from web.boards import Boards


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnBot:
    """A bot of who looks.

    Attributes:
        bot: It.
        row: Its line of the leaderboard; None while it is not on it.
        last: Its newest submission; None where it came in another way.
    """

    bot: KnownBot
    row: Row | None
    last: KnownSubmission | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnBots:
    """All of them.

    Attributes:
        bots: By name.
        on_their_way: Submissions that are not over, in the order of the queue.
    """

    bots: tuple[OwnBot, ...]
    on_their_way: tuple[KnownSubmission, ...]


def read_own_bots(store: Store, boards: Boards, account: int) -> OwnBots:
    """Read the bots of an account and what it has on its way."""
    known = store.bots.of_account(account)
    return OwnBots(
        bots=tuple(
            OwnBot(bot=bot, row=boards.find(bot.name)[0], last=_last(store, account, bot)) for bot in known
        ),
        on_their_way=tuple(each for each in store.desk.on_their_way() if each.account == account),
    )


def _last(store: Store, account: int, bot: KnownBot) -> KnownSubmission | None:
    return next(iter(store.desk.newest(account=account, bot=bot.name, limit=1)), None)
