"""What a scheduler and a worker have in common: they run until they are told to end."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

_LOOK_SECONDS: Final = 0.1
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Told:
    """Whether somebody asked this process to end, and how often."""

    def __init__(self) -> None:
        self.once = asyncio.Event()
        self.twice = asyncio.Event()

    def tell(self) -> None:
        """Ask it."""
        (self.twice if self.once.is_set() else self.once).set()


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
