"""Pages that are sent again, byte for byte, as long as nothing has been written to the database.

Most visitors of a leaderboard ask for the same page. Making it takes some milliseconds, finding out that
nothing was written a microsecond.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from web.api.etags import not_modified

_MOST: Final = 64
_OF_SOMEBODY: Final = frozenset({b"cookie", b"authorization"})
_WITH_A_BODY: Final = frozenset({b"content-length", b"transfer-encoding"})
"""Who sends one is answered by the layers below, which know how much of it may come."""

_PASSED_ON: Final = _OF_SOMEBODY | _WITH_A_BODY
_OF_THE_BODY: Final = frozenset({b"content-length", b"content-type", b"content-disposition"})

_Key = tuple[str, str, bytes]
"""Scheme, path and query."""

_Moment = tuple[int, int]
"""The database's pulse, and the day: a page holds until one of them is another."""


@dataclass(frozen=True, slots=True)
class _Page:
    """An answer as it was sent."""

    moment: _Moment
    route: object
    etag: str
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes

    async def send(self, scope: Scope, send: Send) -> None:
        """Send it, or that it has not changed."""
        names = [name for name, _ in scope["headers"]]
        if b"if-none-match" not in names or not_modified(Request(scope), self.etag) is None:
            status, headers, body = HTTPStatus.OK, list(self.headers), self.body
        else:
            status, body = HTTPStatus.NOT_MODIFIED, b""
            headers = [each for each in self.headers if each[0] not in _OF_THE_BODY]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


class KeptPages:
    """ASGI middleware that keeps the last pages that were made for nobody in particular, with all headers.

    A route whose answer follows from the store and the day (UTC) alone notes ``lasting`` on the request's
    state.

    Args:
        app: Makes the pages.
        pulse: Another number after each commit; None where that can't be told.
        now: The clock.
    """

    def __init__(self, app: ASGIApp, pulse: Callable[[], int | None], now: Callable[[], datetime]) -> None:
        self._app = app
        self._pulse = pulse
        self._now = now
        self._pages: dict[_Key, _Page] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send what is kept, or pass the request on and keep the answer."""
        key = _key(scope)
        pulse = None if key is None else self._pulse()
        if key is None or pulse is None:
            await self._app(scope, receive, send)
            return
        # Read before the page is made: what is written meanwhile is seen with the next request.
        moment = (pulse, self._now().astimezone(UTC).toordinal())
        kept = self._pages.get(key)
        if kept is not None and kept.moment == moment:
            scope["route"] = kept.route  # no router looks at this request
            await kept.send(scope, send)
            return
        answer = _Answer(send)
        await self._app(scope, receive, answer)
        if (
            scope.get("state", {}).get("lasting")
            and (page := answer.page(moment, scope.get("route"))) is not None
        ):
            self._keep(key, page)

    def _keep(self, key: _Key, page: _Page) -> None:
        self._pages.pop(key, None)
        self._pages[key] = page
        if len(self._pages) > _MOST:
            del self._pages[next(iter(self._pages))]


class _Answer:
    """Passes an answer on and remembers it."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._status = 0
        self._headers: tuple[tuple[bytes, bytes], ...] = ()
        self._parts: list[bytes] = []

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status, self._headers = message["status"], tuple(message["headers"])
        else:
            self._parts.append(message.get("body", b""))
        await self._send(message)

    def page(self, moment: _Moment, route: object) -> _Page | None:
        """Return what was sent, if it was a page that says which it is."""
        etag = dict(self._headers).get(b"etag")
        if self._status != HTTPStatus.OK or etag is None:
            return None
        return _Page(moment, route, etag.decode(), self._headers, b"".join(self._parts))


def _key(scope: Scope) -> _Key | None:
    """Return what is asked for, if it is a page and nobody in particular asks."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return None
    for name, _ in scope["headers"]:
        if name in _PASSED_ON:
            return None
    return scope["scheme"], scope["path"], scope["query_string"]
