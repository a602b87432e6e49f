"""When things happened."""

from datetime import UTC, datetime, timedelta

START = datetime(2026, 2, 27, 23, 30, tzinfo=UTC)
"""Half an hour before the end of a day, two days before that of a month."""


def at(minute: int) -> datetime:
    """Return a moment, this many minutes after the start."""
    return START + timedelta(minutes=minute)
