"""The body of a request, piece by piece."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Final

from fastapi import Request
from starlette.requests import ClientDisconnect

from web.problems import Problem

_SILENCE_SECONDS: Final = 30.0
"""How long a sender may be silent: who is gone must not keep a place for ever."""

_GRACE_SECONDS: Final = 30.0
_LEAST_BYTES_A_SECOND: Final = 64 * 1024
"""A whole file has the grace and as long as it takes at this rate: who drips must not keep a place either."""

_PIECE: Final = 1024 * 1024


async def pieces(request: Request, clock: Callable[[], float] = time.monotonic) -> AsyncIterator[bytes]:
    """Yield a body in pieces of a MiB or so.

    Args:
        request: Whose body.
        clock: Seconds, monotonic.

    Raises:
        Problem: The sender is silent, too slow, or gone.
    """
    stream = aiter(request.stream())
    gathered = bytearray()
    end = clock() + _GRACE_SECONDS
    while True:
        try:
            async with asyncio.timeout(_patience(end - clock())):
                came = await anext(stream)
        except StopAsyncIteration:
            break
        except TimeoutError:
            raise _too_late(end - clock()) from None
        except ClientDisconnect:
            raise Problem(400, "The connection ended before the file did.", hint="Send it again.") from None
        end += len(came) / _LEAST_BYTES_A_SECOND
        gathered += came
        if len(gathered) >= _PIECE:
            yield bytes(gathered)
            gathered.clear()
    if gathered:
        yield bytes(gathered)


def _patience(left: float) -> float:
    """Return how many seconds the next bytes may take.

    Raises:
        Problem: The file's time is over.
    """
    if left <= 0:
        raise _too_late(left)
    return min(left, _SILENCE_SECONDS)


def _too_late(left: float) -> Problem:
    if left > 0:
        return Problem(408, f"Nothing came for {_SILENCE_SECONDS:.0f} seconds.", hint="Send the file again.")
    return Problem(
        408,
        f"The file came too slowly: after {_GRACE_SECONDS:.0f} seconds, less than "
        f"{_LEAST_BYTES_A_SECOND // 1024} KiB a second.",
        hint="Send it over a faster connection, or make it smaller.",
    )
