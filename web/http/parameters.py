"""Parameters and lookups shared by pages and the API."""

from datetime import date
from typing import Annotated, Final, Literal

from fastapi import HTTPException, Path, Query
from pydantic import AfterValidator, BeforeValidator

from arena.db.game_search import GameOrder
from arena.db.games import GamePage, GameRepository
from web.http.errors import Problem
from web.http.rendering import NAME_LENGTH, plain

_LARGEST: Final = 2**63 - 1
LARGEST_VERSION: Final = 999_999_999
"""More versions than any bot has."""

_BOT: Final = r"^[A-Za-z0-9][A-Za-z0-9_-]{1,39}$"

Players = Annotated[int | None, Query(ge=2, le=5, description="Number of players; all games without it.")]
House = Annotated[Literal["with", "without"], Query(description="Whether the arena's own bots are listed.")]
Search = Annotated[
    str,
    Query(max_length=NAME_LENGTH, description="Part of the name of a bot or of its author, in any case."),
    AfterValidator(plain),
]
Offset = Annotated[int, Query(ge=0, le=_LARGEST, description="How many to leave out.")]
RowLimit = Annotated[int, Query(ge=1, le=500, description="How many at most.")]
Before = Annotated[int | None, Query(ge=1, le=_LARGEST, description="Those that come before this number.")]
BeforeVersion = Annotated[
    int | None, Query(ge=1, le=LARGEST_VERSION, description="Those with a smaller number.")
]
AfterBot = Annotated[
    str | None, Query(pattern=r"^[^\x00]{1,64}$", description="Those that come after this name.")
]
AuthorName = Annotated[str, Path(pattern=r"^[^\x00]{1,64}$", description="Of an author, in any case.")]
BotName = Annotated[str, Path(pattern=_BOT, description="Of a bot.")]
OfBot = Annotated[str | None, Query(pattern=_BOT, description="Of this bot alone.")]
OfVersion = Annotated[
    int | None, Query(ge=1, le=LARGEST_VERSION, description="Of this version of the bot alone.")
]
OfAuthor = Annotated[
    str | None, Query(pattern=r"^[^\x00]{1,64}$", description="Of this author, in any case.")
]
Margin = Annotated[
    int | None, Query(ge=0, le=999, description="At most this many points between first and second place.")
]
BestPoints = Annotated[
    int | None, Query(ge=-999, le=999, description="At least this many points for a seat.")
]
Faults = Annotated[
    Literal["yes", "no"] | None, Query(description="Games with a fault of any bot, or without.")
]
Since = Annotated[date | None, Query(description="Games that ended on this day or later, UTC.")]
Until = Annotated[date | None, Query(description="Games that ended on this day or earlier, UTC.")]
Order = Annotated[GameOrder, Query(description="The order of games.")]
BLANK: Final = BeforeValidator(lambda value: value.strip() or None if isinstance(value, str) else value)
"""For a page's parameters: a form sends empty fields, too."""

GameId = Annotated[str, Path(pattern=r"^[0-9A-Za-z_-]{1,64}$", description="Of a game.")]


def replay_of(found: GamePage) -> str:
    """Return a game's replay. Raises Problem if the replay was deleted."""
    if not found.replay:
        raise Problem(
            410,
            "The replay of this game has been deleted.",
            hint=f"The result is still there: /games/{found.game} and /api/v1/games/{found.game}.",
        )
    return found.replay


def read_game(games: GameRepository, game: str) -> GamePage:
    """Read a game. Raises HTTPException (404) if there is no game of that id."""
    found = games.find(game)
    if found is None:
        raise HTTPException(404, "There is no such game here.")
    return found
