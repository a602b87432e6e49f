"""Matches that are watched while they are played: who may, and where what is over is kept."""

from collections.abc import Callable
from typing import Annotated, Final

from fastapi import HTTPException, Path

from arena.store import LiveGames, MatchKind, MatchState, WatchedMatch
from web.api.routes import PREFIX

MatchId = Annotated[str, Path(pattern=r"^[0-9A-Za-z_-]{1,64}$", description="Of a match.")]

_HOMES: Final = {
    MatchKind.RATED: "/games/",
    MatchKind.QUALIFICATION: "/submissions/{part_of}/games/",
    MatchKind.CHALLENGE: "/challenges/{part_of}/games/",
}


def read_live(
    live: LiveGames, match: str, number: int | None, may_see: Callable[[int | None], bool]
) -> WatchedMatch:
    """Read what may be seen of a match.

    Args:
        live: Where it stands.
        match: Its id.
        number: Of one of its games, from 1; None for the newest.
        may_see: Says whether who asks may see what is private to the owner of an account.

    Raises:
        HTTPException: There is no such match, or it is not to be seen.
    """
    found = live.find(match, None if number is None else number - 1)
    if (
        found is None
        or found.state is MatchState.QUARANTINED
        or not (found.kind is MatchKind.RATED or may_see(found.account))
    ):
        raise HTTPException(404, "There is no such match here.")
    return found


def home_of(match: WatchedMatch, game: str) -> str:
    """Return the address of a game of a match that is over."""
    return _HOMES[match.kind].format(part_of=match.part_of) + game


def replay_of(match: WatchedMatch, game: str) -> str:
    """Return the address of the replay of a game of a match that is over."""
    home = home_of(match, game)
    return f"{home}/replay.json" if match.kind is MatchKind.RATED else f"{PREFIX}{home}/replay"
