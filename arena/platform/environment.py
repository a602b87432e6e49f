"""The arena's environment variables that aren't settings.

An ``ARENA_`` name that is neither one of these nor a setting is an error.
"""

import os
import signal
import threading
from collections.abc import Callable, Mapping
from typing import Final

REFEREE_VARIABLE: Final = "ARENA_REFEREE"
"""The address of a bot's referee."""

SITE_VARIABLE: Final = "ARENA_SITE"
"""The site used by an author's commands."""

TOKEN_VARIABLE: Final = "ARENA_TOKEN"  # noqa: S105 - the name of a variable
"""An access token for that site."""

FAILPOINT_VARIABLE: Final = "ARENA_FAILPOINT"
"""The failpoint at which a process under test kills itself."""

OTHER_VARIABLES: Final = frozenset({REFEREE_VARIABLE, SITE_VARIABLE, TOKEN_VARIABLE, FAILPOINT_VARIABLE})
"""All these variables."""


FAILPOINTS: Final = {
    "claiming": "A match has been claimed; the transaction is still open.",
    "claimed": "The claim is in the database; no worker has the match yet.",
    "submitted": "A worker has the match.",
    "sockets-made": "The folders of the match's sockets exist.",
    "referee-started": "The referee's process is running.",
    "sandboxes-started": "Every sandbox has been started.",
    "renewing": "Leases have been renewed; the transaction is still open.",
    "played": "The referee has handed over the games; the sandboxes, sockets and referee still exist.",
    "cleared": "Nothing that belongs to the match is left on the worker.",
    "place-given-back": "The worker has room for the next match; the coordinator has no record yet.",
    "record-received": "The coordinator has the record.",
    "record-checked": "The record agrees with the rules.",
    "recording": "The result, games and ratings have been written; the transaction is still open.",
    "recorded": "The result, games and ratings are in the database; the coordinator still has the match.",
    "releasing": "The arena is stopping; unfinished matches are about to be requeued.",
}
"""Failpoints, with the state at each, in the order in which a match reaches them."""


def failpoint(name: str) -> None:
    """Kill this process if the environment selects this failpoint."""
    if _armed is not None:
        _armed(name)


def _arm(environment: Mapping[str, str]) -> Callable[[str], None] | None:
    """Read the variable, ``NAME`` or ``NAME:COUNT``, and return the function that kills the process, if any.

    Raises ValueError for an unknown failpoint, or a count that isn't a number.
    """
    wanted = environment.get(FAILPOINT_VARIABLE)
    if not wanted:
        return None
    at, _, number = wanted.partition(":")
    if at not in FAILPOINTS or not (number or "1").isdecimal():
        known = ", ".join(FAILPOINTS)
        raise ValueError(f"{FAILPOINT_VARIABLE}={wanted}: write NAME or NAME:COUNT. Names: {known}")
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
