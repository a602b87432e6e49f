"""Submissions for their authors: the form, the list, progress and games."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Final

import structlog
from fastapi import APIRouter, HTTPException, Request, Response

from arena.db.store import Store
from arena.db.submissions import KnownSubmission
from arena.images.image import DEFAULT_LIMITS
from arena.ladder.qualification import GAMES
from arena.languages.language import MAX_SOURCE_BYTES
from arena.languages.registry import LANGUAGES, UploadKind
from arena.platform.files import shared_folder
from arena.protocol.sandbox_controls import UntrustedBotsRefused
from arena.protocol.states import MatchState
from arena.protocol.submissions import Stage, SubmissionGame
from arena.submissions.document import whole_document
from arena.submissions.receiver import NOTE_LENGTH, Receiver
from web.docs.pages import Downloads
from web.games.pages import private_game_pages
from web.http.api import PREFIX
from web.http.authentication import Session
from web.http.parameters import Before, GameId, query_string
from web.http.rendering import PageRouter, bot_address, page, viewer_of
from web.submissions.api import SubmissionId, own_submission
from web.viewer.screen import Shown

_log = structlog.get_logger()


class StepState(StrEnum):
    """The state of a submission's step."""

    DONE = "done"
    NOW = "now"
    AHEAD = "ahead"
    NEVER = "never"
    """Not reached: the submission ended earlier."""
    FAILED = "failed"
    """The submission was rejected here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressStep:
    """A stage of a submission."""

    stage: Stage
    state: StepState
    at: datetime | None  # when it was reached, UTC; None if it wasn't
    took: timedelta | None  # since the previous step was reached; None for the first step or if `at` is None


def steps(submission: KnownSubmission) -> tuple[ProgressStep, ...]:
    """Return a submission's four steps; the last is active, passed or rejected."""
    end = Stage.PASSED if submission.check_only else Stage.ACTIVE
    if submission.stage is Stage.REJECTED:
        end = Stage.REJECTED
    moments = {
        Stage.RECEIVED: submission.received,
        Stage.INSPECTED: submission.inspected,
        Stage.QUALIFYING: submission.qualifying,
        end: submission.ended,
    }
    steps: list[ProgressStep] = []
    before: datetime | None = None
    for stage, at in moments.items():
        took = None if at is None or before is None else at - before
        steps.append(ProgressStep(stage=stage, state=_state(submission.stage, stage, at), at=at, took=took))
        before = at or before
    return tuple(steps)


def _state(reached: Stage, stage: Stage, at: datetime | None) -> StepState:
    if at is None:
        return StepState.NEVER if reached.over else StepState.AHEAD
    if stage is Stage.REJECTED:
        return StepState.FAILED
    return StepState.NOW if stage is reached and not reached.over else StepState.DONE


@dataclass(frozen=True, slots=True, kw_only=True)
class QualificationLine:
    """A qualification game."""

    number: int | None  # from 1; None for a game that an arena fault stopped and that will be repeated
    again: bool  # whether an earlier game with this number didn't count because the host was busy
    reason: str | None  # the cause of its last arena fault; None if there was none
    document: SubmissionGame  # the rest, as in the API


def read_games(store: Store, known: KnownSubmission) -> tuple[QualificationLine, ...]:
    """Read a submission's games, in order."""
    games = store.submissions.games(known.id)
    lines: list[QualificationLine] = []
    for game, document in zip(games, whole_document(known, games).games, strict=True):
        number = None if game.state is MatchState.QUARANTINED else document.number
        again = number is not None and any(line.number == number for line in lines)
        lines.append(QualificationLine(number=number, again=again, reason=game.reason, document=document))
    return tuple(lines)


def _count_ahead(store: Store, known: KnownSubmission) -> int:
    """Return the number of submissions that are processed before this one, or 0 if it has been inspected."""
    if known.stage is not Stage.RECEIVED:
        return 0
    ahead = [each for each in store.submissions.open_submissions() if each.number < known.number]
    own = sum(each.bot == known.bot for each in ahead)
    next_of_bots = {
        each.bot: each for each in reversed(ahead) if each.bot != known.bot
    }  # one per bot at a time
    return own + sum(each.stage is Stage.RECEIVED and each.waiting is None for each in next_of_bots.values())


PER_PAGE: Final = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sample:
    """A sample bot to start from."""

    kind: str
    title: str
    source: str


def samples(folder: Path) -> tuple[_Sample, ...]:
    """Read the sample bots to start from. The source of an unreadable one is empty."""
    return tuple(
        _Sample(
            kind=language.name,
            title=language.title,
            source=_source(folder / language.sample / language.file),
        )
        for language in LANGUAGES
    )


