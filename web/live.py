"""Matches in progress, shown with a delay of one round: the viewer, the API and Kaiten TV."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Annotated, Final
from zlib import crc32

from fastapi import APIRouter, HTTPException, Path, Query, Request, Response
from fastapi.responses import RedirectResponse

from arena.db.activity import Activity
from arena.db.live_games import LiveGames, WatchedGame, WatchedMatch
from arena.db.queue import OpenMatch
from arena.db.store import Store
from arena.play.replay.disclosed import DisclosedGame, parse_disclosed
from arena.protocol.states import MatchKind, MatchState
from arena.rules import ROUNDS
from web.http.api import PREFIX, DataRouter, OptionalCaller
from web.http.authentication import may_read
from web.http.caching import conditional_response
from web.http.parameters import GameId, has_replay, read_game
from web.http.rendering import PageRouter, page, viewer_of
from web.viewer.film import ALL_HANDS, Film, FilmStage, Frame, Viewpoint, address, film, film_so_far
from web.viewer.pages import (
    FrameParameters,
    RequestedFrame,
    ViewpointName,
    all_frames,
    seated,
    shown_game,
)
from web.viewer.screen import Screen, Shown, screen

MatchId = Annotated[str, Path(pattern=r"^[0-9A-Za-z_-]{1,64}$", description="A match's id.")]

_GAME_PATHS: Final = {
    MatchKind.RATED: "/games/",
    MatchKind.QUALIFICATION: "/submissions/{part_of}/games/",
    MatchKind.CHALLENGE: "/challenges/{part_of}/games/",
}


def read_live(
    live: LiveGames, match: str, number: int | None, may_see: Callable[[int | None], bool]
) -> WatchedMatch:
    """Read the disclosed part of a match.

    ``number`` is the game's 1-based number in the match, or None for the latest game. ``may_see`` returns
    whether the viewer may see an account's private data. Raises HTTPException (404) if there is no such
    match, it is quarantined, or the viewer may not see it.
    """
    found = live.find(match, None if number is None else number - 1)
    if (
        found is None
        or found.state is MatchState.QUARANTINED
        or not (found.kind is MatchKind.RATED or may_see(found.account))
    ):
        raise HTTPException(404, "There is no match with this id.")
    return found


def watchable(
    live: LiveGames, matches: Sequence[OpenMatch], after: str | None = None
) -> Iterator[tuple[str, int]]:
    """Yield the running matches with a visible round, each with the 1-based number of its latest game.

    The match ``after`` is left out; the matches that follow it in ``matches`` come first.
    """
    for name in _rotate([each.match for each in matches], after):
        match = live.find(name, None) if name != after else None
        if match is not None and match.game is not None:
            yield match.match, match.game.game + 1


def _rotate(items: list[str], after: str | None) -> list[str]:
    """Return all items, beginning with the one that follows ``after``.

    If ``after`` isn't in ``items``, start at an arbitrary item, so that no item always follows removed ones.
    """
    begin = items.index(after) + 1 if after in items else crc32((after or "").encode()) % max(1, len(items))
    return items[begin:] + items[:begin]


def game_path(match: WatchedMatch, game: str) -> str:
    """Return the address of a game in a finished match."""
    return _GAME_PATHS[match.kind].format(part_of=match.part_of) + game


def replay_path(match: WatchedMatch, game: str) -> str:
    """Return the address of the replay of a game in a finished match."""
    home = game_path(match, game)
    return f"{home}/replay.json" if match.kind is MatchKind.RATED else f"{PREFIX}{home}/replay"


GameNumber = Annotated[int, Path(ge=1, le=1_000_000)]
After = Annotated[str | None, Query(pattern=r"^[0-9A-Za-z_-]{1,64}$")]


def live_pages(store: Store, now: Callable[[], datetime]) -> APIRouter:
    """Return the routes for running matches."""
    router = PageRouter(prefix="/live")

    @router.get("")
    def next_match(after: After = None) -> Response:
        """Redirect to a running match other than ``after``; if there is none, to the recorded games."""
        found = next(watchable(store.live, store.activity.current(now()).running, after), None)
        place = f"/live/{found[0]}" if found else "/games"
        return RedirectResponse(place, 303, headers={"Cache-Control": "no-store"})

    pages = _Live(store.live)
    router.add_api_route("/{match}", pages.newest)
    router.add_api_route("/{match}/{number}/frames.json", pages.frames)
    router.add_api_route("/{match}/{number}/{round}/{turn}", pages.frame)
    return router


class _Live:
    """The pages' request handlers."""

    def __init__(self, live: LiveGames) -> None:
        self._live = live

    def newest(self, request: Request, match: MatchId, view: ViewpointName = "all") -> Response:
        """Redirect to the start of a match's latest visible round, which the page plays (``#autoplay``).

        If no round is visible, show the match's state or link to its games.
        """
        found = self._read(request, match, None)
        if found.game is None:
            return conditional_response(request, found, lambda: _page_without_game(request, found))
        start = Frame(found.game.rounds, 1, FilmStage.PICK)
        return RedirectResponse(
            f"{address(_base(found, found.game), start, Viewpoint.read(view))}#autoplay", 303
        )

    def frame(
        self, request: Request, match: MatchId, number: GameNumber, requested: FrameParameters
    ) -> Response:
        found = self._read(request, match, number)
        if found.state is MatchState.DONE:
            return _redirect_to_replay(
                found, number, lambda home: address(home, requested.frame, requested.viewpoint)
            )
        game = found.game
        if game is None:
            raise _not_shown(found)

        def render() -> Response:
            film = film_so_far(game.text)
            if requested.frame not in film.frames:
                raise _not_shown(found)
            return page(
                request,
                "live.html",
                match=found,
                rated=found.kind is MatchKind.RATED,
                playing=_round_in_progress(game),
                screen=live_screen(found, game, film, requested),
            )

        return conditional_response(request, (found, requested), render)

    def frames(
        self, request: Request, match: MatchId, number: GameNumber, view: ViewpointName = "all"
    ) -> Response:
        """Return all of a game's frames so far, as data."""
        found = self._read(request, match, number)
        if found.state is MatchState.DONE:
            return _redirect_to_replay(found, number, lambda home: f"{home}/frames.json?view={view}")
        if found.game is None:
            raise _not_shown(found)
        film = film_so_far(found.game.text)
        return all_frames(request, film, view)

    def _read(self, request: Request, match: str, number: int | None) -> WatchedMatch:
        return read_live(self._live, match, number, viewer_of(request).may_see)


