"""Submissions on the site, for their authors: sent by a form, listed, followed, and the games they play."""

from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import APIRouter, Depends, HTTPException, Path, Request, Response
from fastapi.responses import HTMLResponse

from arena.admission import StrangersRefused
from arena.intake.limits import DEFAULT_LIMITS
from arena.intake.wrap import MAX_SOURCE_BYTES
from arena.languages import LANGUAGES
from arena.names import WrongName, check_name
from arena.store import KnownSubmission, Store
from arena.submitting.qualification import GAMES
from arena.submitting.receiver import NOTE_LENGTH, Receiver
from arena.submitting.stages import UploadKind
from web.api.routes import PREFIX
from web.caller import Callers
from web.cookies import can_be_overheard
from web.pages.account import Session, logged_in
from web.pages.private_games import PrivateGame, private_game_pages
from web.privacy import viewer_of
from web.reading import Before, GameId
from web.rendering import page
from web.submissionpage import GameLine, read_games, read_submission_page
from web.viewer.screen import Shown

A_PAGE: Final = 25
_METHODS: Final = ["GET", "HEAD"]

SubmissionId = Annotated[str, Path(alias="id", pattern=r"^[0-9a-f]{1,64}$")]

_KINDS: Final = (
    *(
        {
            "kind": language.name,
            "title": language.title,
            "suffixes": language.suffixes,
            "most": MAX_SOURCE_BYTES,
        }
        for language in LANGUAGES
    ),
    {
        "kind": UploadKind.IMAGE.value,
        "title": "An image's archive",
        "suffixes": (),
        "most": DEFAULT_LIMITS.archive_bytes,
    },
)
"""What the form takes a file for, by its name, and the bytes that it may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Limits:
    """What may be sent, in bytes and characters."""

    archive: int = DEFAULT_LIMITS.archive_bytes
    unpacked: int = DEFAULT_LIMITS.image_bytes
    source: int = MAX_SOURCE_BYTES
    note: int = NOTE_LENGTH


def submission_pages(store: Store, receiver: Receiver, callers: Callers) -> APIRouter:
    """Return the routes of submissions. They take a session; programs have the API."""
    asked = [Depends(callers.note), Depends(logged_in)]
    router = APIRouter(default_response_class=HTMLResponse, dependencies=asked)
    pages = _Submissions(store, receiver)
    for path, action in (
        ("/submit", pages.form),
        ("/submissions", pages.listed),
        ("/submissions/{id}", pages.one),
    ):
        router.add_api_route(path, action, methods=_METHODS)
    games = private_game_pages(pages.game, store.reads, callers, base="/submissions/{id}/games")
    games.include_router(router)
    return games


class _Submissions:
    """Answers the requests."""

    def __init__(self, store: Store, receiver: Receiver) -> None:
        self._store = store
        self._receiver = receiver

    def form(self, request: Request, session: Session, bot: str = "") -> Response:
        account = session.account
        return page(
            request,
            "submit.html",
            bot=bot if _is_name(bot) else "",
            bots=self._store.bots.of_account(account.id),
            allowance=self._receiver.allowance(account.name, account.id),
            is_open=self._is_open(),
            limits=_Limits(),
            languages=LANGUAGES,
            kinds=_KINDS,
            site=str(request.base_url).rstrip("/"),
            can_be_overheard=can_be_overheard(request),
        )

    def listed(self, request: Request, session: Session, before: Before = None) -> Response:
        found = self._store.desk.newest(account=session.account.id, before=before, limit=A_PAGE + 1)
        shown = found[:A_PAGE]
        older = shown[-1].number if len(found) > len(shown) else None
        return page(request, "submissions.html", submissions=shown, older=older, before=before)

    def one(self, request: Request, id_: SubmissionId) -> Response:
        known = self._own(request, id_)
        shown = read_submission_page(self._store, known)
        return page(request, "submission.html", submission=known, shown=shown, games_of_it=GAMES)

    def game(self, request: Request, id_: SubmissionId, game: GameId) -> PrivateGame:
        known = self._own(request, id_)
        line = next((each for each in read_games(self._store, known) if each.told.game == game), None)
        replay = self._store.desk.replay(id_, game)
        if line is None or replay is None:
            raise HTTPException(404, "This submission has no such game.")
        return _private_game(known, line, replay)

    def _own(self, request: Request, id_: str) -> KnownSubmission:
        """Return a submission that this viewer may see. What others sent isn't there."""
        known = self._store.desk.find(id_)
        if known is None or not viewer_of(request).may_see(known.account):
            raise HTTPException(404, "You have no such submission.")
        return known

    def _is_open(self) -> bool:
        try:
            self._receiver.admit()
        except StrangersRefused:
            return False
        return True


def _private_game(submission: KnownSubmission, line: GameLine, replay: str) -> PrivateGame:
    above = f"/submissions/{submission.id}"
    home = f"{above}/games/{line.told.game}"
    shown = Shown(
        title=f"Qualification of {submission.bot}, game {line.number}",
        replay=replay,
        home=home,
        base=home,
        download=f"{PREFIX}{home}/replay",
        embed=None,
    )
    return PrivateGame(
        shown=shown,
        above=(("/submissions", "Submissions"), (above, submission.bot)),
        candidate=line.told.seat,
    )


def _is_name(bot: str) -> bool:
    try:
        check_name(bot, "bot")
    except WrongName:
        return False
    return True
