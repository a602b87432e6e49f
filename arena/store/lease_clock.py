"""The time that leases are told by: the database's, and never the wall clock of some coordinator.

PostgreSQL tells that of its own host: where that jumps ahead leases are over early, and matches are played
anew. An SQLite file is used by one machine alone, whose time since its start no clock
setting changes; that begins anew with the machine, so the lease says which start it means.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, text

_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class LeaseTime:
    """A moment by the leases' clock.

    Attributes:
        seconds: Since some moment that is the same for all who use this clock.
        clock: Which it is. Moments of different clocks can't be compared: the older one has passed.
    """

    seconds: float
    clock: str


LeaseClock = Callable[[Connection], LeaseTime]
"""Tells the time, given a connection to the store."""


def database_time(connection: Connection) -> LeaseTime:
    """Return the time by which leases on this database are told."""
    if connection.dialect.name == "sqlite":
        return LeaseTime(time.clock_gettime(time.CLOCK_BOOTTIME), _BOOT.read_text().strip())
    seconds = connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one()
    return LeaseTime(float(seconds), "postgresql")
