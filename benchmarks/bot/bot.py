"""The benchmarks' bot: plays its first card, and reports its CPU time on stderr at regular intervals.

Each line has an event, the number of decisions so far, the CPU seconds so far, and the time of a monotonic
clock that all processes of the machine share.
"""

import time

STARTED = time.monotonic()

import resource  # noqa: E402 - read the clock first
import sys  # noqa: E402 - as above
from pathlib import Path  # noqa: E402 - as above

from arena.sdk import Card, View, run  # noqa: E402 - as above

IMPORTED = time.monotonic()

import arena.sdk.match  # noqa: E402, F401 - run() needs it; imported here to measure how long that takes

_EVERY_SECONDS = 0.1


class _Output:
    """Counts decisions and prints the lines."""

    def __init__(self) -> None:
        self._decisions = 0
        self._next = 0.0

    def choose(self, view: View) -> Card:
        """Play the first card."""
        self._decisions += 1
        now = time.monotonic()
        if now >= self._next:
            self.print_line("played" if self._next else "first", now)
            self._next = now + _EVERY_SECONDS
        return view.hand[0]

    def print_line(self, event: str, at: float) -> None:
        """Print a line with this event and time."""
        usage = resource.getrusage(resource.RUSAGE_SELF)
        used = usage.ru_utime + usage.ru_stime
        sys.stderr.write(f"{event} {self._decisions} {used:.6f} {at:.6f}\n")


if __name__ == "__main__":
    output = _Output()
    output.print_line("started", STARTED)
    output.print_line("imported", IMPORTED)
    output.print_line("ready", time.monotonic())
    run(output.choose, games_at_once=int(Path(__file__).with_name("games_at_once").read_text()))
