"""Submissions that are followed until their end: server-sent events, one for each change."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from typing import Final

import msgspec
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from arena.store import Desk, KnownSubmission
from arena.submitting.document import document

MOST_AT_ONCE: Final = 200
MOST_OF_AN_ACCOUNT: Final = 10
_LOOK_SECONDS: Final = 0.5
_QUIET_SECONDS: Final = 15.0
"""After this long without a change a comment is sent, so that proxies keep the connection.

Then, as before every event, it is asked again who may see: a token may be revoked, a role changed."""

_LONGEST_SECONDS: Final = 600.0
"""Then the stream ends; browsers ask again by themselves."""


class EventStream(StreamingResponse):
    """Server-sent events that have been written already; FastAPI's own class writes them itself."""

    media_type = "text/event-stream"


class Following:
    """Streams of events, bounded in number and time.

    Args:
        desk: Where submissions stand.
        clock: Seconds, monotonic.
    """

    def __init__(self, desk: Desk, clock: Callable[[], float] = time.monotonic) -> None:
        self._desk = desk
        self._clock = clock
        self._open: Counter[int] = Counter()

    async def events(
        self, submission: KnownSubmission, account: int, allowed: Callable[[], bool]
    ) -> AsyncGenerator[bytes]:
        """Yield an event now and at every change, the last one with the end.

        Args:
            submission: As it stands.
            account: Whose stream this is.
            allowed: Says whether it still may be shown to them; called in a thread.
        """
        if self._open.total() >= MOST_AT_ONCE or self._open[account] >= MOST_OF_AN_ACCOUNT:
            yield b"retry: 10000\n\n"
            return
        self._open[account] += 1
        try:
            async for event in self._changes(submission, allowed):
                yield event
        finally:
            self._open[account] -= 1
            self._open = +self._open  # without those that have none

    async def _changes(
        self, submission: KnownSubmission, allowed: Callable[[], bool]
    ) -> AsyncGenerator[bytes]:
        end = self._clock() + _LONGEST_SECONDS
        shown: KnownSubmission | None = None
        said = self._clock()
        known: KnownSubmission | None = submission
        while known is not None and self._clock() < end:
            told = known != shown or self._clock() - said > _QUIET_SECONDS
            if told and not await run_in_threadpool(allowed):
                return
            if known != shown:
                shown, said = known, self._clock()
                yield b"event: stage\ndata: " + msgspec.json.encode(document(known)) + b"\n\n"
                if known.stage.over:
                    return
            elif told:
                said = self._clock()
                yield b": still here\n\n"
            await asyncio.sleep(_LOOK_SECONDS)
            known = await run_in_threadpool(self._desk.find, submission.id)
