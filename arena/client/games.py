"""Games on a site: their ids, lists and replays."""

from collections.abc import Iterator
from heapq import merge
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlsplit

from arena.client.sites import ClientError
from arena.protocol.bots import Bot
from arena.protocol.games import GameLine

if TYPE_CHECKING:
    from arena.client.site import SiteClient

_PAGE: Final = 100
"""Number of games to request at a time: the API's maximum."""


def part(text: str) -> str:
    """Quote a name or id that the user typed, so that it is one path segment.

    Raises ClientError if the segment would be empty or change the path.
    """
    if not text.strip("."):
        raise ClientError(f"{text!r} is not a valid name or id")
    return quote(text, safe="@", errors="replace")


def is_lost_by(game: GameLine, bots: frozenset[str]) -> bool:
    """Return True if none of these bots won the game."""
    return all(seat.place > 1 for seat in game.seats if seat.bot in bots)


def own_bots(site: "SiteClient") -> frozenset[str]:
    """Return the names of the caller's bots. Raises ClientError if the caller has no bots."""
    bots = frozenset(site.read(each, Bot).name for each in site.pages("/account/bots", "bots"))
    if not bots:
        raise ClientError("no bots yet: submit one with `arena submit BOT`")
    return bots


def games_of(site: "SiteClient", bots: frozenset[str]) -> Iterator[GameLine]:
    """Yield the rated games that these bots played, newest first, without duplicates."""
    lists = [listed(site, bot=bot) for bot in sorted(bots)]
    last = None
    for game in merge(*lists, key=lambda each: -each.number):
        if game.number != last:
            yield game
        last = game.number


def game_id(site: "SiteClient", word: str) -> str:
    """Return a game's id. ``word`` is that id, the game's number or its page's URL."""
    return _locate(site, word)[1]


def download_replay(site: "SiteClient", word: str) -> bytes:
    """Return a game's public replay, given the game's id, its number or its page's URL."""
    home, game = _locate(site, word)
    if home:
        return site.download(f"/api/v1/{home}/games/{part(game)}/replay")
    return site.download(f"/games/{part(game)}/replay.json")


def _locate(site: "SiteClient", word: str) -> tuple[str, str]:
    """Return the path of a game's challenge or submission (empty for a rated game), and the game's id."""
    if "://" in word:
        match urlsplit(word).path.split("/") if word.startswith(f"{site.address}/") else ():
            case ["", "games", game, *_]:
                return "", game
            case ["", "challenges" | "submissions" as kind, id_, "games", game, *_]:
                return f"{kind}/{part(id_)}", game
            case _:
                raise ClientError(
                    f"{word} is not the URL of a game on {site.address}: give a game's id, number or URL"
                )
    if not word.isdecimal():
        return "", word
    number = int(word)
    found = next(listed(site, before=number + 1, limit=1), None)
    if found is None or found.number != number:
        raise ClientError(f"no rated game at {site.address} has the number {word}: see `arena games`")
    return "", found.game


def listed(site: "SiteClient", **query: str | int) -> Iterator[GameLine]:
    """Yield the rated games that match the given API query, newest first."""
    pages = site.pages("/games", "games", **{"limit": _PAGE, **query})
    return (site.read(each, GameLine) for each in pages)
