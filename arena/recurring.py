"""Something that is done again and again beside everything else."""

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

import structlog

_log = structlog.get_logger()


class Recurring:
    """Does something at once and then at intervals, in a thread of its own, for as long as its context lasts.

    A failure is logged, and the next time tries again: a thread that ended would never do its work again,
    and nobody would know.

    Args:
        act: What is done.
        name: Of it, in logs and of its thread.
        seconds: From the end of one time to the next.
        expected: Errors that need no trace in the log, since their texts say what is wrong.
    """

    def __init__(
        self, act: Callable[[], None], *, name: str, seconds: float, expected: tuple[type[Exception], ...]
    ) -> None:
        self._act = act
        self._name = name
        self._seconds = seconds
        self._expected = expected
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.is_set():
            try:
                self._act()
            except self._expected as error:
                _log.warning(f"{self._name} failed and is tried again", error=str(error))
            except Exception:  # noqa: BLE001 - see the class
                _log.exception(f"{self._name} failed and is tried again")
            self._over.wait(self._seconds)
