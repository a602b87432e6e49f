"""What a supervisor asks the site: whether it is well, and whether it is ready. No part of the API."""

from collections.abc import Callable
from typing import Final

import msgspec
import structlog
from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse

from arena.monitoring.health import InTime
from arena.store import DatabaseChanged, DatabaseUnwritable, StoreError
from web.headers import PRIVATE
from web.problems import MEDIA_TYPE, document

_log = structlog.get_logger()

_SECONDS: Final = 3.0
"""How long the database is waited for: shorter than a supervisor waits for the answer."""


def health_api(check: Callable[[], None]) -> APIRouter:
    """Return the routes.

    Args:
        check: Makes sure that the database can be worked with, or raises StoreError. It may hang.
    """
    router = APIRouter()
    check_in_time = InTime(check, _SECONDS)

    @router.api_route("/healthz", methods=["GET", "HEAD"])
    async def health() -> Response:
        return _ok()

    @router.api_route("/readyz", methods=["GET", "HEAD"])
    def ready() -> Response:
        try:
            check_in_time()
        except TimeoutError:
            _log.warning("not ready", error=f"the database has not answered for {_SECONDS:.0f} s")
            return _not_ready(_AWAY)
        except StoreError as error:
            # Where the database is, everybody need not know; the log says it.
            _log.warning("not ready", error=str(error))
            return _not_ready(_reason(error))
        return _ok()

    return router


_AWAY: Final = "The arena's database does not answer just now."


def _ok() -> Response:
    return PlainTextResponse("ok\n", headers={"Cache-Control": PRIVATE})


def _reason(error: StoreError) -> str:
    match error:
        case DatabaseChanged():
            return "The database's tables are those of another version of this program."
        case DatabaseUnwritable():
            return "The arena's database can be read, but not written to just now."
    return _AWAY


def _not_ready(detail: str) -> Response:
    return Response(
        msgspec.json.encode(document(503, detail, "")),
        503,
        media_type=MEDIA_TYPE,
        headers={"Cache-Control": PRIVATE},
    )
