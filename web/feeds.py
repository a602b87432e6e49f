"""Atom feeds: news about a bot, about all bots by an author, and about remarkable games.

Source: RFC 4287.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote
from xml.etree import ElementTree as ET

from fastapi import APIRouter, HTTPException, Request, Response

from arena.db.activity import RemarkableGame
from arena.db.bots import KnownBot
from arena.db.store import Store
from arena.platform.text import clean_name
from arena.protocol.news import News, state_changed, version_joined
from arena.protocol.states import BotState
from web.http.caching import tagged
from web.http.parameters import AuthorName, BotName, read_bot
from web.http.rendering import PageRouter, count, fixed, iso_moment, odds, origin, visible

_ATOM: Final = "http://www.w3.org/2005/Atom"
_MAX_BOTS: Final = 50
_MAX_ENTRIES: Final = 20
_NOTHING_YET: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""The date of an empty feed: every feed must have one."""


def feeds(store: Store, now: Callable[[], datetime]) -> APIRouter:
    """Return the routes for all feeds. They are public and the same for every caller."""
    router = PageRouter(prefix="/feeds", anonymous=True)

    @router.get("/games")
    def games(request: Request) -> Response:
        news = [_game_news(each) for each in store.activity.current(now()).remarkable]
        return _feed(request, "Notable games", "/games", news)

    @router.get("/bots/{bot}")
    def bot(request: Request, bot: BotName) -> Response:
        known = read_bot(store.bots, bot)
        return _feed(request, known.name, f"/bots/{known.name}", _bot_news(store, known))

    # As on authors' pages, a name may contain a slash.
    @router.get("/authors/{author:path}")
    def author(request: Request, author: AuthorName) -> Response:
        bots = store.bots.listed(None, _MAX_BOTS, author=author)
        if not bots:
            raise HTTPException(404, "This author has no bots.")
        news = [each for bot in bots for each in _bot_news(store, bot)]
        if (ladder := store.ladder.news()) is not None:
            news.append(ladder)
        name = bots[0].author
        return _feed(request, f"Bots by {clean_name(name)}", f"/authors/{quote(name)}", news)

    return router


def _bot_news(store: Store, bot: KnownBot) -> list[News]:
    """Return news about a bot's latest versions, its state (unless active), and its latest loss of a rank."""
    news = [
        version_joined(bot.name, version.number, version.created)
        for version in store.bots.versions(bot.name, None, _MAX_ENTRIES)
    ]
    if bot.state is not BotState.ACTIVE and bot.since is not None:
        news.append(state_changed(bot.name, bot.state, bot.reason, bot.since))
    if (lost := store.held_ranks.lost(bot.name)) is not None:
        news.append(lost)
    return news


def _game_news(each: RemarkableGame) -> News:
    winner = clean_name(each.game.seats[each.seat].bot)
    if each.other is None:
        title = f"{winner} scores {fixed(each.value, 0)} points"
    else:
        loser = clean_name(each.game.seats[each.other].bot)
        title = f"{winner} finishes ahead of {loser}, a {odds(each.value)} chance"
    return News(
        bot=winner,
        place=f"/games/{each.game.game}#{each.kind}",
        title=title,
        text=f"Game {count(each.game.number)}, {each.game.players} players.",
        at=each.game.ended,
    )


def _feed(request: Request, title: str, home: str, news: Sequence[News]) -> Response:
    """Return the latest of ``news`` as a feed for the page ``home``."""
    site = origin(request)
    newest = sorted(news, key=lambda each: each.at, reverse=True)[:_MAX_ENTRIES]
    root = ET.Element("feed", xmlns=_ATOM)
    own = site + quote(request.scope["path"])
    _add(root, "id", own)
    _add(root, "title", f"{title} · Kaiten")
    _add(root, "updated", iso_moment(newest[0].at if newest else _NOTHING_YET))
    ET.SubElement(root, "link", rel="self", href=own)
    ET.SubElement(root, "link", rel="alternate", type="text/html", href=f"{site}{home}")
    _add(ET.SubElement(root, "author"), "name", "Kaiten")
    for each in newest:
        item = ET.SubElement(root, "entry")
        _add(item, "id", f"{site}{each.place}")
        _add(item, "title", visible(each.title))
        _add(item, "updated", iso_moment(each.at))
        ET.SubElement(item, "link", rel="alternate", type="text/html", href=f"{site}{each.place}")
        _add(item, "summary", visible(each.text))
    body = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    # Browsers show a feed as plain text, and guess its encoding unless it is specified here.
    return tagged(request, Response(body, media_type="application/atom+xml; charset=utf-8"))


def _add(parent: ET.Element, name: str, text: str) -> None:
    ET.SubElement(parent, name).text = text
