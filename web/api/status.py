"""How the arena is, for programs."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends

from arena.accounts import Scope
from arena.store import Store
from web.api.routes import DataRouter
from web.caller import Caller, Callers
from web.status import Status, read_status


def status_api(
    store: Store, callers: Callers, has_room: Callable[[], bool], now: Callable[[], datetime]
) -> APIRouter:
    """Return the route of the status."""
    router = DataRouter("arena")
    Anybody = Annotated[Caller | None, Depends(callers.note)]  # noqa: N806 - a type

    @router.get("/status")
    def status(caller: Anybody) -> Status:
        """Say what the arena is doing, what it did lately, and what its machines can hold.

        Who plays in matches that are not rated, and what was put aside and why, is for operators: that takes
        the scope operate.
        """
        operator = caller is not None and Scope.OPERATE in caller.scopes
        return read_status(store, now(), operator=operator, disk_full=not has_room())

    return router
