"""What becomes of received files, one step after another: inspect, load, qualify, enter.

Every step begins from what the store says, and ends with one transaction that says how far it has come. So it
does not matter where it is killed: the next run does the step again. What is the arena's own fault never ends
a submission; it waits, says why, and is tried again.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final, Protocol

import structlog

from arena.admission import Gate
from arena.imagekeeper import ImageKeeper
from arena.intake.errors import IntakeTrouble, Rejected
from arena.intake.intake import Intake
from arena.matchmaking import TooFewBots
from arena.recurring import Recurring
from arena.sandbox import LaunchRefused, RuntimeTrouble
from arena.services import Ladder
from arena.store import BotTaken, KnownSubmission, MatchState, QualificationGame, Store, StoreError
from arena.submitting.hints import HINTS
from arena.submitting.qualification import GAMES, Played, judge
from arena.submitting.stages import Cause, CauseKind, Stage
from arena.submitting.uploads import Uploads

_log = structlog.get_logger()

_RETRY_SECONDS: Final = 10.0
_PUT_ASIDE_SECONDS: Final = 60.0
"""How long a submission rests whose game the arena could not play."""

_STEP_SECONDS: Final = 0.25
_PRUNE_SECONDS: Final = 600.0

_CLOSED: Final = (
    "this host does not hold what has to hold bots of strangers, or has not been tried yet; "
    "the operator can see more with `arena doctor`"
)


class Engine(Protocol):
    """What will run the bots."""

    def check_source(self, source: str) -> None:
        """Make sure that an image can be run, and load it."""


class _Wait(Exception):
    """The arena lacks something. The text says what."""

    def __init__(self, why: str, rest: float = _RETRY_SECONDS) -> None:
        super().__init__(why)
        self.rest = rest


class Pipeline:
    """Brings submissions from stage to stage. One for an arena, in one thread.

    Args:
        store: Where they stand.
        uploads: Their files.
        intake: Makes their images.
        keeper: Knows how much room there is for these.
        engine: Runs them.
        gate: Whether strangers' bots play.
        ladder: Where they go.
        now: UTC.
        clock: Seconds, monotonic: a wall clock that is set back must let nobody rest for longer.
    """

    def __init__(  # noqa: PLR0913 - what a submission goes through
        self,
        *,
        store: Store,
        uploads: Uploads,
        intake: Intake,
        keeper: ImageKeeper,
        engine: Engine,
        gate: Gate,
        ladder: Ladder,
        now: Callable[[], datetime],
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._uploads = uploads
        self._intake = intake
        self._keeper = keeper
        self._engine = engine
        self._gate = gate
        self._ladder = ladder
        self._now = now
        self._clock = clock
        self._rest_until: dict[str, float] = {}
        self._rested: set[str] = set()
        self._pruned: float | None = None

    def step(self) -> None:
        """Do what is due for every submission; one file is inspected at most.

        Raises:
            StoreError: The database can't be used.
        """
        waiting = self._store.desk.on_their_way()
        self._prune(waiting)
        first: dict[str, KnownSubmission] = {}
        for submission in waiting:
            first.setdefault(submission.bot, submission)  # versions of a bot come one after another
        self._rest_until = {id_: end for id_, end in self._rest_until.items() if end > self._clock()}
        inspected = False
        for submission in first.values():
            if submission.id in self._rest_until or (inspected and submission.stage is Stage.RECEIVED):
                continue
            inspected |= submission.stage is Stage.RECEIVED
            self._advance(submission)

    def _advance(self, submission: KnownSubmission) -> None:
        try:
            match submission.stage:
                case Stage.RECEIVED:
                    self._inspect(submission)
                case Stage.INSPECTED:
                    self._load(submission)
                case Stage.QUALIFYING:
                    self._qualify(submission)
        except _Wait as error:
            self._let_wait(submission, str(error), error.rest)
        except (IntakeTrouble, RuntimeTrouble, TooFewBots) as error:
            _log.warning("submission waits", submission=submission.id, stage=submission.stage, why=str(error))
            self._let_wait(submission, str(error), _RETRY_SECONDS)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - a defect of the arena's own must not stop the others
            _log.exception("submission failed", submission=submission.id, stage=submission.stage)
            self._let_wait(submission, f"a fault of the arena's: {error!r}", _PUT_ASIDE_SECONDS)

    def _let_wait(self, submission: KnownSubmission, why: str, rest: float) -> None:
        self._rest_until[submission.id] = self._clock() + rest
        if submission.waiting != why:
            self._store.desk.wait(submission.id, why)

    def _inspect(self, submission: KnownSubmission) -> None:
        file = self._uploads.path(submission.id, submission.kind)
        if not file.is_file():
            self._reject(submission, CauseKind.LOST, "the arena has lost the file; this is its own fault")
            return
        try:
            image = self._intake.take(file, self._keeper.room())
        except Rejected as error:
            self._reject(submission, CauseKind.FILE, str(error))
        else:
            self._keeper.note_gone()
            same = self._store.desk.same_image(submission.bot, image.id)
            if same is None:
                self._store.desk.inspected(submission.id, image.id, self._now())
            else:
                self._reject(submission, CauseKind.SAME, f"this is the same image as {same}")
        self._uploads.remove(submission.id, submission.kind)

    def _load(self, submission: KnownSubmission) -> None:
        if self._gate.house_only:
            raise _Wait(_CLOSED)
        try:
            self._engine.check_source(_source(submission))
        except LaunchRefused as error:
            self._reject(submission, CauseKind.START, str(error))
        else:
            self._store.desk.qualifying(submission.id, self._now())
            self._ladder.qualify(submission.id, 0)

    def _qualify(self, submission: KnownSubmission) -> None:
        games = self._store.desk.games(submission.id)
        last = games[-1] if games else None
        if last is not None and last.state in {MatchState.WAITING, MatchState.RUNNING}:
            why = _CLOSED if self._gate.house_only else last.reason
            if why != submission.waiting:
                self._store.desk.wait(submission.id, why)
            return
        played = [_played(game) for game in games if game.state is MatchState.DONE]
        if last is not None and last.state is MatchState.QUARANTINED and last.match not in self._rested:
            self._rested.add(last.match)
            raise _Wait(f"the arena could not play a game: {last.reason}", _PUT_ASIDE_SECONDS)
        cause = judge(played)
        if cause is not None:
            self._end(submission, cause)
        elif len(played) < GAMES:
            self._ladder.qualify(submission.id, len(played))
        else:
            self._enter(submission)

    def _enter(self, submission: KnownSubmission) -> None:
        try:
            version = self._store.desk.activate(submission.id, self._now())
        except BotTaken as error:
            self._reject(submission, CauseKind.NAME, str(error))
            return
        _log.info("version entered", submission=submission.id, bot=submission.bot, version=version)
        # Whoever has waited for this needn't wait for the queue to run dry as well.
        self._ladder.add_set()

    def _reject(self, submission: KnownSubmission, kind: CauseKind, text: str) -> None:
        self._end(submission, Cause(stage=submission.stage, kind=kind, text=text, hint=HINTS[kind]))

    def _end(self, submission: KnownSubmission, cause: Cause) -> None:
        self._store.desk.reject(submission.id, cause, self._now())
        _log.info("submission rejected", submission=submission.id, bot=submission.bot, kind=cause.kind)

    def _prune(self, waiting: tuple[KnownSubmission, ...]) -> None:
        """Remove files of killed processes and of submissions that need theirs no more."""
        moment = self._clock()
        if self._pruned is not None and moment - self._pruned < _PRUNE_SECONDS:
            return
        self._pruned = moment
        names = {
            self._uploads.path(each.id, each.kind).name for each in waiting if each.stage is Stage.RECEIVED
        }
        self._uploads.prune(names, self._now())


def _source(submission: KnownSubmission) -> str:
    if submission.source is None:
        raise ValueError(f"submission {submission.id} is {submission.stage} and has no image")
    return submission.source


def _played(game: QualificationGame) -> Played:
    if game.report is None or game.record is None:
        raise ValueError(f"match {game.match} is done and has no record")
    return Played(rules=game.rules, seat=game.seat, report=game.report, game=game.record)


def steps_of(pipeline: Pipeline) -> Recurring:
    """Return what takes step after step."""
    return Recurring(pipeline.step, name="submissions", seconds=_STEP_SECONDS, expected=(StoreError,))
