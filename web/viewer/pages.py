"""The replay viewer: a page for each frame of a game, and all frames as data."""

from asyncio import Semaphore
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Final

import msgspec
from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from arena.db.game_logs import GameLogs
from arena.db.games import GamePage
from arena.db.store import Store
from web.http.authentication import logged_in
from web.http.caching import not_modified, tag_of, tagged
from web.http.errors import Problem
from web.http.parameters import GameId, read_game, stored_replay
from web.http.rendering import PageRouter, count, origin, page, viewer_of
from web.viewer.film import VIEWPOINT_PATTERN, Film, FilmStage, Frame, Viewpoint, film
from web.viewer.logs import read_private_log
from web.viewer.pictures import Chances, picture, turn_picture
from web.viewer.scene import frames
from web.viewer.screen import Screen, Shown, embed_code, screen

RoundNumber = Annotated[str, Path(pattern=r"^[1-9]$")]
TurnNumber = Annotated[str, Path(pattern=r"^([1-9]|10)$")]
StepName = Annotated[FilmStage, Query()]
ViewpointName = Annotated[str, Query(pattern=VIEWPOINT_PATTERN)]


@dataclass(frozen=True, slots=True)
class RequestedFrame:
    """A frame and a viewpoint, from an address."""

    frame: Frame
    viewpoint: Viewpoint


def _requested_frame(
    round: RoundNumber,  # noqa: A002 - the parameters of the address
    turn: TurnNumber,
    step: StepName = FilmStage.PICK,
    view: ViewpointName = "all",
) -> RequestedFrame:
    return RequestedFrame(Frame(int(round), int(turn), step), Viewpoint.read(view))


FrameParameters = Annotated[RequestedFrame, Depends(_requested_frame)]


def requested_screen(shown: Shown, requested: RequestedFrame, base: str) -> Screen:
    """Return a frame and its surroundings; ``base`` is the prefix of frames' addresses.

    Raises HTTPException (404) if there is no such frame.
    """
    return screen(shown, requested_film(shown, requested), requested.frame, requested.viewpoint, base)


def requested_film(shown: Shown, requested: RequestedFrame) -> Film:
    """Return the film containing a requested frame. Raises HTTPException (404) if there is no such frame."""
    played = film(shown.replay)
    if requested.frame not in played.frames:
        raise Problem(404, "This game has no such turn or step.", instead=(shown.home, shown.title))
    seated(played, requested.viewpoint)
    return played


def all_frames(request: Request, played: Film, view: str) -> Response:
    """Return all of a game's frames as data. Raises HTTPException (404) if there is no such seat."""
    data = msgspec.json.encode(frames(played, seated(played, Viewpoint.read(view))))
    return tagged(request, Response(data, media_type="application/json"))


def seated(played: Film, viewpoint: Viewpoint) -> Viewpoint:
    """Return this viewpoint unchanged. Raises HTTPException (404) if there is no such seat."""
    if viewpoint.seat is not None and viewpoint.seat >= played.rules.players:
        raise HTTPException(404, f"This game has no seat {viewpoint.seat}.")
    return viewpoint


Find = Callable[..., Shown]
"""Dependency: returns the game at an address.

Raises 404 if the game doesn't exist or the viewer may not see it.
"""


def viewer_routes(find: Find, logs: GameLogs, *, base: str, private: bool = False) -> APIRouter:
    """Return the routes for a viewer.

    ``base`` is the prefix of its games' addresses, without a trailing slash. ``private`` pages require a
    session.
    """
    router = PageRouter()
    Found = Annotated[Shown, Depends(find)]  # noqa: N806 - an alias of a type

    @router.get(f"{base}/{{game}}/{{round}}/{{turn}}", dependencies=[Depends(logged_in)] if private else None)
    def one_frame(request: Request, game: GameId, shown: Found, requested: FrameParameters) -> Response:
        shown_frame = requested_screen(shown, requested, shown.base)
        return page(
            request,
            "viewer.html",
            screen=shown_frame,
            embed_code=embed_code(shown_frame, origin(request)),
            log=read_private_log(logs, game, viewer_of(request)),
        )

    @router.get(f"{base}/{{game}}/frames.json")
    def frames_of_game(request: Request, shown: Found, view: ViewpointName = "all") -> Response:
        return all_frames(request, film(shown.replay), view)

    return router


