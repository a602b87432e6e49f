"""Badges: small pictures of a bot's rank and rating, for other sites."""

from dataclasses import dataclass
from typing import Final

from fastapi import APIRouter, HTTPException, Request, Response

from arena.db.bots import Bots
from arena.protocol.documents import Row
from web.http.caching import unless_unchanged
from web.http.parameters import BotName
from web.http.rendering import PageRouter, fixed, render
from web.leaderboard.standings import Boards

_NARROW: Final = frozenset("fijlrtI.,:;'|!()[]- ")
_WIDE: Final = frozenset("mwMWOQ@#%\N{PLUS-MINUS SIGN}")
_WIDTHS: Final = (4.2, 7.0, 9.4)
"""Widths of narrow, other and wide letters at 11 px. The picture stretches any font to them."""
_PADDING: Final = 7
_MARK: Final = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """A badge's texts and sizes in pixels."""

    label: str  # the bot's name
    value: str  # rank and rating
    title: str  # the alternative text
    label_width: int  # of the left part, with the mark
    value_width: int
    label_length: int  # of the label's text
    value_length: int


def badge_of(bot: str, row: Row | None, bots: int, state: str) -> Badge:
    """Return a bot's badge.

    ``row`` is None if the bot is not on the leaderboard; its ``state`` then replaces the rank.
    """
    if row is None:
        return _badge(bot, state, f"{bot} on Kaiten: {state}")
    if not row.games:
        return _badge(bot, "no game yet", f"{bot} on Kaiten: no rated game yet")
    rating = f"{fixed(row.mean, 1)} \N{PLUS-MINUS SIGN} {fixed(row.spread, 1)}"
    provisional = ", provisional" if row.provisional else ""
    return _badge(
        bot,
        f"#{row.rank} \N{MIDDLE DOT} {rating}{provisional}",
        f"{bot} on Kaiten: rank {row.rank} of {bots}, rating {rating}{provisional}",
    )


def _badge(label: str, value: str, title: str) -> Badge:
    label_length, value_length = _length(label), _length(value)
    return Badge(
        label=label,
        value=value,
        title=title,
        label_width=label_length + _MARK + 2 * _PADDING,
        value_width=value_length + 2 * _PADDING,
        label_length=label_length,
        value_length=value_length,
    )


def _length(text: str) -> int:
    narrow, other, wide = _WIDTHS
    return round(sum(narrow if letter in _NARROW else wide if letter in _WIDE else other for letter in text))


_LASTS: Final = "public, max-age=300"
"""Other sites' caches request a badge every five minutes."""


def badge_pages(boards: Boards, bots: Bots) -> APIRouter:
    """Return the routes of badges. They are the same for every visitor, and any site may embed them."""
    router = PageRouter(anonymous=True)

    @router.get("/bots/{bot}/badge.svg")
    def badge(request: Request, bot: BotName) -> Response:
        known = bots.find(bot)
        if known is None:
            raise HTTPException(404, "There is no bot of this name.")
        request.state.framable = True
        row, count = boards.find(bot)
        drawn = badge_of(bot, row, count, known.state.value)
        made = unless_unchanged(
            request, drawn, lambda: Response(render("badge.svg", badge=drawn), media_type="image/svg+xml")
        )
        made.headers["Cache-Control"] = _LASTS
        del made.headers["Vary"]
        return made

    return router
