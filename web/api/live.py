"""Games that are being played, one round later."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from arena.accounts import Scope
from arena.replay import DisclosedGame, parse_disclosed
from arena.rules import ROUNDS
from arena.store import LiveGames, MatchKind, MatchState, WatchedMatch
from web.api.guard import may_see
from web.api.routes import DataRouter
from web.caller import Caller, Callers
from web.live import MatchId, read_live, replay_of

Number = Annotated[
    int | None, Query(ge=1, le=1_000_000, description="Which game of the match; the newest without.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveMatch:
    """A match as it can be watched.

    Attributes:
        match: Id.
        kind: What it is for.
        state: Whether it waits, is being played, or is done.
        games: So many it has at most.
        watchable: Numbers, from 1, of the games of which a round is over; none unless it is being played.
        game: Number of the one that follows here; None where there is none.
        playing: The round of it that is being played, from 1; None where all are over.
        disclosed: Its rounds that are over, and nothing of the one that is being played.
        replays: The addresses of the replays, once the match is done.
    """

    match: str
    kind: MatchKind
    state: MatchState
    games: int
    watchable: tuple[int, ...]
    game: int | None
    playing: int | None
    disclosed: DisclosedGame | None
    replays: tuple[str, ...]


def live_api(live: LiveGames, callers: Callers) -> APIRouter:
    """Return the route of matches that are being played."""
    router = DataRouter("games")
    Anybody = Annotated[Caller | None, Depends(callers.note)]  # noqa: N806 - a type

    @router.get("/live/{match}")
    def match(caller: Anybody, match: MatchId, game: Number = None) -> LiveMatch:
        """Return what may be seen of a match that is being played: rounds that are over.

        Matches that are not rated are their owner's and the operators'; that takes the scope read.
        """

        def allowed(account: int | None) -> bool:
            return caller is not None and Scope.READ in caller.scopes and may_see(caller, account)

        return _told(read_live(live, match, game, allowed))

    return router


def _told(match: WatchedMatch) -> LiveMatch:
    shown = match.game
    return LiveMatch(
        match=match.match,
        kind=match.kind,
        state=match.state,
        games=match.games,
        watchable=tuple(game + 1 for game, _ in match.shown),
        game=shown.game + 1 if shown else None,
        playing=shown.rounds + 1 if shown and shown.rounds < ROUNDS else None,
        disclosed=parse_disclosed(shown.text) if shown else None,
        replays=tuple(replay_of(match, game) for game in match.played),
    )
