"""The outermost layers of the site: whoever answers, the answer looks like ours."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from web.answers import answer_problem
from web.headers import SecurityHeaders
from web.problems import Problem


class Site(FastAPI):
    """An application whose every answer has our headers, those of the framework's outer layers too.

    Args:
        outermost: The layers around all others, and around the framework.
        options: FastAPI's own.
    """

    def __init__(
        self,
        outermost: Callable[[ASGIApp], ASGIApp],
        **options: Any,  # noqa: ANN401 - FastAPI's own
    ) -> None:
        super().__init__(**options)
        self._entry = outermost(super().__call__)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self._entry(scope, receive, send)

    def build_middleware_stack(self) -> ASGIApp:
        """Return all layers. Those that are added in the usual way are inside of some of the framework's."""
        return SecurityHeaders(_TooLarge(super().build_middleware_stack()))


class _TooLarge:
    """Puts a problem in the place of the framework's own 413, which is plain text; ours never is."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        replaced = False

        async def send_ours(message: Message) -> None:
            nonlocal replaced
            if message["type"] == "http.response.start" and _is_the_frameworks(message):
                replaced = True
                problem = Problem(413, "The body of this request is too large: nothing of it was read.")
                await answer_problem(Request(scope), problem)(scope, receive, send)
            if not replaced:
                await send(message)

        await self._app(scope, receive, send_ours)


def _is_the_frameworks(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    return start["status"] == HTTPStatus.REQUEST_ENTITY_TOO_LARGE and headers.get(
        "content-type", ""
    ).startswith("text/plain")
