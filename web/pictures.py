"""Pictures that cost something to draw: one is drawn at a time, and the last ones are kept.

Whoever waits for one takes none of the threads in which pages are made. So the site goes on, however many
pictures somebody asks for.
"""

from asyncio import Semaphore
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool

from web.api.etags import not_modified
from web.problems import Problem
from web.unchanged import tag_of

_A_DAY: Final = "public, max-age=86400"
"""A game that was played does not change, and other sites ask again and again."""

MOST_KEPT: Final = 64
"""Some 4 MB."""

MOST_WAITING: Final = 20
"""They wait for a second or two."""


class Pictures:
    """Answers requests for pictures."""

    def __init__(self) -> None:
        self._lane = Semaphore(1)
        self._waiting = 0
        self._kept: dict[str, bytes] = {}

    async def answer(self, request: Request, of: tuple[object, ...], draw: Callable[[], bytes]) -> Response:
        """Return a picture with its ``ETag``, or 304 where the sender has it.

        Args:
            request: For it.
            of: All that it follows from.
            draw: Draws it as PNG; runs in a thread.

        Raises:
            Problem: Too many wait already.
        """
        request.state.framable = True  # browsers would not show it on other sites
        etag = tag_of(*of)
        response = not_modified(request, etag)
        if response is None:
            response = Response(await self._picture(etag, draw), media_type="image/png")
        response.headers.update({"ETag": etag, "Cache-Control": _A_DAY})
        return response

    async def _picture(self, etag: str, draw: Callable[[], bytes]) -> bytes:
        if etag in self._kept:
            return self._kept[etag]
        if self._waiting >= MOST_WAITING:
            raise Problem(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "Too many pictures are being asked for.",
                headers={"Retry-After": "2"},
            )
        self._waiting += 1
        try:
            async with self._lane:
                # Somebody else may have asked for the same one.
                if etag not in self._kept:
                    self._keep(etag, await run_in_threadpool(draw))
                return self._kept[etag]
        finally:
            self._waiting -= 1

    def _keep(self, etag: str, picture: bytes) -> None:
        self._kept[etag] = picture
        if len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]
