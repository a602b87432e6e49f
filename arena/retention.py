"""Removes logs and replays when they have been kept as long as the settings say."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

import structlog

from arena.recurring import Recurring
from arena.settings import Settings
from arena.store import Store, StoreError

_log = structlog.get_logger()

BATCH: Final = 10
"""Matches in one transaction, which takes some hundredths of a second."""

_MOST_BATCHES: Final = 100
"""At a time, so that the end of the arena doesn't wait for long."""

_SECONDS: Final = 60.0


def remove_old(store: Store, settings: Settings, now: datetime) -> tuple[int, int]:
    """Remove what is old enough, up to so much at a time.

    Args:
        store: Of the arena.
        settings: They say how long logs and replays are kept.
        now: UTC.

    Returns:
        Of how many matches the logs were removed, and of how many the replays.

    Raises:
        StoreError: The database can't be used.
    """
    replays = _remove(store.retention.remove_replays, settings.keep_replays_days, now)
    return _remove(store.retention.remove_logs, settings.keep_logs_days, now), replays


def _remove(remove: Callable[[datetime, int], int], days: int, now: datetime) -> int:
    removed = 0
    for _ in range(_MOST_BATCHES if days else 0):
        batch = remove(now - timedelta(days=days), BATCH)
        removed += batch
        if batch < BATCH:
            break
    return removed


def remover(
    store: Store, settings: Settings, now: Callable[[], datetime], *, seconds: float = _SECONDS
) -> Recurring:
    """Return what removes at once and then every minute.

    Args:
        store: Of the arena.
        settings: They say how long logs and replays are kept.
        now: UTC.
        seconds: Between two times.
    """

    def remove() -> None:
        logs, replays = remove_old(store, settings, now())
        if logs or replays:
            _log.info("old logs and replays removed", matches_logs=logs, matches_replays=replays)

    return Recurring(remove, name="retention", seconds=seconds, expected=(StoreError,))
