"""Pages about several bots: a comparison, an author's bots, and the viewer's own."""

from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.responses import RedirectResponse

from arena.db.bots import KnownBot
from arena.db.store import Store
from arena.ladder.card_table import CardHabit
from arena.ladder.standings import BoardQuery
from arena.protocol.documents import Row
from arena.protocol.states import BotState
from arena.rules import Card
from web.bots.curve import draw_together
from web.bots.history import Habits, read_habits
from web.bots.model import version_line
from web.cards import card_title
from web.http.authentication import Session
from web.http.parameters import AfterBot, AuthorName
from web.http.rendering import PageRouter, page, visible
from web.leaderboard.standings import Boards

MAX_COMPARED: Final = 4
_SUGGESTED: Final = 50
_MAX_BOTS: Final = 50
_MAX_VERSIONS: Final = 20

Names = Annotated[
    list[str],
    Query(max_length=MAX_COMPARED, description="Names of bots, one per parameter or comma-separated."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedBot:
    """A bot in the comparison; ``row`` is None if it isn't on the leaderboard."""

    name: str
    row: Row | None
    habits: Habits

    def habit(self, card: str) -> CardHabit | None:
        """Return how often the bot takes a kind of card, or None if it never had one in hand."""
        return next((each for each in self.habits.cards if each.card == card), None)


def bot_list_pages(store: Store, boards: Boards) -> APIRouter:
    """Return the routes."""
    router = PageRouter()

    @router.get("/compare")
    def compare(request: Request, bots: Names = []) -> Response:  # noqa: B006 - FastAPI copies defaults
        typed = _parse_names(bots)
        found = {name: store.bots.find_in_any_case(name) for name in typed[:MAX_COMPARED]}
        known = list(dict.fromkeys(bot.name for bot in found.values() if bot is not None))
        compared = [
            ComparedBot(name=name, row=boards.find(name)[0], habits=read_habits(store, name))
            for name in known
        ]
        had = {habit.card for each in compared for habit in each.habits.cards}
        return page(
            request,
            "compare.html",
            names=[name if bot is None else bot.name for name, bot in found.items()],
            left_out=typed[MAX_COMPARED:],
            max_bots=MAX_COMPARED,
            bots=compared,
            missing=[name for name, bot in found.items() if bot is None],
            plot=draw_together([store.histories.curve(name) for name in known]),
            meetings={pair: met for pair, met in store.histories.meetings(known).items() if met.games},
            suggested=[row.bot for row in boards.board(BoardQuery(limit=_SUGGESTED)).rows],
            cards=[card.label for card in Card if card.label in had],
            card_title=card_title,
        )

    # An operator may add bots by an author with any name, even one with a slash.
    @router.get("/authors/{author:path}")
    def author(request: Request, author: AuthorName, after: AfterBot = None) -> Response:
        found = store.bots.listed(after, _MAX_BOTS + 1, author=author)
        bots = found[:_MAX_BOTS]
        if not bots:
            raise HTTPException(404, "This author has no bots.")
        versions = [
            (bot.name, version_line(version, private=False))
            for bot in bots
            for version in store.bots.versions(bot.name, None, _MAX_VERSIONS)
        ]
        versions.sort(key=lambda each: each[1].created, reverse=True)
        return page(
            request,
            "author.html",
            author=bots[0].author,
            bots=[(bot, boards.find(bot.name)[0]) for bot in bots],
            versions=versions[:_MAX_VERSIONS],
            active={bot.name for bot in bots if bot.state is BotState.ACTIVE},
            after=bots[-1].name if len(found) > len(bots) else None,
        )

    @router.get("/mine")
    def mine(request: Request, session: Session) -> Response:
        account = session.account.id

        def lines(bot: KnownBot) -> tuple[object, ...]:
            newest = store.submissions.newest(account=account, bot=bot.name, limit=1)
            return bot, boards.find(bot.name)[0], next(iter(newest), None)

        return page(
            request,
            "mine.html",
            bots=[lines(bot) for bot in store.bots.of_account(account)],
            submitted=bool(store.submissions.newest(account=account, limit=1)),
            open_submissions=[
                each for each in store.submissions.open_submissions() if each.account == account
            ],
        )

    @router.get("/bots")
    def bots() -> Response:
        # The visitor is probably an owner who removed the bot's name from the address of its page.
        return RedirectResponse("/mine", 303)

    return router


def _parse_names(texts: list[str]) -> list[str]:
    """Return the distinct names in comma-separated lists; unprintable characters are escaped."""
    # PostgreSQL rejects NUL.
    names = [visible(name.strip()) for text in texts for name in text.split(",")]
    return list(dict.fromkeys(name for name in names if name))
