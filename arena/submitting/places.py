"""Places for files that are being received."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from arena.submitting.errors import NoRoom


class Places:
    """So many places, of which an account has one at a time: nobody can take them all. Threads may share it.

    Args:
        most: Places.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._taken: list[int | None] = []

    @contextmanager
    def one(self, account: int | None) -> Iterator[None]:
        """Hold a place.

        Args:
            account: Whose; operators who act for somebody have none, and may hold several.

        Raises:
            NoRoom: All are taken, or this account has one.
        """
        with self._lock:
            if account is not None and account in self._taken:
                raise NoRoom("a file of yours is being received already: try again when it is here")
            if len(self._taken) == self._most:
                raise NoRoom(f"{self._most} files are being received already: try again in a moment")
            self._taken.append(account)
        try:
            yield
        finally:
            with self._lock:
                self._taken.remove(account)
