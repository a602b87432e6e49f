"""A seat's time in one game.

Source: docs/arena-rules.md, "The clock": every decision has free time,
and what it takes beyond that is paid from a bank that lasts for the game.
"""

from typing import NamedTuple


class SeatClock(NamedTuple):
    """Seconds of wall-clock time.

    Attributes:
        move: Free time of every decision.
        bank: What is left of the game's bank.
    """

    move: float
    bank: float

    @property
    def allowance(self) -> float:
        """How long the next decision may take before it is a fault."""
        return self.move + self.bank

    def spend(self, seconds: float) -> "SeatClock":
        """Return the clock after a decision that took this long; the bank never goes below zero."""
        overrun = seconds - self.move
        if overrun <= 0:
            return self
        return SeatClock(self.move, max(0.0, self.bank - overrun))
