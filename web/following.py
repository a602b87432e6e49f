"""Submissions that are followed until their end: server-sent events, one for each change."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Final

import msgspec
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from arena.store import Desk, KnownSubmission
from arena.submitting.document import document

MOST_AT_ONCE: Final = 200
_LOOK_SECONDS: Final = 0.5
_QUIET_SECONDS: Final = 15.0
"""After this long without a change a comment is sent, so that proxies keep the connection."""

_LONGEST_SECONDS: Final = 600.0
"""Then the stream ends; browsers ask again by themselves."""


class EventStream(StreamingResponse):
    """Server-sent events that have been written already; FastAPI's own class writes them itself."""

    media_type = "text/event-stream"


class Following:
    """Streams of events, bounded in number and time.

    Args:
        desk: Where submissions stand.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._open = 0

    async def events(self, submission: KnownSubmission) -> AsyncIterator[bytes]:
        """Yield an event now and at every change, the last one with the end."""
        if self._open >= MOST_AT_ONCE:
            yield b"retry: 10000\n\n"
            return
        self._open += 1
        try:
            async for event in self._changes(submission):
                yield event
        finally:
            self._open -= 1

    async def _changes(self, submission: KnownSubmission) -> AsyncIterator[bytes]:
        end = time.monotonic() + _LONGEST_SECONDS
        shown: KnownSubmission | None = None
        said = 0.0
        known: KnownSubmission | None = submission
        while known is not None and time.monotonic() < end:
            if known != shown:
                shown, said = known, time.monotonic()
                yield b"event: stage\ndata: " + msgspec.json.encode(document(known)) + b"\n\n"
                if known.stage.over:
                    return
            elif time.monotonic() - said > _QUIET_SECONDS:
                said = time.monotonic()
                yield b": still here\n\n"
            await asyncio.sleep(_LOOK_SECONDS)
            known = await run_in_threadpool(self._desk.find, submission.id)