_A_DAY: Final = "public, max-age=86400"
"""Finished games don't change, and other sites request pictures repeatedly."""

MAX_CACHED: Final = 64
"""Maximum number of cached pictures. They take about 4 MB."""

MAX_WAITING: Final = 20
"""Maximum number of waiting requests; each waits for a second or two."""


class Pictures:
    """Draws pictures, one at a time."""

    def __init__(self) -> None:
        self._semaphore = Semaphore(1)
        self._waiting = 0
        self._cache: dict[str, bytes] = {}

    async def answer(self, request: Request, of: tuple[object, ...], draw: Callable[[], bytes]) -> Response:
        """Return a picture with its ``ETag``, or 304.

        ``of`` is everything that the picture depends on; ``draw`` returns a PNG and runs in a thread. Raises
        Problem (503) if too many requests are waiting.
        """
        request.state.framable = True  # otherwise browsers refuse to show it on other sites
        etag = tag_of(*of)
        response = not_modified(request, etag)
        if response is None:
            response = Response(await self._picture(etag, draw), media_type="image/png")
        response.headers.update({"ETag": etag, "Cache-Control": _A_DAY})
        return response

    async def _picture(self, etag: str, draw: Callable[[], bytes]) -> bytes:
        if etag in self._cache:
            return self._cache[etag]
        if self._waiting >= MAX_WAITING:
            raise Problem(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "Too many pictures are being drawn.",
                headers={"Retry-After": "2"},
            )
        self._waiting += 1
        try:
            async with self._semaphore:
                # Another request may have drawn the same picture in the meantime.
                if etag not in self._cache:
                    self._cache[etag] = await run_in_threadpool(draw)
                    if len(self._cache) > MAX_CACHED:
                        del self._cache[next(iter(self._cache))]
                return self._cache[etag]
        finally:
            self._waiting -= 1


def shown_game(found: GamePage) -> Shown:
    """Return a rated game for the viewer.

    Raises Problem (410) if its replay was deleted.
    """
    home = f"/games/{found.game}"
    return Shown(
        title=f"Game {count(found.number)}",
        replay=stored_replay(found),
        home=home,
        base=home,
        download=f"{home}/replay.json",
        embed=f"/embed/{found.game}",
        section="games",
    )


def viewer_pages(store: Store) -> APIRouter:
    """Return the routes for the viewer of rated games."""

    def find(game: GameId) -> Shown:
        return shown_game(read_game(store.games, game))

    router = viewer_routes(find, store.logs, base="/games")
    router.routes += _embedding_pages(store, find).routes
    return router


def _embedding_pages(store: Store, find: Find) -> APIRouter:
    """Return the routes for frames and link previews on other sites. They are the same for everyone."""
    router = PageRouter(anonymous=True)
    pictures = Pictures()
    Found = Annotated[Shown, Depends(find)]  # noqa: N806 - an alias of a type

    @router.get("/embed/{game}/{round}/{turn}")
    def embedded(
        request: Request, game: GameId, shown: Found, requested: FrameParameters, *, play: bool = False
    ) -> Response:
        shown_frame = requested_screen(shown, requested, f"/embed/{game}")
        request.state.framable = True
        return page(request, "viewer_embed.html", screen=shown_frame, play=play)

    def chances(game: GameId) -> Chances | None:
        analysis = store.analyses.find(game)
        if analysis is None:
            return None
        # Computed from what each seat could know.
        return tuple(
            [
                (*(turn.known[seat].chance for turn in analysis.turns), share)
                for seat, share in enumerate(analysis.result)
            ]
        )

    @router.get("/games/{game}/og.png")
    async def result(
        request: Request, shown: Found, known: Annotated[Chances | None, Depends(chances)]
    ) -> Response:
        of = (shown.title, shown.replay, known)
        return await pictures.answer(request, of, lambda: picture(film(shown.replay), shown.title, known))

    def played(shown: Found, requested: FrameParameters) -> Film:
        return requested_film(shown, requested)

    async def one_frame(
        request: Request, shown: Found, requested: FrameParameters, played: Annotated[Film, Depends(played)]
    ) -> Response:
        of = (shown.title, shown.replay, requested)
        return await pictures.answer(
            request, of, lambda: turn_picture(played, requested.frame, requested.viewpoint, shown.title)
        )

    router.add_api_route("/games/{game}/{round}/{turn}/og.png", one_frame)
    return router
