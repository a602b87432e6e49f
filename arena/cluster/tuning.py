"""What of dask's many settings matters here, and silence where it would talk."""

import logging
from typing import Any, Final

import dask.config

_SETTINGS: Final[dict[str, Any]] = {
    # Nothing is served beside the cluster's own encrypted connections.
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    # A match belongs to the worker that has room for it.
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.worker.profile.enabled": False,
    # A host that is gone without a word is lost after twice this at most; heartbeats come every second.
    "distributed.scheduler.worker-ttl": "12s",
    "distributed.comm.timeouts.tcp": "20s",
    "distributed.comm.timeouts.connect": "5s",
    # What a scheduler remembers for its dashboard, which nobody sees: every message of games in progress.
    "distributed.admin.log-length": 100,
    "distributed.admin.low-level-log-length": 100,
    "distributed.scheduler.events-cleanup-delay": "1 minute",
    "distributed.diagnostics.nvml": False,
    "distributed.diagnostics.cudf": False,
}

NOWHERE: Final = "127.0.0.1:0"
"""dask listens for HTTP whether anything is served or not; so nobody finds it."""


def tune() -> None:
    """Set them for this process. To be called before a member of a cluster is made."""
    dask.config.set(_SETTINGS)
    # Its import has installed handlers. What matters of what it says, the arena says itself.
    for name in ("distributed", *(each for each in logging.root.manager.loggerDict if _is_dasks(each))):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(logging.CRITICAL + 1)


def _is_dasks(name: str) -> bool:
    return name.partition(".")[0] in {"distributed", "tornado", "bokeh", "asyncio"}
