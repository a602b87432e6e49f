"""Conditional requests (ETags and 304), and the cache of anonymous pages."""

import hashlib
import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final

from fastapi import Request, Response
from starlette.responses import StreamingResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from web.http.authentication import caller_of

_SAFE: Final = frozenset({"GET", "HEAD"})
_TAG: Final = re.compile(r'(?:W/)?("[^"]*")')
"""An entity tag. Weak and strong tags compare equal."""


def tagged(request: Request, response: Response) -> Response:
    """Add an ETag to a successful response, or return 304 if the client has it. Streams are not changed."""
    whole = response.status_code == HTTPStatus.OK and not isinstance(response, StreamingResponse)
    if request.method not in _SAFE or not whole:
        return response
    etag = f'W/"{hashlib.sha256(response.body).hexdigest()}"'
    response = not_modified(request, etag) or response
    response.headers["ETag"] = etag
    return response


def not_modified(request: Request, etag: str) -> Response | None:
    """Return a 304 response if the client has this ETag, else None.

    Pages' ETags are weak, because the same page is sent with and without compression.
    """
    known = request.headers.get("if-none-match", "")
    if known.strip() == "*" or etag.removeprefix("W/") in _TAG.findall(known):
        return Response(status_code=HTTPStatus.NOT_MODIFIED)
    return None


_PROCESS: Final = secrets.token_hex(8)
"""Part of the ETags from :func:`tag_of`, because other processes may have other templates."""


def conditional_response(request: Request, what: object, make: Callable[[], Response]) -> Response:
    """Return 304 if the client has this page, else the response that ``make`` returns, with an ETag.

    The ETag covers the request's caller and ``what``. Together, they must include everything that the page
    depends on.
    """
    caller = caller_of(request)
    who = None if caller is None else (caller.account.name, caller.benched)
    etag = tag_of(who, what)
    response = not_modified(request, etag) or make()
    response.headers["ETag"] = etag
    response.headers["Vary"] = "Cookie"
    return response


def tag_of(*what: object) -> str:
    """Return an ETag for these values, valid for this process only."""
    return f'W/"{hashlib.sha256(repr((_PROCESS, *what)).encode()).hexdigest()}"'


_MAX_PAGES: Final = 64
_BYPASSING_HEADERS: Final = frozenset({b"cookie", b"authorization", b"content-length", b"transfer-encoding"})
"""Requests with credentials or a body bypass the cache. The layers below limit the size of bodies."""

_BODY_HEADERS: Final = frozenset(
    {b"content-length", b"content-type", b"content-disposition", b"content-encoding"}
)

_Key = tuple[str, str, bytes, bool]
"""Scheme, path, query, and whether the client accepts gzip."""

_Moment = tuple[int, int]
"""The database's change counter, and the day. Until either changes, a page is sent without calling its
route."""


@dataclass(frozen=True, slots=True)
class _Page:
    """A cached response."""

    moment: _Moment
    route: object
    etag: str
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes

    async def send(self, scope: Scope, send: Send) -> None:
        names = [name for name, _ in scope["headers"]]
        if b"if-none-match" not in names or not_modified(Request(scope), self.etag) is None:
            status, headers, body = HTTPStatus.OK, list(self.headers), self.body
        else:
            status, body = HTTPStatus.NOT_MODIFIED, b""
            headers = [each for each in self.headers if each[0] not in _BODY_HEADERS]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


class PageCache:
    """ASGI middleware that caches the latest pages made for anonymous visitors, with all headers.

    A route whose response depends only on the store and the UTC day sets ``cacheable`` on the request's
    state. ``change_counter`` returns a number that changes with each commit, or None if unknown.
    """

    def __init__(
        self, app: ASGIApp, change_counter: Callable[[], int | None], now: Callable[[], datetime]
    ) -> None:
        self._app = app
        self._change_counter = change_counter
        self._now = now
        self._pages: dict[_Key, _Page] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the cached page, or pass the request on and cache the response."""
        key = _key(scope)
        change_counter = None if key is None else self._change_counter()
        if key is None or change_counter is None:
            await self._app(scope, receive, send)
            return
        # Read before the page is made, so that the next request sees commits made in the meantime.
        moment = (change_counter, self._now().astimezone(UTC).toordinal())
        cached = self._pages.get(key)
        if cached is not None and cached.moment == moment:
            scope["route"] = cached.route  # for the request log: no router sees this request
            await cached.send(scope, send)
            return
        headers = scope["headers"]
        if cached is not None:
            # If the page is unchanged, the route needn't make it again.
            others = [each for each in headers if each[0] != b"if-none-match"]
            scope["headers"] = [*others, (b"if-none-match", _tags(headers, cached.etag))]
        answer = _Answer(scope, send, cached)
        await self._app(scope, receive, answer)
        scope["headers"] = headers
        if cached is not None and answer.unchanged:
            cached = replace(cached, moment=moment)
            self._store(key, cached)
            await cached.send(scope, send)
        elif (page := answer.page(moment)) is not None:
            self._store(key, page)

    def _store(self, key: _Key, page: _Page) -> None:
        self._pages.pop(key, None)
        self._pages[key] = page
        if len(self._pages) > _MAX_PAGES:
            del self._pages[next(iter(self._pages))]


def _tags(headers: Iterable[tuple[bytes, bytes]], cached: str) -> bytes:
    """Return the client's ETags and the cached page's."""
    known = [value.strip() for name, value in headers if name == b"if-none-match"]
    return b"*" if b"*" in known else b", ".join([*known, cached.encode()])


class _Answer:
    """Passes a response on, and records it only if it is a page to cache: other responses can be large.

    A response that confirms ``cached`` is not passed on.
    """

    def __init__(self, scope: Scope, send: Send, cached: _Page | None) -> None:
        self._scope = scope
        self._send = send
        self._cached = cached
        self.unchanged = False
        self._cacheable = False
        self._status = 0
        self._headers: tuple[tuple[bytes, bytes], ...] = ()
        self._parts: list[bytes] = []

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status, self._headers = message["status"], tuple(message["headers"])
            self._cacheable = bool(self._scope.get("state", {}).get("cacheable"))
            self.unchanged = (
                self._cached is not None
                and self._status == HTTPStatus.NOT_MODIFIED
                and dict(self._headers).get(b"etag") == self._cached.etag.encode()
            )
        elif self._cacheable:
            self._parts.append(message.get("body", b""))
        if not self.unchanged:
            await self._send(message)

    def page(self, moment: _Moment) -> _Page | None:
        """Return the recorded response if it is a page to cache and has an ETag, else None."""
        etag = dict(self._headers).get(b"etag")
        if not self._cacheable or self._status != HTTPStatus.OK or etag is None:
            return None
        return _Page(moment, self._scope.get("route"), etag.decode(), self._headers, b"".join(self._parts))


def _key(scope: Scope) -> _Key | None:
    """Return a request's cache key if it is an anonymous request for a page, else None."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return None
    takes_gzip = False
    for name, value in scope["headers"]:
        if name in _BYPASSING_HEADERS:
            return None
        takes_gzip = takes_gzip or (name == b"accept-encoding" and b"gzip" in value)
    return scope["scheme"], scope["path"], scope["query_string"], takes_gzip