def _source(file: Path) -> str:
    try:
        return file.read_text()
    except OSError as error:
        _log.warning("sample bot unreadable", file=str(file), error=error.strerror)
        return ""


_KINDS: Final = (
    *(
        {
            "kind": language.name,
            "title": language.title,
            "suffixes": language.suffixes,
            "maxBytes": MAX_SOURCE_BYTES,
        }
        for language in LANGUAGES
    ),
    {
        "kind": UploadKind.IMAGE.value,
        "title": "An image archive",
        "suffixes": (),
        "maxBytes": DEFAULT_LIMITS.archive_bytes,
    },
)
"""Kinds of files, each with its size limit and the file name suffixes that select it."""


def submission_pages(store: Store, receiver: Receiver, downloads: Downloads) -> APIRouter:
    """Return the routes for submissions. All but the editor require a session; programs use the API."""
    router = PageRouter(private=True)
    pages = _Submissions(store, receiver, downloads)
    router.add_api_route("/submit", pages.form)
    router.add_api_route("/submissions", pages.listed)
    router.add_api_route("/submissions/{id}", pages.one)
    start = PageRouter()
    start.add_api_route("/start", pages.start)
    games = private_game_pages(pages.game, store.logs, base="/submissions/{id}/games")
    games.routes += router.routes
    games.routes += start.routes
    return games


class _Submissions:
    """The pages' request handlers."""

    def __init__(self, store: Store, receiver: Receiver, downloads: Downloads) -> None:
        self._store = store
        self._receiver = receiver
        self._downloads = downloads

    def start(self, request: Request, bot: str = "", kind: str = "") -> Response:
        """Show the editor to everyone; only logged-in users can submit."""
        account = viewer_of(request).account
        found = samples(shared_folder() / "bots")
        bot = bot if bot_address(bot) else ""
        kind = kind if any(kind == each.kind for each in found) else ""
        return page(
            request,
            "start.html",
            address=f"/start{query_string({'bot': bot, 'kind': kind}, {})}",
            bot=bot,
            bots=() if account is None else self._store.bots.of_account(account),
            samples=found,
            kind=kind,
            max_bytes=MAX_SOURCE_BYTES,
            is_open=self._is_open(),
            qualification_games=GAMES,
            downloads=self._downloads,
        )

    def form(self, request: Request, session: Session, bot: str = "") -> Response:
        account = session.account
        return page(
            request,
            "submit.html",
            bot=bot if bot_address(bot) else "",
            bots=self._store.bots.of_account(account.id),
            allowance=self._receiver.allowance(account.name, account.id),
            is_open=self._is_open(),
            limits=DEFAULT_LIMITS,
            max_bytes=MAX_SOURCE_BYTES,
            note_length=NOTE_LENGTH,
            languages=LANGUAGES,
            kinds=_KINDS,
            downloads=self._downloads,
        )

    def listed(self, request: Request, session: Session, before: Before = None) -> Response:
        found = self._store.submissions.newest(account=session.account.id, before=before, limit=PER_PAGE + 1)
        shown = found[:PER_PAGE]
        older = shown[-1].number if len(found) > len(shown) else None
        return page(request, "submissions.html", submissions=shown, older=older, before=before)

    def one(self, request: Request, id_: SubmissionId) -> Response:
        store = self._store
        known = own_submission(store.submissions, viewer_of(request), id_)
        bot = store.bots.find(known.bot)
        return page(
            request,
            "submission.html",
            submission=known,
            steps=steps(known),
            queued=_count_ahead(store, known),
            lines=read_games(store, known),
            bot=bot if bot is not None and bot.account == known.account else None,
            first_game=None if known.version is None else store.games.first_of(known.bot, known.version),
            qualification_games=GAMES,
        )

    def game(self, request: Request, id_: SubmissionId, game: GameId) -> Shown:
        known = own_submission(self._store.submissions, viewer_of(request), id_)
        line = next((each for each in read_games(self._store, known) if each.document.game == game), None)
        replay = self._store.submissions.replay(id_, game)
        if line is None or replay is None:
            raise HTTPException(404, "This submission has no such game.")
        home = f"/submissions/{id_}/games/{game}"
        return Shown(
            title=f"Qualification of {known.bot}, game {line.number}",
            replay=replay,
            home=home,
            base=home,
            download=f"{PREFIX}{home}/replay",
            above=(("/submissions", "Submissions"), (f"/submissions/{id_}", known.bot)),
            candidate=line.document.seat,
        )

    def _is_open(self) -> bool:
        try:
            self._receiver.admit()
        except UntrustedBotsRefused:
            return False
        return True
