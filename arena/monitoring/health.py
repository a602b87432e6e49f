"""Whether a process is well, and whether it is ready for work."""

from collections.abc import Callable, Mapping
from typing import Final

STALE_SECONDS: Final = 10.0
"""After so long without a turn, a loop hangs."""

Check = Callable[[], str | None]
"""Returns what is missing, or None where nothing is. It takes no longer than a few seconds."""


def goes_round(last: Callable[[], float | None], clock: Callable[[], float]) -> Check:
    """Return what tells whether a loop still goes round.

    Args:
        last: When it last did; None before it has begun, which may take minutes and is no fault.
        clock: Seconds, monotonic, as those are.
    """

    def check() -> str | None:
        turned = last()
        silent = 0.0 if turned is None else clock() - turned
        return None if silent < STALE_SECONDS else f"it has not gone round for {silent:.0f} s"

    return check


def missing_of(checks: Mapping[str, Check]) -> dict[str, str]:
    """Return by its name what has to be there, and is not.

    Args:
        checks: By the name of what is checked.
    """
    asked = {name: check() for name, check in checks.items()}
    return {name: reason for name, reason in asked.items() if reason is not None}
