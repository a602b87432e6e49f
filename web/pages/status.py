"""The page of how the arena is: for everybody, with more in it for operators."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse

from arena.store import Store
from web.caller import Callers
from web.privacy import viewer_of
from web.rendering import page
from web.status import bars_of, read_status

_METHODS: Final = ["GET", "HEAD"]


def status_pages(
    store: Store, callers: Callers, has_room: Callable[[], bool], now: Callable[[], datetime]
) -> APIRouter:
    """Return the route of the status."""
    router = APIRouter(default_response_class=HTMLResponse, dependencies=[Depends(callers.note)])

    @router.api_route("/status", methods=_METHODS)
    def status(request: Request) -> Response:
        facts = read_status(store, now(), operator=viewer_of(request).operator, disk_full=not has_room())
        return page(request, "status.html", facts=facts, bars=bars_of(facts.hours))

    return router
