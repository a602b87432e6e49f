"""Submissions for programs: send a file, see what became of it, follow it until its end."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Annotated, Final

import msgspec
from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import contextmanager_in_threadpool, run_in_threadpool
from fastapi.responses import StreamingResponse

from arena.accounts import Scope
from arena.admission import StrangersRefused
from arena.intake.limits import DEFAULT_LIMITS
from arena.names import WrongName
from arena.store import BotTaken, Desk, KnownSubmission, QuotaReached
from arena.submitting.document import document, whole_document
from arena.submitting.errors import NoRoom, TooLarge, UploadRefused
from arena.submitting.receiver import Incoming, Upload
from arena.submitting.stages import UploadKind
from web.api.guard import Guard
from web.caller import Caller, Callers
from web.following import Following
from web.problems import Problem
from web.receiving import pieces

_JSON: Final = "application/json"
_METHODS: Final = ["GET", "HEAD"]
_SHA256: Final = r"^[0-9A-Fa-f]{64}$"

SubmissionId = Annotated[str, Path(pattern=r"^[0-9a-f]{1,64}$")]
GameOfIt = Annotated[str, Path(pattern=r"^[0-9a-z-]{1,64}$")]

Begin = Callable[[Upload], AbstractContextManager[Incoming]]
"""What takes a file; see :class:`arena.submitting.receiver.Receiver`."""


def submission_api(desk: Desk, begin: Begin, callers: Callers) -> APIRouter:
    """Return the routes of submissions."""
    router = APIRouter(prefix="/api/v1")
    guard = Guard(callers)
    Sender = Annotated[Caller, guard(Scope.SUBMIT)]  # noqa: N806 - a type
    Reader = Annotated[Caller, guard(Scope.READ)]  # noqa: N806 - a type
    following = Following(desk)

    @router.put("/bots/{bot}/submissions", max_body_size=DEFAULT_LIMITS.archive_bytes)
    async def submit(  # noqa: PLR0913, PLR0917 - what is said of a file
        request: Request,
        caller: Sender,
        bot: str,
        kind: UploadKind,
        note: str = "",
        sha256: Annotated[str | None, Query(pattern=_SHA256)] = None,
    ) -> Response:
        length = request.headers.get("content-length")
        upload = Upload(
            bot=bot,
            author=caller.account.name,
            account=caller.account.id,
            kind=kind,
            note=note,
            size=None if length is None else int(length),
            sha256=sha256,
        )
        try:
            async with contextmanager_in_threadpool(begin(upload)) as incoming:
                async for piece in pieces(request):
                    await run_in_threadpool(incoming.write, piece)
                made = await run_in_threadpool(incoming.finish)
        except (BotTaken, QuotaReached, StrangersRefused, UploadRefused, WrongName) as error:
            raise _problem(error) from error
        where = {"Location": f"/api/v1/submissions/{made.id}"}
        return Response(msgspec.json.encode(document(made)), 201, where, _JSON)

    @router.api_route("/submissions", methods=_METHODS)
    def submissions(
        caller: Reader,
        bot: str | None = None,
        before: Annotated[int | None, Query(ge=1, le=2**63 - 1)] = None,
        limit: Annotated[int, Query(ge=1, le=100)] = 50,
    ) -> Response:
        found = desk.newest(account=caller.account.id, bot=bot, before=before, limit=limit)
        after = found[-1].number if len(found) == limit else None
        listed = {"submissions": [document(each) for each in found], "before": after}
        return Response(msgspec.json.encode(listed), media_type=_JSON)

    @router.api_route("/submissions/{id_}", methods=_METHODS)
    def submission(caller: Reader, id_: SubmissionId) -> Response:
        known = _own(desk, caller, id_)
        return Response(msgspec.json.encode(whole_document(known, desk.games(id_))), media_type=_JSON)

    @router.api_route("/submissions/{id_}/games/{game}/replay", methods=_METHODS)
    def replay(caller: Reader, id_: SubmissionId, game: GameOfIt) -> Response:
        _own(desk, caller, id_)
        found = desk.replay(id_, game)
        if found is None:
            raise Problem(404, "This submission has no such game.")
        return Response(found, media_type=_JSON)

    @router.get("/submissions/{id_}/events")
    def events(caller: Reader, id_: SubmissionId) -> Response:
        return StreamingResponse(
            following.events(_own(desk, caller, id_)),
            media_type="text/event-stream",
            # A proxy that collects the stream would show each stage late.
            headers={"X-Accel-Buffering": "no"},
        )

    return router


def _own(desk: Desk, caller: Caller, id_: str) -> KnownSubmission:
    """Return a submission that this caller may see. What others sent isn't there."""
    known = desk.find(id_)
    if known is None or not (known.account == caller.account.id or Scope.OPERATE in caller.scopes):
        raise Problem(404, "You have no such submission.")
    return known


def _problem(error: Exception) -> Problem:
    match error:
        case BotTaken():
            return Problem(409, f"{error}.", hint="Send it under another name.")
        case QuotaReached():
            return Problem(429, f"{error}.", hint="Wait, or ask whoever runs the arena for more.")
        case StrangersRefused():
            # The whole text is for the operator, and names what the host lacks.
            return Problem(
                503,
                "This arena takes no bots of strangers just now.",
                hint="Whoever runs it sees why with `arena doctor`.",
            )
        case NoRoom():
            return Problem(503, f"{error}.")
        case TooLarge():
            return Problem(413, f"{error}.", hint="Make the file smaller; docs/submitting.md has the limits.")
        case _:
            return Problem(422, f"{error}.")