def _base(match: WatchedMatch, game: WatchedGame) -> str:
    return f"/live/{match.match}/{game.game + 1}"


def live_screen(match: WatchedMatch, game: WatchedGame, film: Film, requested: RequestedFrame) -> Screen:
    """Return a frame from a game in a running match."""
    base = _base(match, game)
    shown = Shown(
        title=f"Live: game {game.game + 1} of {match.games}",
        replay=game.text,
        home=f"/live/{match.match}",
        base=base,
        download=f"{PREFIX}/live/{match.match}?game={game.game + 1}",
    )
    return screen(shown, film, requested.frame, seated(film, requested.viewpoint), base)


def _round_in_progress(game: WatchedGame) -> int | None:
    """Return the 1-based number of the round that is in progress, or None if all rounds are over."""
    return None if game.rounds == ROUNDS else game.rounds + 1


def _page_without_game(request: Request, match: WatchedMatch) -> Response:
    return page(
        request,
        "live_none.html",
        match=match,
        rated=match.kind is MatchKind.RATED,
        replays=[game_path(match, game) for game in match.played],
    )


def _redirect_to_replay(match: WatchedMatch, number: int, address_in: Callable[[str], str]) -> Response:
    if not match.published:
        raise HTTPException(404, "A challenge's games are shown once all its matches are over.")
    if number > len(match.played):
        raise HTTPException(
            404,
            "There is no such game: the match ended early because a bot exited or lost its connection.",
        )
    return RedirectResponse(address_in(game_path(match, match.played[number - 1])), 303)


