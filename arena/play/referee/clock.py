"""A seat's time in one game, and the clock that measures it.

Source: docs/arena-rules.md, "The clock". Every decision has a move time; additional time comes from a
bank for the whole game.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from arena.platform.cpu_time import CpuSample
from arena.protocol.match import Clock

_MIN_NOTED_SECONDS: Final = 0.05


class SeatClock(NamedTuple):
    """Move time per decision and the remaining bank for the game, in seconds of wall-clock time."""

    move: float
    bank: float

    @classmethod
    def of(cls, clock: Clock) -> "SeatClock":
        """Return a match's clock at the start of a game."""
        return cls(clock.move_millis / 1000, clock.bank_millis / 1000)

    @property
    def allowance(self) -> float:
        """Time allowed for the next decision."""
        return self.move + self.bank

    def spend(self, seconds: float) -> "SeatClock":
        """Return the clock after a decision that took ``seconds``; the bank stops at zero."""
        overrun = seconds - self.move
        if overrun <= 0:
            return self
        return SeatClock(self.move, max(0.0, self.bank - overrun))


class Stopwatch:
    """Times a bot's decisions, one after another, without the time that the bot couldn't use.

    Times are in seconds. The first decision begins at ``now``.
    """

    def __init__(self, now: float) -> None:
        self.restart(now)

    def restart(self, now: float) -> None:
        """Start timing the next decision."""
        self.began = now
        self.uncounted = 0.0
        self._needed = 0.0

    def seconds(self, now: float) -> float:
        """Return the time that counts."""
        return now - self.began - self.uncounted

    def deduct(self, sample: CpuSample, now: float) -> None:
        """Exclude the host's delay since the last measurement.

        Never excludes more than the time since the start minus the time that the bot's own work needed, even
        if waits overlap or began earlier. A measurement at the start is ignored: it covers only earlier time.
        """
        if now <= self.began:
            return
        self._needed += sample.needed
        self.uncounted = max(0.0, min(self.uncounted + sample.waited, now - self.began - self._needed))


class Spent(NamedTuple):
    """The time of a decision, in seconds."""

    taken: float | None  # None after a timeout, and if it wasn't measured
    waited: float  # additional time, which doesn't count


class SharedTime:
    """The time that a message took, shared among the decisions that it ends. Times are in seconds.

    ``limits`` has the time limit of each request that the message answers, by game. The shares are equal, but
    an answer's share exceeds its limit only if the message took longer than all limits together. If the
    message answers no request, the first decision that it ends takes all the time.
    """

    def __init__(self, limits: Mapping[int, float], seconds: float, waited: float = 0.0) -> None:
        self._shares: dict[int | None, float] = {}
        self._waited = waited / max(1, len(limits))  # time that doesn't count
        for game, limit in sorted(limits.items(), key=lambda item: item[1]):
            rest = len(limits) - len(self._shares)
            self._shares[game] = seconds if rest == 1 else min(seconds / rest, limit)
            seconds -= self._shares[game]
        if not limits:
            self._shares[None] = seconds
        self.ended = False  # whether the message has ended a decision
        self.excess = 0.0  # time beyond the limits of those decisions

    def take(self, game: int, limit: float) -> Spent:
        """End a decision, and return its share. The time taken is None if it exceeds the limit."""
        self.ended = True
        share = self._shares.pop(game if game in self._shares else None, None)
        if share is None:
            return Spent(0.0, 0.0)
        self.excess += max(0.0, share - limit)
        return Spent(share if share <= limit else None, self._waited)


HOST_DELAY_TEXT: Final = "during which the host kept it waiting"
"""Part of a fault's text if the host caused part of the delay."""


def uncounted_note(seconds: float) -> str:
    """Return the last part of a message about an exceeded limit: the time that wasn't counted."""
    if seconds < _MIN_NOTED_SECONDS:
        return ""
    return f", not counting {seconds:.1f} s {HOST_DELAY_TEXT}"


PAUSE_SECONDS: Final = 0.25
"""Longer gaps between clock readings mean that the referee wasn't running. Normal gaps are up to 0.05 s."""

_MAX_CPU_WAIT_SECONDS: Final = 2.0
"""If the referee waits longer than this for a processor, its clock stops."""

_BATCH_SECONDS: Final = 0.002
"""Clock readings closer together than this belong to the same poll of the sockets."""

_MAX_BATCH_SECONDS: Final = 0.02
"""Maximum length of a poll, so that bots that keep the referee busy can't prolong one."""


class RefereeClock:
    """A clock that stops while the referee isn't running.

    If it didn't stop, every deadline would have passed after the host or the process had paused, even though
    the answers may have arrived in time. Therefore, pauses don't count against any bot.

    Waiting for a processor is not a pause: the bots keep running, and a sleeping bot must not benefit.
    The time that other programs take from bots is measured per bot. An answer that may have arrived while the
    referee was waiting counts as if it had arrived when the wait began.

    ``now`` is monotonic; ``waited`` returns how long the referee's thread has waited for a processor so far.
    Both are in seconds.
    """

    def __init__(self, now: Callable[[], float], waited: Callable[[], float]) -> None:
        self._now = now
        self._waited = waited
        self._last = now()
        self.missed = 0.0  # total length of the pauses, in seconds
        self.held_up = 0.0  # the part of it for which bots held up the referee, in seconds
        # Length of the last wait for a processor, in seconds. It falls to 0 over the same length of time,
        # because answers that came during the wait may still be in the referee's queues.
        self.behind = 0.0
        self._waited_before = waited()
        self._batch_wait = 0.0
        self._batch_began = self._last

    def __call__(self) -> float:
        """Return the monotonic time in seconds, without the missed time."""
        now, waited = self._now(), self._waited()
        since = now - self._last
        late = min(waited - self._waited_before, since)
        if since - late > PAUSE_SECONDS or since > _MAX_CPU_WAIT_SECONDS:
            self.missed += since
            late = 0.0
        if since < _BATCH_SECONDS and now - self._batch_began < _MAX_BATCH_SECONDS:
            self._batch_wait += since
        else:
            self._batch_began, self._batch_wait = now, late
        self.behind = max(late, self.behind - since)
        self._last, self._waited_before = now, waited
        return now - self.missed

    def exclude(self, seconds: float) -> None:
        """Count the last ``seconds``, for which a bot held up the referee, as a pause.

        The clock doesn't go back beyond its last reading.
        """
        missed, reading = self.missed, self._last - self.missed
        batch_began, batch_wait = self._batch_began, self._batch_wait
        since = self() - reading  # 0 if this reading has counted the time as a pause
        self.missed += min(seconds, since)
        excluded = self.missed - missed
        self.held_up += min(seconds, excluded)
        # The slow call doesn't end the poll, because other bots' data may have arrived before it.
        elapsed = self._last - self.missed - reading
        if elapsed < _BATCH_SECONDS and self._last - excluded - batch_began < _MAX_BATCH_SECONDS:
            self._batch_began, self._batch_wait = batch_began + excluded, batch_wait + elapsed

    def earliest_arrival(self) -> float:
        """Return the earliest time at which data that is readable now may have arrived.

        This is the current time minus the referee's wait for a processor before it polled the sockets.
        """
        return self() - self._batch_wait
