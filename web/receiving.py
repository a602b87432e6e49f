"""The body of a request, piece by piece."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from fastapi import Request
from starlette.requests import ClientDisconnect

from web.problems import Problem

_SILENCE_SECONDS: Final = 30.0
"""How long a sender may be silent: who is gone must not keep a place for ever."""

_PIECE: Final = 1024 * 1024


async def pieces(request: Request) -> AsyncIterator[bytes]:
    """Yield a body in pieces of a MiB or so.

    Raises:
        Problem: The sender is silent, or gone.
    """
    stream = aiter(request.stream())
    gathered = bytearray()
    while True:
        try:
            async with asyncio.timeout(_SILENCE_SECONDS):
                gathered += await anext(stream)
        except StopAsyncIteration:
            break
        except TimeoutError:
            raise Problem(
                408, f"Nothing came for {_SILENCE_SECONDS:.0f} seconds.", hint="Send the file again."
            ) from None
        except ClientDisconnect:
            raise Problem(400, "The connection ended before the file did.", hint="Send it again.") from None
        if len(gathered) >= _PIECE:
            yield bytes(gathered)
            gathered.clear()
    if gathered:
        yield bytes(gathered)
