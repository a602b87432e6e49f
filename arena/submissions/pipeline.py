"""Moves submitted files onto the ladder: through the stages, or directly if an operator submits them.

Each step of the pipeline starts from the stored stage and ends with one transaction that stores the next
stage. If a step is killed, the next run repeats it. After an arena fault, the submission waits, with the
reason shown, and is retried, unless the arena has lost its file or image.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile
from pathlib import Path
from typing import Final

import structlog

from arena.db.bots import NewVersion
from arena.db.errors import BotTaken, StoreError
from arena.db.store import Store
from arena.db.submissions import KnownSubmission, QualificationGame
from arena.images.image import BotImage, IntakeError, Rejected
from arena.images.intake import Intake
from arena.images.keeper import ImageKeeper
from arena.ladder.matchmaking import TooFewBots
from arena.ladder.qualification import GAMES, MAX_REPEATS, Played, standing
from arena.platform.names import WrongName, check_name, is_reserved
from arena.platform.periodic import Backoff, PeriodicTask
from arena.protocol.sandbox_controls import Gate
from arena.protocol.states import MatchState
from arena.protocol.submissions import HINTS, Cause, CauseKind, Stage
from arena.sandbox.runtime import EngineUnavailable, LaunchRefused, RuntimeFailure
from arena.scheduler.ladder import Ladder
from arena.submissions.uploads import Uploads

_log = structlog.get_logger()

_RETRY_SECONDS: Final = 10.0
_FILE_BACKOFF: Final = Backoff(first=10.0, maximum=600.0, factor=4.0)
"""Pauses between attempts to read, store or load an image. During an attempt, other submissions wait."""

_DEFECT_SECONDS: Final = 60.0
"""Pause before a submission is retried after an unexpected error."""

_QUARANTINE_BACKOFF: Final = Backoff(first=60.0, maximum=3600.0, factor=4.0)
"""Pauses after one of a submission's games has been quarantined, before the next one. They grow because the
image may be the cause, and every failed attempt delays all matches."""

_STEP_SECONDS: Final = 0.25
_PRUNE_SECONDS: Final = 600.0

_GATE_CLOSED: Final = (
    "this host can't isolate untrusted bots, or its sandbox has not been checked yet: "
    "ask the operator to run `arena doctor`"
)


_QUIET_SECONDS: Final = 20.0
"""Minimum pause before the arena repeats a game in which the host may have made the bot late."""

MAX_REPEAT_DELAY_SECONDS: Final = 60.0
"""Maximum wait for a quiet host, because some hosts are never quiet."""

_WAITING_FOR_QUIET_HOST: Final = (
    "the bot was late while the host was busy. Its games with faults will be repeated (repetition "
    f"{{replays}} of at most {MAX_REPEATS}). This does not count towards the quota"
)


class _Deferred(Exception):
    """The submission must wait. The message says why."""

    def __init__(self, why: str, delay: float = _RETRY_SECONDS) -> None:
        super().__init__(why)
        self.delay = delay


class Pipeline:
    """Moves submissions from stage to stage. An arena has one pipeline, which runs in one thread."""

    def __init__(  # noqa: PLR0913 - the stages' collaborators
        self,
        *,
        store: Store,
        uploads: Uploads,
        intake: Intake,
        keeper: ImageKeeper,
        check_source: Callable[[str], None],  # checks that an image can run, and loads it
        gate: Gate,
        ladder: Ladder,
        now: Callable[[], datetime],  # UTC
        clock: Callable[[], float],  # monotonic seconds: setting the wall clock back must not prolong a wait
    ) -> None:
        self._store = store
        self._uploads = uploads
        self._intake = intake
        self._keeper = keeper
        self._check_source = check_source
        self._gate = gate
        self._ladder = ladder
        self._now = now
        self._clock = clock
        self._deferred_until: dict[str, float] = {}
        self._waiting_since: dict[str, float] = {}  # start of the pause after a match, by the match's id
        # By the submission's id: how often its image couldn't be read, stored or loaded.
        self._failures: dict[str, int] = {}
        self._last_prune: float | None = None

    def step(self) -> None:
        """Advance every submission that is due; inspect at most one file. Raises StoreError."""
        waiting = self._store.submissions.open_submissions()
        self._prune(waiting)
        first: dict[str, KnownSubmission] = {}
        for submission in waiting:
            first.setdefault(submission.bot, submission)  # one version of a bot at a time
        self._deferred_until = {id_: end for id_, end in self._deferred_until.items() if end > self._clock()}
        self._failures = {each.id: self._failures[each.id] for each in waiting if each.id in self._failures}
        inspected = False
        for submission in first.values():
            if submission.id in self._deferred_until or (inspected and submission.stage is Stage.RECEIVED):
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
        except _Deferred as error:
            self._defer(submission, str(error), error.delay)
        except (IntakeError, RuntimeFailure, TooFewBots) as error:
            _log.warning(
                "submission waiting", submission=submission.id, stage=submission.stage, why=str(error)
            )
            self._defer(submission, str(error), self._retry_delay(submission, error))
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - a bug in the arena must not stop other submissions
            _log.exception("submission failed", submission=submission.id, stage=submission.stage)
            self._defer(submission, f"internal arena error: {error!r}", _DEFECT_SECONDS)

    def _defer(self, submission: KnownSubmission, why: str, delay: float) -> None:
        self._deferred_until[submission.id] = self._clock() + delay
        if submission.waiting != why:
            self._store.submissions.wait(submission.id, why)

    def _retry_delay(self, submission: KnownSubmission, error: Exception) -> float:
        """Return the pause in seconds before the next try.

        It grows if the cause may be the file: each try takes long, and other submissions wait meanwhile.
        """
        if isinstance(error, (EngineUnavailable, TooFewBots)):
            return _RETRY_SECONDS
        self._failures[submission.id] = times = self._failures.get(submission.id, 0) + 1
        return _FILE_BACKOFF.after(times)

    def _inspect(self, submission: KnownSubmission) -> None:
        file = self._uploads.path(submission.id, submission.kind)
        if not file.is_file():
            self._reject(submission, CauseKind.LOST, "the arena lost the file, through no fault of yours")
            return
        try:
            image = _take(self._intake, self._keeper, file)
        except Rejected as error:
            self._reject(submission, CauseKind.FILE, str(error))
        else:
            same = self._store.submissions.same_image(submission.bot, image.id)
            if same is None:
                self._store.submissions.mark_inspected(submission.id, image.id, self._now())
            else:
                self._reject(submission, CauseKind.SAME, f"this is the same image as {same}")
        self._uploads.remove(submission.id, submission.kind)

    def _load(self, submission: KnownSubmission) -> None:
        if self._gate.house_only:
            raise _Deferred(_GATE_CLOSED)
        source = _source(submission)
        if not self._keeper.has(source):
            self._reject(submission, CauseKind.LOST, "the arena lost the image, through no fault of yours")
            return
        try:
            self._check_source(source)
        except LaunchRefused as error:
            self._reject(submission, CauseKind.START, str(error))
        else:
            self._store.submissions.mark_qualifying(submission.id, self._now())
            self._ladder.qualify(submission.id, 0, 0)

    def _qualify(self, submission: KnownSubmission) -> None:
        games = self._store.submissions.games(submission.id)
        last = games[-1] if games else None
        if last is not None and last.state in {MatchState.WAITING, MatchState.RUNNING}:
            why = _GATE_CLOSED if self._gate.house_only else last.reason
            if why != submission.waiting:
                self._store.submissions.wait(submission.id, why)
            return
        played = [_played(game) for game in games if game.state is MatchState.DONE]
        if last is not None and last.state is MatchState.QUARANTINED:
            failed = takewhile(lambda game: game.state is MatchState.QUARANTINED, reversed(games))
            pause = _QUARANTINE_BACKOFF.after(len(tuple(failed)))
            if self._wait_so_far(last.match) < pause:
                raise _Deferred(f"the arena could not play a game: {last.reason}", pause)
        now = standing(played)
        if now.cause is not None:
            self._record_rejection(submission, now.cause)
            return
        dropped = bool(played) and now.games[-1:] != tuple(played[-1:])
        if dropped and last is not None:
            waited = self._wait_so_far(last.match)
            if waited < _QUIET_SECONDS or (waited < MAX_REPEAT_DELAY_SECONDS and self._hosts_are_busy()):
                raise _Deferred(_WAITING_FOR_QUIET_HOST.format(replays=now.replays), _QUIET_SECONDS)
        if len(now.games) < GAMES:
            self._ladder.qualify(submission.id, len(played), len(now.games))
        else:
            self._enter(submission)

    def _wait_so_far(self, match: str) -> float:
        """Return the seconds since the first call for this match, which is when the wait began."""
        now = self._clock()
        return now - self._waiting_since.setdefault(match, now)

    def _hosts_are_busy(self) -> bool:
        """Return True if other programs keep every host from using all of its slots."""
        workers = self._store.leases.workers()
        return bool(workers) and all(worker.status.usable is not None for worker in workers)

    def _enter(self, submission: KnownSubmission) -> None:
        if submission.check_only:
            self._store.submissions.mark_passed(submission.id, self._now())
            _log.info("check passed", submission=submission.id, bot=submission.bot)
            return
        try:
            version = self._store.submissions.activate(submission.id, self._now())
        except BotTaken as error:
            self._reject(submission, CauseKind.NAME, str(error))
            return
        _log.info("version activated", submission=submission.id, bot=submission.bot, version=version)
        # The author is waiting, so don't make the bot wait until the queue is empty.
        self._ladder.add_match()

    def _reject(self, submission: KnownSubmission, kind: CauseKind, text: str) -> None:
        self._record_rejection(
            submission, Cause(stage=submission.stage, kind=kind, text=text, hint=HINTS[kind])
        )

    def _record_rejection(self, submission: KnownSubmission, cause: Cause) -> None:
        self._store.submissions.reject(submission.id, cause, self._now())
        _log.info("submission rejected", submission=submission.id, bot=submission.bot, kind=cause.kind)

    def _prune(self, waiting: tuple[KnownSubmission, ...]) -> None:
        """Remove files that killed processes left behind, and files that submissions no longer need."""
        moment = self._clock()
        if self._last_prune is not None and moment - self._last_prune < _PRUNE_SECONDS:
            return
        self._last_prune = moment
        names = {
            self._uploads.path(each.id, each.kind).name for each in waiting if each.stage is Stage.RECEIVED
        }
        self._uploads.prune(names, self._now())


def _take(intake: Intake, keeper: ImageKeeper, file: Path) -> BotImage:
    """Store a file's image, and record which images were pruned for it.

    Raises StoreError, and what :meth:`arena.images.intake.Intake.take` raises.
    """
    try:
        return intake.take(file, keeper.prune_policy())
    finally:  # images may have been pruned even if this one didn't fit
        keeper.record_missing_images()


def _source(submission: KnownSubmission) -> str:
    if submission.source is None:
        raise ValueError(f"submission {submission.id} is {submission.stage} but has no image")
    return submission.source


def _played(game: QualificationGame) -> Played:
    played = game.played
    if played is None:
        raise ValueError(f"match {game.match} is done but has no record")
    return played


def steps_of(pipeline: Pipeline) -> PeriodicTask:
    """Return the recurring task that calls :meth:`Pipeline.step`."""
    return PeriodicTask(pipeline.step, name="submissions", seconds=_STEP_SECONDS, expected=(StoreError,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """The result of a submission."""

    bot: str
    version: int
    image: BotImage
    new: bool  # False if the bot's latest version, here `version`, already had this image


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorSubmissions:
    """Submits files for operators."""

    store: Store
    intake: Intake
    keeper: ImageKeeper
    check_source: Callable[[str], None]  # checks that an image can run, and loads it
    accepted: Collection[str]  # names of the missing controls that the operator accepts
    now: Callable[[], datetime]  # UTC

    def submit(self, bot: str, author: str, file: Path) -> Submitted:
        """Enter a file as a bot's latest version; create the bot if it is new.

        If the author has an account, the bot belongs to it. After an error, no version is entered, and
        leftovers are pruned later. Raises BotTaken, StoreError, UntrustedBotsRefused or WrongName. Raises
        IntakeError if the arena can't process the file now, LaunchRefused if the engine can't run the
        image, Rejected if the file is unusable, and RuntimeFailure if the engine is not responding or could
        not load the image.
        """
        check_name(bot, "bot")
        author, account = self._author(author)
        self.store.activity.check_admission(self.accepted)
        before = self.store.bots.find(bot)
        if before is not None and not before.is_of(author, account):
            raise BotTaken(f"the name {bot} belongs to a bot by {before.author}: choose another")
        image = _take(self.intake, self.keeper, file)
        self.check_source(image.id)
        self.store.bots.add_version(
            NewVersion(
                bot=bot,
                author=author,
                house=False,
                source=image.id,
                created=self.now(),
                account=account,
            )
        )
        after = self.store.bots.find(bot)
        number = 1 if after is None else after.version
        return Submitted(bot=bot, version=number, image=image, new=before is None or before.version != number)

    def _author(self, name: str) -> tuple[str, int | None]:
        """Return the author's name as spelled in their account, and the account's id if they have one."""
        check_name(name, "author")
        found = self.store.accounts.account(name)
        if found is not None:
            return found.account.name, found.account.id
        if is_reserved(name):
            raise WrongName(f"the name {name} is reserved for the arena: choose another author name")
        return name, None
