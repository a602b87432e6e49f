"""Whether a process is well, and whether it is ready for work."""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Final, Generic, TypeVar

STALE_SECONDS: Final = 10.0
"""After so long without a turn, a loop hangs."""

Check = Callable[[], str | None]
"""Returns what is missing, or None where nothing is. It takes no longer than a few seconds."""

T = TypeVar("T")


class InTime(Generic[T]):
    """Asks what may hang, and waits for some seconds alone.

    However many want to know, it is asked once at a time: those who come meanwhile hear the same answer.

    Args:
        ask: Returns the answer or raises an error.
        seconds: To wait.
    """

    def __init__(self, ask: Callable[[], T], seconds: float) -> None:
        self._ask = ask
        self._seconds = seconds
        self._asked: Future[T] | None = None
        self._lock = threading.Lock()

    def __call__(self) -> T:
        """Return the answer, or raise its error.

        Raises:
            TimeoutError: There is none yet; the same question goes on being waited for.
        """
        with self._lock:
            if self._asked is None or self._asked.done():
                self._asked = Future()
                # A daemon: what hangs holds up nobody's end.
                threading.Thread(
                    target=self._answer, args=(self._asked,), name="readiness", daemon=True
                ).start()
            asked = self._asked
        return asked.result(self._seconds)

    def _answer(self, asked: "Future[T]") -> None:
        try:
            asked.set_result(self._ask())
        except Exception as error:  # noqa: BLE001 - whoever waits for it raises it
            asked.set_exception(error)


def goes_round(last: Callable[[], float | None], clock: Callable[[], float]) -> Check:
    """Return what tells whether a loop still goes round.

    Args:
        last: When it last did; None before it has begun, which may take minutes and is no fault.
        clock: Seconds, monotonic, as those are.
    """

    def check() -> str | None:
        turned = last()
        silent = 0.0 if turned is None else clock() - turned
        return None if silent < STALE_SECONDS else f"it has not gone round for {silent:.0f} s"

    return check


def missing_of(checks: Mapping[str, Check]) -> dict[str, str]:
    """Return by its name what has to be there, and is not.

    Args:
        checks: By the name of what is checked.
    """
    asked = {name: check() for name, check in checks.items()}
    return {name: reason for name, reason in asked.items() if reason is not None}
