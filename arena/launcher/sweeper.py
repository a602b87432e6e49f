"""Removes, while the arena runs, what a match has left behind."""

from typing import Final, Protocol

import structlog

from arena.recurring import Recurring
from arena.sandbox import Runtime, RuntimeTrouble

_log = structlog.get_logger()

SWEEP_SECONDS: Final = 20.0
"""Between two sweeps: what is left is gone within half a minute, the removal included."""


class Owner(Protocol):
    """Who plays matches, and looks after the sandboxes of these."""

    def owns(self, name: str) -> bool:
        """Tell whether a sandbox with this name belongs to a match that is played now."""


def sweeper(runtime: Runtime, install: str, owner: Owner, *, seconds: float = SWEEP_SECONDS) -> Recurring:
    """Return what sweeps at intervals.

    A launcher removes its sandboxes itself. This is for those that it could not remove, since the
    engine was busy or away, or that were made by a call whose answer was lost.

    Args:
        runtime: Whose sandboxes.
        install: The installation's id.
        owner: Knows which sandboxes are in use.
        seconds: Between two sweeps.
    """

    def sweep() -> None:
        if left := runtime.sweep(install, owner.owns):
            _log.warning("removed sandboxes that a match had left", sandboxes=left)

    return Recurring(sweep, name="sweeper", seconds=seconds, expected=(RuntimeTrouble,))
