"""What a scheduler and a worker share: they run until they are told to end, and tell how they stand."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

_LOOK_SECONDS: Final = 0.1
_TURN_SECONDS: Final = 1.0
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Told:
    """Whether somebody asked this process to end, and how often."""

    def __init__(self) -> None:
        self.once = asyncio.Event()
        self.twice = asyncio.Event()

    def tell(self) -> None:
        """Ask it."""
        (self.twice if self.once.is_set() else self.once).set()


class Standing:
    """How a member stands, for whoever asks in another thread.

    Args:
        missing: Why it is no member yet.

    Attributes:
        missing: Why it is none now, or None.
        turned: When its event loop last went round, in seconds of the monotonic clock; None where none does.
    """

    def __init__(self, missing: str) -> None:
        self.missing: str | None = missing
        self.turned: float | None = None

    @asynccontextmanager
    async def turning(self) -> AsyncIterator[None]:
        """Take note of the running event loop's rounds."""
        task = asyncio.create_task(self._turn())
        try:
            yield
        finally:
            task.cancel()
            self.turned = None

    async def _turn(self) -> None:
        while True:
            self.turned = time.monotonic()
            await asyncio.sleep(_TURN_SECONDS)


@contextmanager
def told_by_signals() -> Iterator[Told]:
    """Give what SIGTERM, Ctrl-C and SIGHUP tell. Within a running event loop."""
    loop, told = asyncio.get_running_loop(), Told()
    for number in _SIGNALS:
        loop.add_signal_handler(number, told.tell)
    try:
        yield told
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something is so that threads make so."""
    while not condition():  # noqa: ASYNC110 - they know no events of this loop
        await asyncio.sleep(_LOOK_SECONDS)


async def wait_for(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event, but not for ever; tell whether it has come."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
