"""The submissions API: upload a file, and read a submission's progress, once or as server-sent events."""

import asyncio
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from functools import partial
from typing import Annotated, Any, Final, TypeVar

import msgspec
from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from arena.db.submissions import KnownSubmission, SubmissionRepository
from arena.languages.registry import UploadKind
from arena.play.replay.document import PublicReplay
from arena.protocol.submissions import Submission, SubmissionList, WholeSubmission
from arena.services.owners import Owners
from arena.submissions.document import whole_document
from arena.submissions.receiver import Incoming, Receiver, Upload
from web.http.api import (
    LISTED,
    PREFIX,
    REFUSED,
    DataRouter,
    Limit,
    Next,
    Owner,
    Reader,
    located,
    problems,
    refusal,
)
from web.http.authentication import Caller, find_caller, may_read
from web.http.errors import Problem
from web.http.metrics import SiteMetrics
from web.http.parameters import Before, OfBot
from web.http.rate_limits import network_of_visitor
from web.http.rendering import Viewer
from web.http.uploads import pieces

T = TypeVar("T")

MAX_CONCURRENT: Final = 200
MAX_CONCURRENT_PER_ACCOUNT: Final = 10
_POLL_SECONDS: Final = 0.5
_QUIET_SECONDS: Final = 15.0
"""Interval at which comments are sent while nothing changes, so that proxies keep the connection open.

Access is checked again before each comment and event: a token may have been revoked, or a role changed."""

_MAX_SECONDS: Final = 600.0
"""Maximum duration of a stream; browsers reconnect."""


class EventStream(StreamingResponse):
    """Server-sent events that are already encoded; FastAPI's own class encodes them itself."""

    media_type = "text/event-stream"


