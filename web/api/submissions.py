"""Submissions for programs: send a file, see what became of it, follow it until its end."""

from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import contextmanager_in_threadpool, run_in_threadpool

from arena.accounts import Scope
from arena.replay.document import PublicReplay
from arena.store import Desk, KnownSubmission
from arena.submitting.document import Submission, WholeSubmission, document, whole_document
from arena.submitting.receiver import Upload
from arena.submitting.stages import UploadKind
from web.api.description import located, problems
from web.api.guard import Guard, may_see
from web.api.paging import LISTED, Limit, Next
from web.api.refusals import REFUSED, refusal
from web.api.routes import PREFIX, DataRouter
from web.caller import Caller, Callers
from web.following import EventStream, Following
from web.problems import Problem
from web.reading import Before, OfBot
from web.receiving import pieces
from web.uploaded import Begin

_SHA256: Final = r"^[0-9A-Fa-f]{64}$"
_MOST_BYTES: Final = 1 << 50
"""Never reached: what receives the file counts itself, and knows what each kind may have."""

_FILE: Final[dict[str, Any]] = {
    "requestBody": {
        "description": "The file.",
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
_EVENTS: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": "The events; the schema is that of each.",
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
                            "contentSchema": {"$ref": "#/components/schemas/Submission"},
                        },
                    },
                }
            }
        },
    }
}
_NOT_TAKEN: Final = problems(
    {
        408: "The sender fell silent, or was too slow.",
        409: (
            "The bot's name belongs to somebody else, the bot was disqualified, or this very file is "
            "on its way or a version already."
        ),
        413: "The file is too large.",
        429: "A quota is used up.",
        503: (
            "Others' files or one of this account are being received, the arena takes no bots of "
            "strangers, or its database does not answer."
        ),
        507: "The arena's disk is full.",
    }
)

SubmissionId = Annotated[str, Path(alias="id", pattern=r"^[0-9a-f]{1,64}$", description="Of a submission.")]
GameOfIt = Annotated[str, Path(pattern=r"^[0-9a-z-]{1,64}$", description="Of one of its games.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionList:
    """A page of submissions.

    Attributes:
        submissions: Newest first.
        next: The address of the next page, or null.
    """

    submissions: tuple[Submission, ...]
    next: str | None


def submission_api(desk: Desk, begin: Begin, callers: Callers) -> APIRouter:
    """Return the routes of submissions."""
    router = DataRouter("submissions")
    guard = Guard(callers)
    Sender = Annotated[Caller, guard(Scope.SUBMIT)]  # noqa: N806 - a type
    Reader = Annotated[Caller, guard(Scope.READ)]  # noqa: N806 - a type
    following = Following(desk)

    @router.put(
        "/bots/{bot}/submissions",
        status_code=201,
        responses=located("The address of the submission.") | _NOT_TAKEN,
        openapi_extra=_FILE,
        max_body_size=_MOST_BYTES,
    )
    async def submit(  # noqa: PLR0913, PLR0917 - what is said of a file
        request: Request,
        response: Response,
        caller: Sender,
        bot: Annotated[str, Path(description="Its name; a new one makes a new bot.")],
        kind: Annotated[UploadKind, Query(description="What the file is.")],
        note: Annotated[str, Query(description="For its author and operators.")] = "",
        sha256: Annotated[
            str | None, Query(pattern=_SHA256, description="Of the file; another is refused.")
        ] = None,
    ) -> Submission:
        """Send a file for a new version of a bot.

        It may come in chunks, without a length.
        """
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
        except REFUSED as error:
            raise refusal(error) from error
        response.headers["Location"] = f"{PREFIX}/submissions/{made.id}"
        return document(made)

    @router.get("/submissions", responses=LISTED)
    def submissions(
        caller: Reader, next_page: Next, bot: OfBot = None, before: Before = None, limit: Limit = 50
    ) -> SubmissionList:
        """List one's own submissions, newest first; of one bot, or of all."""
        found = desk.newest(account=caller.account.id, bot=bot, before=before, limit=limit + 1)
        shown = found[:limit]
        return SubmissionList(
            submissions=tuple(map(document, shown)),
            next=next_page(before=shown[-1].number) if len(found) > limit else None,
        )

    @router.get("/submissions/{id}")
    def submission(caller: Reader, id_: SubmissionId) -> WholeSubmission:
        """Return a submission with its games."""
        return whole_document(_own(desk, caller, id_), desk.games(id_))

    @router.get("/submissions/{id}/games/{game}/replay", responses={200: {"model": PublicReplay}})
    def replay(caller: Reader, id_: SubmissionId, game: GameOfIt) -> Response:
        """Return the replay of a game of a submission."""
        _own(desk, caller, id_)
        found = desk.replay(id_, game)
        if found is None:
            raise Problem(404, "This submission has no such game.")
        return Response(found, media_type="application/json")

    @router.get("/submissions/{id}/events", response_class=EventStream, responses=_EVENTS)
    def events(request: Request, caller: Reader, id_: SubmissionId) -> EventStream:
        """Follow a submission until its end.

        Each event is called ``stage``, and its data is the submission without its games: one now, and one at
        each change. The stream ends with the submission, with the right to see it, and after ten minutes in
        any case. An account may have ten at a time; a further one ends at once, and is to be asked for later.
        """
        known = _own(desk, caller, id_)

        def allowed() -> bool:
            now = callers.find(request)
            return now is not None and Scope.READ in now.scopes and may_see(now, known.account)

        # A proxy that collects the stream would show each stage late.
        made = following.events(known, caller.account.id, allowed)
        return EventStream(made, headers={"X-Accel-Buffering": "no"})

    return router


def _own(desk: Desk, caller: Caller, id_: str) -> KnownSubmission:
    """Return a submission that this caller may see. What others sent isn't there."""
    known = desk.find(id_)
    if known is None or not may_see(caller, known.account):
        raise Problem(404, "You have no such submission.")
    return known
