"""Security headers, and protection against cross-site request forgery (CSRF)."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from web.http.errors import Problem, answer_problem

SECURITY_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}

FRAMABLE: Final = SECURITY_HEADERS | {
    "Content-Security-Policy": SECURITY_HEADERS["Content-Security-Policy"].replace(
        "frame-ancestors 'none'", "frame-ancestors *"
    ),
    "Cross-Origin-Resource-Policy": "cross-origin",
}
"""Replaces ``SECURITY_HEADERS`` on pages that any site may frame; they contain nothing private."""

READABLE: Final = SECURITY_HEADERS | {
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "Accept-Ranges, Content-Range, ETag",
}
"""Replaces ``SECURITY_HEADERS`` on data that any site's scripts may read, without cookies.

All responses with such data have these headers, whether or not the request has an ``Origin``, so that caches
can store one response for all origins.
"""

FRESH: Final = "no-cache"
"""Pages can change at any time, and revalidation with a 304 is cheap."""

PRIVATE: Final = "no-store"
"""For pages made for one person, which no cache may store."""

_OVER_HTTPS: Final = {
    # A browser that has reached this host over HTTPS must use HTTPS for a year.
    "Strict-Transport-Security": "max-age=31536000",
    "Cross-Origin-Opener-Policy": "same-origin",
}
"""Browsers ignore these over plain HTTP, and warn about the second."""


class SecurityHeaders:
    """ASGI middleware that adds ``SECURITY_HEADERS`` and ``Cache-Control`` to every response.

    A route changes them by setting a flag on the request's state: ``framable`` if other sites may frame the
    page, ``readable`` if their scripts may read the data, and ``private`` if the page is made for one
    visitor, who need not be logged in.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; add the headers when the response starts."""
        noted = scope.setdefault("state", {})

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_headers_of(noted))
                private = noted.get("caller") or noted.get("private")
                headers.setdefault("Cache-Control", PRIVATE if private else FRESH)
                if scope["scheme"] == "https":
                    headers.update(_OVER_HTTPS)
            await send(message)

        await self._app(scope, receive, send_with_headers)


def _headers_of(noted: Mapping[str, object]) -> Mapping[str, str]:
    if noted.get("framable"):
        return FRAMABLE
    return READABLE if noted.get("readable") else SECURITY_HEADERS


_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})

MAIL_LINKS: Final = "/mail"
"""Prefix of the links in emails. Mail programs send forms to them (RFC 8058); cookies are ignored there."""


class SameSite:
    """ASGI middleware that accepts unsafe methods only from this site's own pages.

    Requests with an ``Authorization`` header, and those below ``MAIL_LINKS``, are exempt.
    """

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
    "The request was not sent from a page on this site, so nothing was done.",
    hint="Open the page on this site and submit the form again. Programs must send a token: "
    "Authorization: Bearer …",
)


def _is_allowed(request: Request) -> bool:
    headers = request.headers
    if request.method in _SAFE or "authorization" in headers:
        return True
    if request.url.path.startswith(f"{MAIL_LINKS}/"):
        return True
    if site := headers.get("sec-fetch-site"):
        return site == "same-origin"
    # Behind a proxy that terminates TLS, the schemes may differ, so compare only hosts.
    try:
        origin = urlsplit(headers.get("origin", "")).netloc
    except ValueError:
        return False
    return bool(origin) and origin == headers.get("host")
