"""What every answer tells the browser to refuse and to forget."""

from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SECURITY_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
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
"""Instead of ``SECURITY_HEADERS``, for pages that any site may frame: nothing of a caller's is in them."""

FRESH: Final = "no-cache"
"""Everything may have changed since: ask again, a 304 is cheap."""

PRIVATE: Final = "no-store"
"""What is made for one person stays in no cache."""

_OVER_HTTPS: Final = {
    # A year of HTTPS alone for this host, once it has been reached so.
    "Strict-Transport-Security": "max-age=31536000",
    "Cross-Origin-Opener-Policy": "same-origin",
}
"""Browsers ignore these over plain HTTP, and complain of the second."""


class SecurityHeaders:
    """ASGI middleware that adds ``SECURITY_HEADERS`` to every answer, and says who may keep it.

    A route whose page other sites may frame notes ``framable`` on the request's state.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; add the headers when its answer starts."""
        # Where a request's caller is noted, and whether its page may be framed.
        noted = scope.setdefault("state", {})

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(FRAMABLE if noted.get("framable") else SECURITY_HEADERS)
                headers.setdefault("Cache-Control", PRIVATE if noted.get("caller") else FRESH)
                if scope["scheme"] == "https":
                    headers.update(_OVER_HTTPS)
            await send(message)

        await self._app(scope, receive, send_with_headers)
