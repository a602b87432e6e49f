"""One coordinator with containers works on a database, and no other.

What authors have sent, and without a cluster bots' images, lie with one of them: others would take these for
lost. More hosts are workers.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from arena.bootstrap.errors import CannotStart
from arena.recurring import Recurring
from arena.store import RENEW_SECONDS, DatabaseUnavailable, Helm, Store

_HELD: Final = (
    "another coordinator works on this database: add this host to it as a worker, or end it first. If its "
    "host is gone, try again in half a minute"
)
_LOST: Final = (
    "another coordinator has begun to work on this database, while it could not be reached from here: "
    "end one of the two, or add this host to that one as a worker"
)


class Helmsman:
    """Sees that the helm is still held, and stops what plays where somebody else has it.

    Args:
        helm: It is held.
    """

    def __init__(self, helm: Helm) -> None:
        self._helm = helm
        self._lost = threading.Event()
        self._stop: Callable[[], None] = lambda: None

    def look(self) -> None:
        """See whether the helm is still held. Once lost it is lost.

        Raises:
            DatabaseUnavailable: Nobody can tell.
        """
        if not self._lost.is_set() and not self._helm.take():
            self._lost.set()
            self._stop()

    @contextmanager
    def steering(self, stop: Callable[[], None]) -> Iterator[None]:
        """Let something go on as long as the helm is held.

        Args:
            stop: Ends it soon. Called in another thread.

        Raises:
            CannotStart: Somebody else has it.
        """
        self._stop = stop
        self._check()
        yield
        self._check()

    def _check(self) -> None:
        if self._lost.is_set():
            raise CannotStart(_LOST)


@contextmanager
def at_the_helm(store: Store) -> Iterator[Helmsman]:
    """Hold the helm of a database, from now on to the end.

    Raises:
        CannotStart: Somebody else has it.
        DatabaseUnavailable: The database can't be reached.
    """
    if not store.helm.take():
        raise CannotStart(_HELD)
    helmsman = Helmsman(store.helm)
    try:
        with Recurring(helmsman.look, name="helm", seconds=RENEW_SECONDS, expected=(DatabaseUnavailable,)):
            yield helmsman
    finally:
        store.helm.let_go()
