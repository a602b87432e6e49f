"""Recurring background work, and the backoff before failed work is retried."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Self

import structlog

_log = structlog.get_logger()


class PeriodicTask:
    """Calls a function immediately and then at intervals, in its own thread, while its context is active.

    A failure is logged and doesn't stop the thread.

    ``seconds`` pass between the end of one call and the start of the next. Only the text of ``expected``
    errors is logged, without a traceback. ``name`` is for logs and the thread.
    """

    def __init__(
        self, act: Callable[[], object], *, name: str, seconds: float, expected: tuple[type[Exception], ...]
    ) -> None:
        self._act = act
        self._name = name
        self._seconds = seconds
        self._expected = expected
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._act()
            except self._expected as error:
                _log.warning("task failed", task=self._name, error=str(error))
            except Exception:  # noqa: BLE001 - a failure must not stop the thread
                _log.exception("task failed", task=self._name)
            self._stopping.wait(self._seconds)


_MAX_EXPONENT: Final = 64
"""Maximum exponent, so that the power is finite. Every delay reaches its limit far earlier."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """A delay that grows with each consecutive failure."""

    first: float  # seconds after one failure
    maximum: float  # the upper limit in seconds
    factor: float = 2.0  # factor by which each additional failure multiplies the delay

    def after(self, failures: int) -> float:
        """Return the delay in seconds after this number (at least 1) of consecutive failures."""
        return min(self.first * self.factor ** min(failures - 1, _MAX_EXPONENT), self.maximum)