def _not_shown(match: WatchedMatch) -> HTTPException:
    if match.state is MatchState.RUNNING:
        return HTTPException(404, "This turn is not shown yet, or the game has no such turn.")
    return HTTPException(404, "This match is not in progress.")


Number = Annotated[
    int | None, Query(ge=1, le=1_000_000, description="Number of the game in the match. Default: the latest.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveMatch:
    """The public part of a match in progress.

    Attributes:
        match: The match's id.
        kind: The match's purpose.
        state: Waiting, in progress or done.
        games: Maximum number of games.
        watchable: Numbers (starting at 1) of the games with at least one finished round; empty unless the
            match is in progress.
        game: Number of the game shown here; null if none is shown.
        playing: The 1-based number of this game's current round; null after the last round or without a game.
        disclosed: The finished rounds of this game; null if no game is shown.
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


def live_api(live: LiveGames) -> APIRouter:
    """Return the route for matches in progress."""
    router = DataRouter("games")

    @router.get("/live/{match}")
    def match(caller: OptionalCaller, match: MatchId, game: Number = None) -> LiveMatch:
        """Return the finished rounds of a match in progress.

        An unrated match is visible only to its owner and to operators, and only with the `read` scope.
        """
        found = read_live(live, match, game, lambda account: may_read(caller, account))
        shown = found.game
        return LiveMatch(
            match=found.match,
            kind=found.kind,
            state=found.state,
            games=found.games,
            watchable=tuple(number + 1 for number, _ in found.shown),
            game=shown.game + 1 if shown else None,
            playing=_round_in_progress(shown) if shown else None,
            disclosed=parse_disclosed(shown.text) if shown else None,
            replays=tuple(replay_path(found, played) for played in found.played),
        )

    return router


_NEWEST: Final = 20
"""Number of games shown in addition to the remarkable ones from the last few days."""


def tv_pages(store: Store, now: Callable[[], datetime]) -> APIRouter:
    """Return the routes for Kaiten TV."""
    router = PageRouter(prefix="/tv")

    @router.get("")
    def next_show(request: Request, after: After = None) -> Response:
        """Redirect to the game that follows ``after``, or show a page that says there is none.

        A recorded game is shown again if there is no other.
        """
        activity = store.activity.current(now())
        live = (f"/tv/live/{match}/{game}" for match, game in watchable(store.live, activity.running, after))
        show = next(chain(live, _recorded_games(store, activity, after)), None)
        if show is None:
            return page(request, "tv_none.html")
        return RedirectResponse(show, 303, headers={"Cache-Control": "no-store"})

    @router.get("/games/{game}")
    def recorded(request: Request, game: GameId) -> Response:
        """Show a recorded game from its first frame."""
        shown = shown_game(read_game(store.games, game))
        first = screen(shown, film(shown.replay), Frame(1, 1, FilmStage.PICK), ALL_HANDS, shown.base)
        return page(request, "tv.html", screen=first, show=game, match=None, playing=None)

    @router.get("/live/{match}/{number}")
    def live(request: Request, match: MatchId, number: GameNumber) -> Response:
        """Show a running game, starting at the most recently disclosed round."""
        found = read_live(store.live, match, number, lambda _: False)
        if found.state is MatchState.DONE:
            return RedirectResponse(f"/tv?after={match}", 303)
        game = found.game
        if game is None:
            raise HTTPException(404, "This game can't be shown yet. Kaiten TV continues at /tv.")

        def render() -> Response:
            begin = RequestedFrame(Frame(game.rounds, 1, FilmStage.PICK), ALL_HANDS)
            seen = live_screen(found, game, film_so_far(game.text), begin)
            return page(
                request,
                "tv.html",
                screen=seen,
                show=match,
                match=found,
                playing=_round_in_progress(game),
            )

        request.state.cacheable = True
        return conditional_response(request, found, render)

    return router


def _recorded_games(store: Store, activity: Activity, after: str | None) -> Iterator[str]:
    games = [each.game.game for each in activity.remarkable]
    games += [game.game for game in store.games.newest(limit=_NEWEST)]
    for game in _rotate(list(dict.fromkeys(games)), after):
        if has_replay(store.games, game):
            yield f"/tv/games/{game}"
