"""What pages and data both read, and how both are asked for it."""

from typing import Annotated, Final

from fastapi import HTTPException, Path, Query

from arena.store import Reads
from arena.store.reads import GamePage
from web.board import Board, board_of

_LARGEST: Final = 2**63 - 1

Players = Annotated[int | None, Query(ge=2, le=5, description="Games of so many; all without.")]
Before = Annotated[int | None, Query(ge=1, le=_LARGEST, description="Those that come before this number.")]
GameId = Annotated[str, Path(pattern=r"^[0-9A-Za-z_-]{1,64}$", description="Of a game.")]


def read_board(reads: Reads, players: int | None) -> Board:
    """Read a leaderboard: of games of that many players, or of all."""
    return board_of(reads.leaderboard(players or 0), players)


def read_game(reads: Reads, game: str) -> GamePage:
    """Read a game.

    Raises:
        HTTPException: There is none of that id.
    """
    found = reads.game(game)
    if found is None:
        raise HTTPException(404, "There is no such game here.")
    return found
