"""Removes, while the arena runs, what a match has left behind."""

import threading
from types import TracebackType
from typing import Final, Self

import structlog

from arena.launcher.launcher import Launcher
from arena.sandbox import Runtime, RuntimeTrouble

_log = structlog.get_logger()

SWEEP_SECONDS: Final = 20.0
"""Between two sweeps: what is left is gone within half a minute, the removal included."""


class Sweeper:
    """Sweeps at intervals, in a thread of its own, for as long as its context lasts.

    A launcher removes its sandboxes itself. This is for those that it could not remove, since the
    engine was busy or away, or that were made by a call whose answer was lost.

    Args:
        runtime: Whose sandboxes.
        install: The installation's id.
        launcher: Knows which sandboxes are in use.
        seconds: Between two sweeps.
    """

    def __init__(
        self, runtime: Runtime, install: str, launcher: Launcher, *, seconds: float = SWEEP_SECONDS
    ) -> None:
        self._runtime = runtime
        self._install = install
        self._launcher = launcher
        self._seconds = seconds
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sweeper", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(self._seconds):
            try:
                left = self._runtime.sweep(self._install, self._launcher.owns)
            except RuntimeTrouble as error:
                _log.warning("not swept, the next sweep tries again", error=str(error))
            except Exception:  # noqa: BLE001 - a thread that ended would sweep never again, and nobody would know
                _log.exception("not swept, the next sweep tries again")
            else:
                if left:
                    _log.warning("removed sandboxes that a match had left", sandboxes=left)
