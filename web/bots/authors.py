"""The page of an author: all their bots, and their newest versions."""

from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter, HTTPException, Request, Response

from arena.db.bots import KnownBot
from arena.db.store import Store
from arena.protocol.documents import Row
from web.bots.model import VersionLine, version_line
from web.http.parameters import AfterBot, AuthorName
from web.http.rendering import PageRouter, page
from web.leaderboard.standings import Boards

_MOST_BOTS: Final = 50
_MOST_VERSIONS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthoredBot:
    """A bot of the author. ``row`` is its line of the leaderboard, None if it isn't on it."""

    bot: KnownBot
    row: Row | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorPage:
    """An author's page.

    ``bots`` are ordered by name; ``versions``, each with its bot's name, by time, newest first. ``after`` is
    the last bot's name if there are more, else None.
    """

    author: str
    bots: tuple[AuthoredBot, ...]
    versions: tuple[tuple[str, VersionLine], ...]
    after: str | None


def read_author(store: Store, boards: Boards, author: str, after: str | None) -> AuthorPage | None:
    """Read an author's bots, from the one after ``after`` on; None if the author has no such bots."""
    found = store.bots.listed(after, _MOST_BOTS + 1, author=author)
    bots = found[:_MOST_BOTS]
    if not bots:
        return None
    versions = [
        (bot.name, version_line(version, private=False))
        for bot in bots
        for version in store.bots.versions(bot.name, None, _MOST_VERSIONS)
    ]
    versions.sort(key=lambda each: each[1].created, reverse=True)
    return AuthorPage(
        author=bots[0].author,
        bots=tuple(AuthoredBot(bot=bot, row=boards.find(bot.name)[0]) for bot in bots),
        versions=tuple(versions[:_MOST_VERSIONS]),
        after=bots[-1].name if len(found) > len(bots) else None,
    )


def author_pages(store: Store, boards: Boards) -> APIRouter:
    """Return the route of authors."""
    router = PageRouter()

    # An operator may add bots of an author with any name, even one with a slash.
    @router.get("/authors/{author:path}")
    def author(request: Request, author: AuthorName, after: AfterBot = None) -> Response:
        shown = read_author(store, boards, author, after)
        if shown is None:
            raise HTTPException(404, "There is no bot of this author.")
        return page(request, "author.html", shown=shown)

    return router