class SubmissionEvents:
    """Event streams, limited in duration, and in number both per account and in total.

    ``clock`` returns monotonic seconds.
    """

    def __init__(
        self, submissions: SubmissionRepository, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._submissions = submissions
        self._clock = clock
        self._open: Counter[int] = Counter()

    async def events(
        self, submission: KnownSubmission, account: int, allowed: Callable[[], bool]
    ) -> AsyncGenerator[bytes]:
        """Yield an event now, and one at every change until the submission ends.

        ``allowed`` returns whether the account may still see the submission; it is called in a thread.
        """
        if self._open.total() >= MAX_CONCURRENT or self._open[account] >= MAX_CONCURRENT_PER_ACCOUNT:
            yield b"retry: 10000\n\n"
            return
        self._open[account] += 1
        try:
            async for event in self._changes(submission, allowed):
                yield event
        finally:
            self._open[account] -= 1
            self._open = +self._open  # drop zero counts

    async def _changes(
        self, submission: KnownSubmission, allowed: Callable[[], bool]
    ) -> AsyncGenerator[bytes]:
        end = self._clock() + _MAX_SECONDS
        shown: tuple[KnownSubmission, int] | None = None
        last_sent = self._clock()
        known: KnownSubmission | None = submission
        while known is not None and self._clock() < end:
            now = known, await run_in_threadpool(self._submissions.games_played, known.id)
            due = now != shown or self._clock() - last_sent > _QUIET_SECONDS
            if due and not await run_in_threadpool(allowed):
                return
            if now != shown:
                shown, last_sent = now, self._clock()
                games = await run_in_threadpool(self._submissions.games, known.id)
                whole = await run_in_threadpool(whole_document, known, games)
                yield b"event: stage\ndata: " + msgspec.json.encode(whole) + b"\n\n"
                if known.stage.over:
                    return
            elif due:
                last_sent = self._clock()
                yield b": still here\n\n"
            await asyncio.sleep(_POLL_SECONDS)
            known = await run_in_threadpool(self._submissions.find, submission.id)


_SHA256: Final = r"^[0-9A-Fa-f]{64}$"
_MAX_BYTES: Final = 1 << 50
"""Never reached: the receiver of the file enforces the limit for each kind."""

_FILE: Final[dict[str, Any]] = {
    "requestBody": {
        "description": "The file.",
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
_EVENTS: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "The events. The schema describes an event's data.",
        "content": {
            EventStream.media_type: {
                "schema": {
                    "type": "object",
                    "required": ["event", "data"],
                    "properties": {
                        "event": {"const": "stage"},
                        "data": {
                            "type": "string",
                            "contentMediaType": "application/json",
                            "contentSchema": {"$ref": "#/components/schemas/WholeSubmission"},
                        },
                    },
                }
            }
        },
    }
}
_REJECTED: Final = problems(
    {
        408: "The upload stalled, was too slow, or was replaced by another upload.",
        409: (
            "The bot belongs to another account or was disqualified, or this file is already being processed "
            "or is already a version."
        ),
        413: "The file is too large.",
        429: "A quota has been reached.",
        503: (
            "Too many uploads are in progress in total, from this address or by this account; the arena "
            "isn't running submitted bots; or its database is not responding."
        ),
        507: "The arena's disk is full.",
    }
)

SubmissionId = Annotated[str, Path(alias="id", pattern=r"^[0-9a-f]{1,64}$", description="A submission's id.")]
GameOfIt = Annotated[
    str, Path(pattern=r"^[0-9a-z-]{1,64}$", description="The id of one of the submission's games.")
]


def submission_api(
    repository: SubmissionRepository, owners: Owners, receiver: Receiver, metrics: SiteMetrics
) -> APIRouter:
    """Return the routes for submissions."""
    router = DataRouter("submissions")
    streams = SubmissionEvents(repository)

    @router.put(
        "/bots/{bot}/submissions",
        status_code=201,
        responses=located("The address of the submission.") | _REJECTED,
        openapi_extra=_FILE,
        max_body_size=_MAX_BYTES,
    )
    async def submit(  # noqa: PLR0913, PLR0917 - the parameters of an upload
        request: Request,
        response: Response,
        caller: Owner,
        bot: Annotated[str, Path(description="The bot's name; a new name creates a new bot.")],
        kind: Annotated[UploadKind, Query(description="The kind of file.")],
        note: Annotated[str, Query(description="A note for you and the operators.")] = "",
        sha256: Annotated[
            str | None,
            Query(pattern=_SHA256, description="SHA-256 of the file. Files with other digests are refused."),
        ] = None,
        check_only: Annotated[  # noqa: FBT002 - a query parameter
            bool,
            Query(
                description="Run the qualification without creating a version: the last stage is `passed`."
            ),
        ] = False,
    ) -> Submission:
        """Send a file for a new version of a bot, or for a check.

        The body may be chunked, without a length. Checks and submissions have separate quotas of equal size.
        """
        length = request.headers.get("content-length")
        upload = Upload(
            bot=bot,
            author=caller.account.name,
            account=caller.account.id,
            kind=kind,
            source=network_of_visitor(request),
            note=note,
            size=None if length is None else int(length),
            sha256=sha256,
            check_only=check_only,
        )
        received = False
        try:
            async with _in_threads(receiver.begin(upload)) as incoming:
                submission = await _receive(request, incoming)
            received = True
        except REFUSED as error:
            raise refusal(error) from error
        finally:
            metrics.count_upload(received=received)
        response.headers["Location"] = f"{PREFIX}/submissions/{submission.id}"
        return submission

    @router.get("/submissions", responses=LISTED)
    def submissions(
        caller: Reader, next_page: Next, bot: OfBot = None, before: Before = None, limit: Limit = 50
    ) -> SubmissionList:
        """List the caller's submissions for one bot or for all bots, newest first."""
        found = repository.newest(account=caller.account.id, bot=bot, before=before, limit=limit + 1)
        shown = found[:limit]
        return SubmissionList(
            submissions=shown,
            next=next_page(before=shown[-1].number) if len(found) > limit else None,
        )

    @router.get("/submissions/{id}")
    def submission(caller: Reader, id_: SubmissionId) -> WholeSubmission:
        """Return a submission with its games."""
        return whole_document(own_submission(repository, caller, id_), repository.games(id_))

    @router.delete(
        "/submissions/{id}",
        status_code=204,
        responses=problems({409: "The submission is not in progress: it has ended."}),
    )
    def cancel(caller: Owner, id_: SubmissionId) -> None:
        """Cancel your submission in progress. It still counts towards the quota."""
        _cancel(owners, caller, own_submission(repository, caller, id_))

    @router.get("/submissions/{id}/games/{game}/replay", responses={200: {"model": PublicReplay}})
    def replay(caller: Reader, id_: SubmissionId, game: GameOfIt) -> Response:
        """Return the replay of one of a submission's games."""
        own_submission(repository, caller, id_)
        return Response(_replay(repository, id_, game), media_type="application/json")

    @router.get("/submissions/{id}/events", response_class=EventStream, responses=_EVENTS)
    def events(request: Request, caller: Reader, id_: SubmissionId) -> EventStream:
        """Follow a submission until it ends.

        Each event is named ``stage``, and its data is the submission with its games. One event is sent
        immediately, and others at each change and after each game. The stream ends when the submission ends
        or access is lost, and after ten minutes at the latest. An account can have ten streams at a time;
        any further stream ends immediately, and must be requested again later.
        """
        known = own_submission(repository, caller, id_)

        def allowed() -> bool:
            return may_read(find_caller(request), known.account)

        # A proxy that buffers the stream would delay each stage.
        stream = streams.events(known, caller.account.id, allowed)
        return EventStream(stream, headers={"X-Accel-Buffering": "no"})

    return router


@asynccontextmanager
async def _in_threads(context: AbstractContextManager[T]) -> AsyncIterator[T]:
    """Enter and exit a context in threads.

    When the site stops, it cancels each request twice. The context still exits, because the event loop waits
    for its own threads, but not for FastAPI's.
    """
    in_thread = partial(asyncio.get_running_loop().run_in_executor, None)
    entered = await in_thread(context.__enter__)
    try:
        yield entered
    finally:
        await asyncio.shield(in_thread(context.__exit__, *sys.exc_info()))


async def _receive(request: Request, incoming: Incoming) -> KnownSubmission:
    """Receive a file. Raises Problem (401) if the token or session has ended in the meantime."""
    async for piece in pieces(request):
        await run_in_threadpool(incoming.write, piece)
    if await run_in_threadpool(find_caller, request) is None:
        raise Problem(
            401, "The token was revoked or the session ended during the upload: log in or use another token."
        )
    return await run_in_threadpool(incoming.finish)


def own_submission(repository: SubmissionRepository, asking: Caller | Viewer, id_: str) -> KnownSubmission:
    """Return a submission. Raises Problem (404) if ``asking`` may not see it."""
    known = repository.find(id_)
    if known is None or not asking.may_see(known.account):
        raise Problem(404, "You have no such submission.")
    return known


def _cancel(owners: Owners, caller: Caller, known: KnownSubmission) -> None:
    if known.account != caller.account.id:  # operators see all submissions, but can cancel only their own
        raise Problem(404, "You have no such submission.")
    if not owners.cancel(known.id):
        raise Problem(409, f"The submission is not in progress: its stage is `{known.stage}`.")


def _replay(repository: SubmissionRepository, id_: str, game: str) -> str:
    found = repository.replay(id_, game)
    if found is None:
        raise Problem(404, "This submission has no such game.")
    return found
