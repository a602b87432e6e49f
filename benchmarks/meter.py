"""Counts what a process does, and what CPU time that takes once it has warmed up."""

import time
from collections.abc import Sequence
from typing import NamedTuple


class Used(NamedTuple):
    """The work of one process."""

    done: int  # messages or decisions
    cpu: float  # seconds
    wall: float  # seconds


class Meter:
    """Counts up to a number, the first part of it as a warm-up."""

    def __init__(self, warm_up: int, count: int) -> None:
        self._warm_up = warm_up
        self._last = warm_up + count
        self._seen = 0
        self._begin: Used | None = None
        self._end: Used | None = None

    @property
    def full(self) -> bool:
        """True if all have been counted."""
        return self._end is not None

    def add(self, count: int) -> None:
        """Count these."""
        self._seen += count
        if self._begin is None:
            if self._seen >= self._warm_up:
                self._begin = self._now()
        elif self._end is None and self._seen >= self._last:
            self._end = self._now()

    def used(self) -> Used:
        """Return what was measured.

        Raises ValueError if not even the warm-up was.
        """
        if self._begin is None:
            raise ValueError(f"only {self._seen} of the {self._warm_up} of the warm-up were counted")
        end, begin = self._end or self._now(), self._begin
        return Used(end.done - begin.done, end.cpu - begin.cpu, end.wall - begin.wall)

    def _now(self) -> Used:
        return Used(self._seen, time.process_time(), time.monotonic())


def cpu_of(processes: Sequence[Used]) -> float:
    """Return the CPU seconds one message or decision takes these processes, which share the work."""
    return sum(used.cpu for used in processes) / sum(used.done for used in processes)
