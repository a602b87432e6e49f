"""Moments at which the arena can be told to die, to see that nothing is lost by it.

::

    ARENA_FAILPOINT=recording:3 arena coordinator

ends the process as ``kill -9`` does when it comes to ``recording`` for the third time. Without the variable
there is nothing to compare and nothing to count.
"""

import os
import signal
import threading
from collections.abc import Callable, Mapping
from typing import Final

VARIABLE: Final = "ARENA_FAILPOINT"

FAILPOINTS: Final = {
    "claiming": "A match is claimed; the transaction is open.",
    "claimed": "The claim is in the database; nobody has been told to play.",
    "submitted": "A worker has been told to play.",
    "sockets-made": "The folders of the match's sockets are there.",
    "referee-started": "The referee's process runs.",
    "sandboxes-started": "Every sandbox has been started.",
    "renewing": "Leases are renewed; the transaction is open.",
    "played": "The referee has handed over the games; sandboxes, sockets and referee are still there.",
    "cleared": "Nothing of the match is left on the worker.",
    "place-given-back": "The worker has room for the next match; nobody has the record yet.",
    "record-received": "The coordinator has the record.",
    "record-checked": "The rules agree with the record.",
    "recording": "Result, games and ratings are written; the transaction is open.",
    "recorded": "They are in the database; the coordinator still has the match.",
    "releasing": "The arena is ending; what it did not finish is about to wait again.",
}
"""Their names, and what has been done by then, in the order of a match."""


def reach(name: str) -> None:
    """Die here if that is what the environment asks for."""
    if _armed is not None:
        _armed(name)


def _arm(environment: Mapping[str, str]) -> Callable[[str], None] | None:
    """Read the variable: ``NAME`` or ``NAME:COUNT``.

    Raises:
        ValueError: There is no such failpoint, or the count is no number.
    """
    wanted = environment.get(VARIABLE)
    if not wanted:
        return None
    at, _, number = wanted.partition(":")
    if at not in FAILPOINTS or not (number or "1").isdecimal():
        known = ", ".join(FAILPOINTS)
        raise ValueError(f"{VARIABLE}={wanted}: write NAME or NAME:COUNT, with a name of {known}")
    count = int(number or 1)
    lock = threading.Lock()

    def die(name: str) -> None:
        nonlocal count
        if name != at:
            return
        with lock:
            count -= 1
            if count == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    return die


_armed: Final = _arm(os.environ)
