"""The status page, its API and the health checks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import msgspec
import structlog
from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from arena.db.errors import DatabaseChanged, DatabaseUnwritable, StoreError
from arena.db.store import Store
from arena.ops.health import CallWithTimeout
from arena.protocol.states import Scope
from arena.protocol.status import Hour, Status
from arena.services.documents import read_status
from web.http.api import DataRouter, OptionalCaller
from web.http.errors import MEDIA_TYPE, document
from web.http.rendering import PageRouter, page, viewer_of
from web.http.security import PRIVATE


def status_pages(store: Store, has_room: Callable[[], bool], now: Callable[[], datetime]) -> APIRouter:
    """Return the route for the status page."""
    router = PageRouter()

    @router.get("/status")
    def status(request: Request) -> Response:
        facts = read_status(store, now(), operator=viewer_of(request).operator, disk_full=not has_room())
        return page(request, "status.html", facts=facts, bars=bars_of(facts.hours))

    return router


def status_api(store: Store, has_room: Callable[[], bool], now: Callable[[], datetime]) -> APIRouter:
    """Return the route for the status API."""
    router = DataRouter("arena")

    @router.get("/status")
    def status(caller: OptionalCaller) -> Status:
        """Return the arena's activity, queue, workers and hosts.

        Quarantined matches, rejected workers, and bots in unrated matches are shown only to operators with
        the ``operate`` scope.
        """
        operator = caller is not None and Scope.OPERATE in caller.scopes
        return read_status(store, now(), operator=operator, disk_full=not has_room())

    return router


_log = structlog.get_logger()

_CHECK_SECONDS: Final = 3.0
"""Timeout for the database check, shorter than supervisors' timeouts."""


def health_api(check: Callable[[], None]) -> APIRouter:
    """Return the routes for the health checks.

    ``check`` may hang, and raises StoreError if the database is unusable.
    """
    router = PageRouter(anonymous=True)
    check_in_time = CallWithTimeout(check, _CHECK_SECONDS)

    @router.get("/healthz")
    async def health() -> Response:
        return _ok()

    @router.get("/readyz")
    def ready() -> Response:
        try:
            check_in_time()
        except TimeoutError:
            _log.warning("not ready", error=f"the database has not responded for {_CHECK_SECONDS:.0f} s")
            return _not_ready(_UNAVAILABLE)
        except StoreError as error:
            # Don't disclose the database's location; it is in the log.
            _log.warning("not ready", error=str(error))
            return _not_ready(_reason(error))
        return _ok()

    return router


_UNAVAILABLE: Final = "The arena's database is not responding."


def _ok() -> Response:
    return PlainTextResponse("ok\n", headers={"Cache-Control": PRIVATE})


def _reason(error: StoreError) -> str:
    match error:
        case DatabaseChanged():
            return "The database belongs to another version of this program."
        case DatabaseUnwritable():
            return "The arena's database is read-only at the moment."
    return _UNAVAILABLE


def _not_ready(detail: str) -> Response:
    return Response(
        msgspec.json.encode(document(503, detail, "")),
        503,
        media_type=MEDIA_TYPE,
        headers={"Cache-Control": PRIVATE},
    )


_BAR_WIDTH: Final = 20
_CHART_HEIGHT: Final = 100
_BAR_GAP: Final = 4
_ROUND_STEPS: Final = (1, 2, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """An hour's bar."""

    hour: Hour
    x: int  # left edge
    y: float  # upper edge
    height: float  # large enough to be visible if there were any games


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """A bar chart."""

    bars: tuple[Bar, ...]  # from left to right
    width: int
    height: int
    bar: int  # width of a bar
    top: int  # number of games at full height: 1, 2 or 5 times a power of ten
    games: int  # number of games in all hours
    most: int  # largest number of games in an hour


def bars_of(hours: Sequence[Hour]) -> Bars:
    """Return a bar chart of these hours."""
    most = max(hour.games for hour in hours)
    top = next(step * 10**power for power in range(20) for step in _ROUND_STEPS if step * 10**power >= most)
    return Bars(
        bars=tuple(_bar(hour, place, top) for place, hour in enumerate(hours)),
        width=len(hours) * _BAR_WIDTH,
        height=_CHART_HEIGHT,
        bar=_BAR_WIDTH - _BAR_GAP,
        top=top,
        games=sum(hour.games for hour in hours),
        most=most,
    )


def _bar(hour: Hour, place: int, top: int) -> Bar:
    height = max(1.0, round(_CHART_HEIGHT * hour.games / top, 1)) if hour.games else 0.0
    return Bar(hour=hour, x=place * _BAR_WIDTH + _BAR_GAP // 2, y=_CHART_HEIGHT - height, height=height)
