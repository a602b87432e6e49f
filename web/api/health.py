"""What a supervisor asks the site: whether it is well, and whether it is ready. No part of the API."""

from collections.abc import Callable

import msgspec
import structlog
from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse

from arena.store import DatabaseChanged, StoreError
from web.headers import PRIVATE
from web.problems import MEDIA_TYPE, document

_log = structlog.get_logger()


def health_api(check: Callable[[], None]) -> APIRouter:
    """Return the routes.

    Args:
        check: Makes sure that the database can be worked with, or raises StoreError. It may take a while.
    """
    router = APIRouter()

    @router.api_route("/healthz", methods=["GET", "HEAD"])
    async def health() -> Response:
        return _ok()

    @router.api_route("/readyz", methods=["GET", "HEAD"])
    def ready() -> Response:
        try:
            check()
        except StoreError as error:
            # Where the database is, everybody need not know; the log says it.
            _log.warning("not ready", error=str(error))
            return _not_ready(error)
        return _ok()

    return router


def _ok() -> Response:
    return PlainTextResponse("ok\n", headers={"Cache-Control": PRIVATE})


def _not_ready(error: StoreError) -> Response:
    detail = (
        "The database's tables are those of another version of this program."
        if isinstance(error, DatabaseChanged)
        else "The arena's database does not answer just now."
    )
    return Response(
        msgspec.json.encode(document(503, detail, "")),
        503,
        media_type=MEDIA_TYPE,
        headers={"Cache-Control": PRIVATE},
    )
