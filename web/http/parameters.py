"""Parameters and lookups shared by pages and the API."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Final, Literal
from urllib.parse import urlencode

from fastapi import HTTPException, Path, Query
from pydantic import AfterValidator, BeforeValidator

from arena.db.bots import Bots, KnownBot
from arena.db.game_search import GameOrder
from arena.db.games import GamePage, GameRepository
from arena.platform.text import NAME_LENGTH, plain
from arena.rules import PLAYER_COUNTS
from web.http.errors import Problem

MAX_INTEGER: Final = 2**63 - 1
"""The largest integer that a database can store."""

MAX_VERSION: Final = 999_999_999
"""Larger than any version's number."""

_BOT: Final = r"^[A-Za-z0-9][A-Za-z0-9_-]{1,39}$"

Players = Annotated[
    int | None,
    Query(
        ge=min(PLAYER_COUNTS),
        le=max(PLAYER_COUNTS),
        description="Number of players. Default: any number.",
    ),
]
House = Annotated[Literal["with", "without"], Query(description="Whether house bots are listed.")]
Search = Annotated[
    str,
    Query(max_length=NAME_LENGTH, description="Part of a bot's or author's name (case-insensitive)."),
    AfterValidator(plain),
]
Offset = Annotated[int, Query(ge=0, le=MAX_INTEGER, description="Number of entries to skip.")]
RowLimit = Annotated[int, Query(ge=1, le=500, description="Maximum number of entries.")]
Before = Annotated[int | None, Query(ge=1, le=MAX_INTEGER, description="Only entries with a smaller number.")]
AfterPosition = Annotated[
    str | None,
    Query(
        pattern=r"^-?[0-9]{1,4}(\.[0-9]{1,20})?(e-[0-9]{1,3})?_[0-9]{1,18}$",
        description="Only entries after this position (a value and a number). Not for the order `newest`.",
    ),
]
BeforeVersion = Annotated[
    int | None, Query(ge=1, le=MAX_VERSION, description="Only entries with a smaller number.")
]
AfterBot = Annotated[
    str | None, Query(pattern=r"^[^\x00]{1,64}$", description="Only entries after this name.")
]
AuthorName = Annotated[
    str, Path(pattern=r"^[^\x00]{1,64}$", description="An author's name (case-insensitive).")
]
BotName = Annotated[str, Path(pattern=_BOT, description="A bot's name.")]
OfBot = Annotated[str | None, Query(pattern=_BOT, description="Only entries for this bot.")]
OfVersion = Annotated[
    int | None, Query(ge=1, le=MAX_VERSION, description="Only games played by this version of the bot.")
]
OfAuthor = Annotated[
    str | None,
    Query(pattern=r"^[^\x00]{1,64}$", description="Only games with a bot by this author (case-insensitive)."),
]
Margin = Annotated[
    int | None,
    Query(
        ge=0, le=999, description="Only games with at most this many points between first and second place."
    ),
]
BestPoints = Annotated[
    int | None,
    Query(ge=-999, le=999, description="Only games in which a seat has at least this many points."),
]
Faults = Annotated[
    Literal["yes", "no"] | None, Query(description="Only games with (or without) a fault by any bot.")
]
Since = Annotated[date | None, Query(description="Only games that ended on this day (UTC) or later.")]
Until = Annotated[date | None, Query(description="Only games that ended on this day (UTC) or earlier.")]
Order = Annotated[GameOrder, Query(description="The order of games.")]
BLANK: Final = BeforeValidator(lambda value: value.strip() or None if isinstance(value, str) else value)
"""Makes an empty parameter None: forms also send empty fields."""

GameId = Annotated[str, Path(pattern=r"^[0-9A-Za-z_-]{1,64}$", description="A game's id.")]


def query_string(values: Mapping[str, object], defaults: Mapping[str, object]) -> str:
    """Return a query string with its ``?`` but without defaults or empty values; it may be empty."""
    query = {name: value for name, value in values.items() if value not in {None, "", defaults.get(name)}}
    return f"?{urlencode(query)}" if query else ""


def stored_replay(found: GamePage) -> str:
    """Return a game's replay. Raises Problem if the replay was deleted."""
    if not found.replay:
        raise Problem(
            410,
            "The replay of this game has been deleted.",
            hint=f"The result is still available: /games/{found.game} and /api/v1/games/{found.game}.",
        )
    return found.replay


def has_replay(games: GameRepository, game: str) -> bool:
    """Return True if a game's replay is still stored."""
    found = games.find(game)
    return found is not None and bool(found.replay)


def read_bot(bots: Bots, name: str) -> KnownBot:
    """Read a bot. Raises HTTPException (404) if there is no bot with this name."""
    found = bots.find(name)
    if found is None:
        raise HTTPException(404, "There is no bot with this name.")
    return found


def read_game(games: GameRepository, game: str) -> GamePage:
    """Read a game. Raises HTTPException (404) if there is no game with this id."""
    found = games.find(game)
    if found is None:
        raise HTTPException(404, "There is no game with this id.")
    return found
