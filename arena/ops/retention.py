"""Removes logs, replays, people's games, and the audit log's visits after their retention period."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

import structlog

from arena.db.errors import StoreError
from arena.db.store import Store
from arena.platform.periodic import PeriodicTask
from arena.platform.settings import Settings

_log = structlog.get_logger()

BATCH: Final = 10
"""Number of matches per transaction, which takes a few hundredths of a second."""

_MAX_BATCHES: Final = 100
"""Maximum number of transactions per run for logs or replays, so that a shutdown doesn't wait long."""

_SECONDS: Final = 60.0

_PERSON_GAMES: Final = timedelta(days=30)
"""Retention period of people's games. Only their players can see them."""


def remove_old(store: Store, settings: Settings, now: datetime) -> tuple[int, int]:
    """Remove old logs and replays, up to the limit of one run.

    Return how many matches lost their logs, and how many lost their replays. Raises StoreError.
    """
    replays = _remove(store.logs.remove_replays, settings.keep_replays_days, now)
    return _remove(store.logs.remove_logs, settings.keep_logs_days, now), replays


def _remove(remove: Callable[[datetime, int], int], days: int, now: datetime) -> int:
    removed = 0
    for _ in range(_MAX_BATCHES if days else 0):
        batch = remove(now - timedelta(days=days), BATCH)
        removed += batch
        if batch < BATCH:
            break
    return removed


def remove_visits(store: Store, settings: Settings, now: datetime) -> int:
    """Remove old visits from the audit log; return the number of entries. Raises StoreError."""
    days = settings.keep_visits_days
    return store.accounts.remove_visits(now - timedelta(days=days) if days else None)


def remover(store: Store, settings: Settings, now: Callable[[], datetime]) -> PeriodicTask:
    """Return the task that removes old data, immediately and then every minute."""

    def remove() -> None:
        logs, replays = remove_old(store, settings, now())
        if logs or replays:
            _log.info("old logs and replays removed", matches_logs=logs, matches_replays=replays)
        if games := store.person_games.remove(now() - _PERSON_GAMES):
            _log.info("people's old games removed", games=games)
        if visits := remove_visits(store, settings, now()):
            _log.info("old audit log entries removed", entries=visits)

    return PeriodicTask(remove, name="retention", seconds=_SECONDS, expected=(StoreError,))
