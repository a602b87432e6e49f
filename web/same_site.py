"""Refuses what another site makes a browser do here (cross-site request forgery).

Browsers say where a request comes from in ``Sec-Fetch-Site``; over plain HTTP, and in old ones, there is
``Origin`` alone. Requests with a token are no browser's doing: no cookie counts in them.
"""

from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from web.answers import answer_problem
from web.problems import Problem

_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class SameSite:
    """ASGI middleware that lets requests which change something come from this site's own pages alone."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] == "http" and not _is_allowed(request := Request(scope)):
            await answer_problem(request, _REFUSED)(scope, receive, send)
            return
        await self._app(scope, receive, send)


_REFUSED: Final = Problem(
    403,
    "This was not sent by a page of this site, so nothing was done.",
    hint="Open the page here and send its form again. Programs send a token: Authorization: Bearer …",
)


def _is_allowed(request: Request) -> bool:
    headers = request.headers
    if request.method in _SAFE or "authorization" in headers:
        return True
    if site := headers.get("sec-fetch-site"):
        return site == "same-origin"
    # Behind a proxy that speaks HTTPS for us the schemes may differ, so hosts are compared alone.
    origin = urlsplit(headers.get("origin", "")).netloc
    return bool(origin) and origin == headers.get("host")
