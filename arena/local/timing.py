"""The ladder's clock for bots that are called in this process.

Source: docs/arena-rules.md, "The clock". A decision's time is its wall-clock time minus its waits for a
processor, but at least its processor time divided by a bot's share of a core on the ladder. Therefore, a
bot that is in time here is also in time on the ladder if the arena's host is as fast as this machine.
"""

import faulthandler
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, TextIO, TypeVar

from arena.platform.cpu_time import OwnRunDelay
from arena.protocol.match import Limits

_TICK_SECONDS: Final = 0.05
_MAX_IGNORED_TICKS: Final = 40
"""Number of consecutive interrupts that a bot's code may ignore before the process is ended."""

_FROZEN_SECONDS: Final = 20.0
"""Seconds without a timer tick after which the process is ended. Ticks stop while a library is in an endless
loop. No decision may take this long."""

_SHARE: Final = Limits().cpus
"""A bot's share of a core on the ladder."""

T = TypeVar("T")


class TimeLimitExceeded(BaseException):
    """A decision took too long. Raised inside the bot's code, so the traceback shows the line."""


class DecisionTimer:
    """Times one decision after another, and interrupts those that take too long.

    Use it in the main thread, within :meth:`running`.
    """

    def __init__(self) -> None:
        self._waits = OwnRunDelay()
        self._allowed: float | None = None
        self._began = self._cpu = self._waited = 0.0
        self._ignored = 0
        self._running: tuple[Callable[[int, FrameType | None], None], TextIO] | None = None
        self.seconds = 0.0

    @contextmanager
    def running(self, crash_log: TextIO) -> Iterator[None]:
        """Interrupt late decisions or, if that fails, write a traceback to ``crash_log`` and exit."""

        def tick(_number: int, _frame: FrameType | None) -> None:
            faulthandler.dump_traceback_later(_FROZEN_SECONDS, exit=True, file=crash_log)
            self._interrupt(crash_log)

        before = signal.signal(signal.SIGALRM, tick)
        self._running = tick, crash_log
        faulthandler.enable(crash_log)
        faulthandler.dump_traceback_later(_FROZEN_SECONDS, exit=True, file=crash_log)
        signal.setitimer(signal.ITIMER_REAL, _TICK_SECONDS, _TICK_SECONDS)
        try:
            yield
        finally:
            self._running = None
            signal.setitimer(signal.ITIMER_REAL, 0)
            faulthandler.cancel_dump_traceback_later()
            signal.signal(signal.SIGALRM, before)

    def call(self, allowed: float, decide: Callable[[], T]) -> T:
        """Call ``decide`` and return its result. Sets :attr:`seconds` to the duration, even after an error.

        Raises TimeLimitExceeded if the call takes longer than ``allowed`` seconds. If the bot uses the
        timer's signal itself, as it may on the ladder, the call is not interrupted, but raises at its end.
        """
        self._restart_timer()
        self._ignored = 0
        self._began, self._cpu, self._waited = time.perf_counter(), time.process_time(), self._waits()
        self._allowed = allowed
        try:
            decision = decide()
        finally:
            self._allowed = None
            self.seconds = self._elapsed()
        if self.seconds > allowed:
            raise TimeLimitExceeded
        return decision

    def _restart_timer(self) -> None:
        """Restart the timer and the watchdog if the bot has changed the timer or its signal's handler."""
        if self._running is None:
            return
        tick, crash_log = self._running
        is_ours = signal.getsignal(signal.SIGALRM) is tick  # otherwise, a bot's own handler must stay
        if is_ours and signal.getitimer(signal.ITIMER_REAL)[1]:
            return
        faulthandler.dump_traceback_later(_FROZEN_SECONDS, exit=True, file=crash_log)
        if is_ours:
            signal.setitimer(signal.ITIMER_REAL, _TICK_SECONDS, _TICK_SECONDS)

    def _elapsed(self) -> float:
        wall = time.perf_counter() - self._began - (self._waits() - self._waited)
        return max(wall, (time.process_time() - self._cpu) / _SHARE)

    def _interrupt(self, crash_log: TextIO) -> None:
        if self._allowed is None or self._elapsed() <= self._allowed:
            return
        self._ignored += 1
        if self._ignored > _MAX_IGNORED_TICKS:
            faulthandler.dump_traceback(crash_log, all_threads=False)
            os._exit(1)
        raise TimeLimitExceeded
