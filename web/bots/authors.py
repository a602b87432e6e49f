"""Pages about one author's bots: a public page, and one about the viewer's own bots."""

from typing import Final

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import RedirectResponse

from arena.db.bots import KnownBot
from arena.db.store import Store
from arena.protocol.states import BotState
from web.bots.model import version_line
from web.http.authentication import Session
from web.http.parameters import AfterBot, AuthorName
from web.http.rendering import PageRouter, page
from web.leaderboard.cache import Boards

_MAX_BOTS: Final = 50
_MAX_VERSIONS: Final = 20


def author_pages(store: Store, boards: Boards) -> APIRouter:
    """Return the routes."""
    router = PageRouter()

    # An operator may add bots by an author with any name, even one with a slash.
    @router.get("/authors/{author:path}")
    def author(request: Request, author: AuthorName, after: AfterBot = None) -> Response:
        found = store.bots.listed(after, _MAX_BOTS + 1, author=author)
        bots = found[:_MAX_BOTS]
        if not bots:
            raise HTTPException(404, "This author has no bots.")
        versions = [
            (bot.name, *version_line(version, noted=False))
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
