"""Routes of data: wherever there is GET there is HEAD, and every answer in JSON has an ETag."""

from collections.abc import Callable, Coroutine
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from fastapi.routing import APIRoute

from web.api.etags import tagged

PREFIX: Final = "/api/v1"


class DataRoute(APIRoute):
    """A route whose answers in JSON have an ETag."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        handler = super().get_route_handler()

        async def answer(request: Request) -> Response:
            return tagged(request, await handler(request))

        return answer


class DataRouter(APIRouter):
    """Routes of one kind of data, all below ``PREFIX``.

    Args:
        tag: What they are about; the API's description has them under this name.
    """

    def __init__(self, tag: str) -> None:
        super().__init__(prefix=PREFIX, tags=[tag], route_class=DataRoute)

    def add_api_route(
        self,
        path: str,
        endpoint: Callable[..., Any],
        **options: Any,  # noqa: ANN401 - FastAPI's own
    ) -> None:
        """Add a route; beside GET one of HEAD, which is not described. A stream has none: it is all body."""
        super().add_api_route(path, endpoint, **options)
        response_class = options.get("response_class")
        streams = isinstance(response_class, type) and issubclass(response_class, StreamingResponse)
        if options.get("methods") == ["GET"] and not streams:
            super().add_api_route(
                path, endpoint, **options | {"methods": ["HEAD"], "include_in_schema": False}
            )
