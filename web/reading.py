"""What pages and data both read, and how both are asked for it."""

from typing import Annotated, Final, Literal

from fastapi import HTTPException, Path, Query
from pydantic import AfterValidator

from arena.store import Reads
from arena.store.reads import GamePage
from web.problems import Problem
from web.text import NAME_LENGTH, plain

_LARGEST: Final = 2**63 - 1
LARGEST_VERSION: Final = 999_999_999
"""No bot has so many versions."""

_BOT: Final = r"^[A-Za-z0-9][A-Za-z0-9_-]{1,39}$"

Players = Annotated[int | None, Query(ge=2, le=5, description="Games of so many; all without.")]
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
BotName = Annotated[str, Path(pattern=_BOT, description="Of a bot.")]
OfBot = Annotated[str | None, Query(pattern=_BOT, description="Of this bot alone.")]
OfVersion = Annotated[
    int | None, Query(ge=1, le=LARGEST_VERSION, description="Of this version of the bot alone.")
]
GameId = Annotated[str, Path(pattern=r"^[0-9A-Za-z_-]{1,64}$", description="Of a game.")]


def replay_of(found: GamePage) -> str:
    """Return the replay of a game.

    Raises:
        Problem: It is no longer kept.
    """
    if not found.replay:
        raise Problem(
            410,
            "The replay of this game is no longer kept, and so it can't be watched.",
            hint=f"Its result stays: /games/{found.game} and /api/v1/games/{found.game}.",
        )
    return found.replay


def read_game(reads: Reads, game: str) -> GamePage:
    """Read a game.

    Raises:
        HTTPException: There is none of that id.
    """
    found = reads.game(game)
    if found is None:
        raise HTTPException(404, "There is no such game here.")
    return found
