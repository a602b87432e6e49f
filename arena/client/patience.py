"""How often a site that doesn't answer is asked again."""

import time
from collections.abc import Callable
from typing import Final

from arena.client.errors import SiteProblem, SiteTrouble

_LONGEST: Final = 15.0
_OWN_TROUBLE: Final = 500
_BUSY: Final = 429


class Patience:
    """Waits between attempts, longer each time, until it has an end.

    Args:
        attempts: In a row that may fail.
        pause: Seconds after the first of them.
        sleep: Lets so many seconds pass.
    """

    def __init__(
        self, attempts: int = 8, pause: float = 1.0, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._attempts = attempts
        self._pause = pause
        self._sleep = sleep
        self._failed = 0

    def regain(self) -> None:
        """Note that something has come."""
        self._failed = 0

    def rest(self) -> None:
        """Let the pause pass."""
        self._sleep(self._pause)

    def lose(self, trouble: SiteTrouble) -> None:
        """Note that an attempt has failed, and wait before the next one.

        Raises:
            SiteTrouble: This one: it does not pass by waiting, or there were too many in a row.
        """
        if isinstance(trouble, SiteProblem) and not (
            trouble.status >= _OWN_TROUBLE or trouble.status == _BUSY
        ):
            raise trouble
        self._failed += 1
        if self._failed >= self._attempts:
            raise trouble
        self._sleep(min(self._pause * 2 ** (self._failed - 1), _LONGEST))
