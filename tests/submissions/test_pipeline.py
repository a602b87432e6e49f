"""Tests of submissions' steps, with a real store and intake. After an arena fault, a submission waits."""

import gzip
import random
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path

import msgspec
import pytest

from arena.db.matches import Claim
from arena.db.quotas import Quota
from arena.db.store import Store
from arena.db.submissions import KnownSubmission
from arena.images.image import DEFAULT_LIMITS, Platform
from arena.images.intake import Bases, Intake
from arena.images.keeper import ImageKeeper
from arena.languages.registry import UploadKind
from arena.platform.files import Disk
from arena.play.referee.clock import HOST_DELAY_TEXT
from arena.protocol.faults import Fault
from arena.protocol.match import Limits, RuntimeName, WorkerStatus
from arena.protocol.sandbox_controls import Gate
from arena.protocol.states import MatchState
from arena.protocol.submissions import CauseKind, Stage
from arena.sandbox.runtime import LaunchRefused, RuntimeFailure
from arena.scheduler.ladder import Entropy, Ladder
from arena.submissions.pipeline import OperatorSubmissions, Pipeline
from arena.submissions.receiver import Receiver, Upload
from arena.submissions.uploads import Uploads
from tests.builders import finish, host_report
from tests.databases import sqlite_store
from tests.db.builders import add_account, add_bot, present
from tests.images.builders import NOW, store_in
from tests.images.test_intake import saved
from tests.patience import WAIT_SECONDS


class Engine:
    """An engine that loads every image, or fails on request."""

    def __init__(self) -> None:
        self.error: Exception | None = None

    def check_source(self, source: str) -> None:  # noqa: ARG002 - the pipeline's protocol
        """Raise the error set by the test, or do nothing."""
        if self.error is not None:
            raise self.error

    def prune_images(self) -> None:
        """Remove nothing."""


class Place:
    """A pipeline with clocks, engine and gate set by the test, which also plays the matches."""

    def __init__(self, folder: Path, store: Store) -> None:
        ids = (f"id{number}" for number in count())
        self.now = NOW
        self.seconds = 0.0
        self.store = store
        self.engine = Engine()
        self.gate = Gate()
        self.quota = 1 << 40
        # On a busy host a reader needs more than the usual 9 s.
        self.limits = msgspec.structs.replace(DEFAULT_LIMITS, wall_seconds=WAIT_SECONDS)
        self.uploads = Uploads(folder / "uploads", Disk(folder / "uploads", 0))
        self._images = store_in(folder)
        self._folder = folder
        dice = random.Random(3)  # noqa: S311 - reproducible
        chances = Entropy(
            now=self.time, new_id=lambda: next(ids), new_seed=lambda: dice.randbytes(16), dice=dice
        )
        self.ladder = Ladder(store, RuntimeName.DOCKER, chances, self.gate, Limits())
        plenty = Quota(submissions_a_day=99, bots=99, open_submissions=99)
        self.receiver = Receiver(store, self.uploads, plenty, self.time, lambda: next(ids))
        store.activity.record_host(host_report(), ())
        self.gate.decide(host_report(), ())
        self.start()

    def time(self) -> datetime:
        """Return the time."""
        return self.now

    def start(self) -> None:
        """Restart as after a kill: only the store and the files remain."""
        self.intake = Intake(
            self._images,
            Bases(find=lambda _: "", export=lambda _: iter(())),
            self._folder / "incoming",
            Platform("linux", "amd64"),
            self.time,
            limits=self.limits,
        )
        self.keeper = ImageKeeper(
            images=self._images,
            store=self.store,
            prune_engine=self.engine.prune_images,
            quota=self.quota,
            folder=self._folder / "incoming",
            now=self.time,
        )
        self.pipeline = Pipeline(
            store=self.store,
            uploads=self.uploads,
            intake=self.intake,
            keeper=self.keeper,
            check_source=self.engine.check_source,
            gate=self.gate,
            ladder=self.ladder,
            now=self.time,
            clock=lambda: self.seconds,
        )

    def send(self, bot: str = "mine", content: bytes | None = None, *, check_only: bool = False) -> str:
        """Send an image and return the submission's ID."""
        upload = Upload(bot=bot, author="ben", account=None, kind=UploadKind.IMAGE, check_only=check_only)
        with self.receiver.begin(upload) as incoming:
            incoming.write(saved(bot) if content is None else content)
            return incoming.finish().id

    def step(self, later: timedelta = timedelta(0)) -> None:
        """Advance the clock, and run a step."""
        self.now += later
        self.seconds += later.total_seconds()
        self.pipeline.step()

    def found(self, id_: str) -> KnownSubmission:
        """Return a submission, which must exist."""
        return present(self.store.submissions.find(id_))

    def stage(self, id_: str) -> Stage:
        """Return a submission's stage."""
        return self.found(id_).stage

    def claim(self) -> Claim:
        """Claim the next match, which must exist."""
        return present(self.store.leases.claim("here", "worker", self.now, RuntimeName.DOCKER))

    def play(self) -> None:
        """Play the next match without a fault."""
        dice = random.Random(5)  # noqa: S311 - reproducible
        assert self.store.results.record(finish(self.claim(), dice, ended=self.now))

    def play_late(self) -> None:
        """Play the next match with a candidate that never answers while its host is busy."""
        claim = self.claim()
        match = finish(claim, random.Random(5), ended=self.now)  # noqa: S311 - reproducible
        [seat] = [seat for seat, each in enumerate(claim.seats) if each.author == "ben"]
        [game] = match.games
        first = list(game.record.steps[0])
        first[seat] = replace(
            present(first[seat]), fault=Fault.ABSENT, trouble=f"no Hello, not counting 3 s {HOST_DELAY_TEXT}"
        )
        steps = (tuple(first), *game.record.steps[1:])
        record = replace(game.record, steps=steps)
        assert self.store.results.record(replace(match, games=(replace(game, record=record),)))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Create a place with four house bots."""
    with closing(sqlite_store(tmp_path / "arena.sqlite3")) as store:
        for name in "abcd":
            add_bot(store, name, author="house")
        yield Place(tmp_path, store)


RETRY = timedelta(minutes=2)


def test_a_step_leads_from_stage_to_stage(place: Place, tmp_path: Path) -> None:
    """A submission passes all stages up to its first rated match, even if a restart precedes each step."""
    id_ = place.send()
    seen = []
    for _ in range(6):
        place.start()
        place.step()
        seen.append(place.stage(id_))
        games = place.store.submissions.games(id_)
        if games and not seen[-1].over:
            place.step()
            assert place.store.submissions.games(id_) == games  # a repeated step does nothing
            place.play()
    assert seen == [Stage.INSPECTED, *[Stage.QUALIFYING] * 3, Stage.ACTIVE, Stage.ACTIVE]
    games = place.store.submissions.games(id_)
    assert [(game.rules.players, game.seat) for game in games] == [(2, 0), (3, 1), (5, 4)]
    assert list((tmp_path / "uploads").iterdir()) == []
    waiting = place.claim()
    assert "mine" in [seat.bot for seat in waiting.seats]
    assert len(waiting.spec.seeds) == 1


def test_a_check_qualifies_and_enters_nothing(place: Place) -> None:
    """A check creates no version, and the same file can be submitted afterwards."""
    id_ = place.send(check_only=True)
    for _ in range(6):
        place.step()
        if place.stage(id_) is Stage.QUALIFYING:
            place.play()
    checked = place.found(id_)
    assert (checked.stage, checked.version, checked.ended) == (Stage.PASSED, None, place.now)
    assert place.store.bots.find("mine") is None
    assert place.store.leases.claim("here", "worker", place.now, RuntimeName.DOCKER) is None
    place.step()
    assert place.stage(place.send()) is Stage.RECEIVED


def test_one_file_is_inspected_at_a_time_and_versions_come_in_order(place: Place) -> None:
    """While a file is inspected, others wait. A bot's next submission begins when the first is finished."""
    first, second, other = place.send(), place.send(content=saved("other one")), place.send("other")
    place.step()
    assert [place.stage(each) for each in (first, second, other)] == ["inspected", "received", "received"]
    place.step()
    assert [place.stage(each) for each in (first, second, other)] == ["qualifying", "received", "inspected"]


def test_the_same_image_in_another_archive_is_no_new_version(place: Place) -> None:
    """The same image in a different archive is rejected before it plays. The error names the version."""
    place.send()
    for _ in range(4):
        place.step()
        if place.store.submissions.open_submissions()[0].stage is Stage.QUALIFYING:
            place.play()
    place.step()
    again = place.found(place.send(content=gzip.compress(saved("mine"))))
    place.step()
    cause = present(place.found(again.id).cause)
    assert (cause.stage, cause.kind) == (Stage.RECEIVED, CauseKind.SAME)
    assert cause.text == "this is the same image as mine@1, which is already active"
    assert not place.uploads.path(again.id, again.kind).exists()


def test_a_submission_waits_while_the_gate_is_shut(place: Place) -> None:
    """The submission waits with a reason until untrusted bots are accepted."""
    place.gate.decide(host_report("swap"), ())
    id_ = place.send()
    place.step()
    place.step()
    assert place.stage(id_) is Stage.INSPECTED
    assert "can't isolate untrusted bots" in (place.found(id_).waiting or "")
    place.gate.decide(host_report(), ())
    place.step(RETRY)
    assert (place.stage(id_), place.found(id_).waiting) == (Stage.QUALIFYING, None)


def test_a_submission_waits_while_there_is_no_room(place: Place, tmp_path: Path) -> None:
    """The submission's file is kept until there is room for the image."""
    place.quota = 10
    place.start()
    id_ = place.send()
    place.step()
    assert place.stage(id_) is Stage.RECEIVED
    assert place.found(id_).waiting
    assert [file.name for file in (tmp_path / "uploads").iterdir()] == [f"{id_}.tar"]
    place.quota = 1 << 40
    place.start()
    place.step()
    assert (place.stage(id_), place.found(id_).waiting) == (Stage.INSPECTED, None)


@pytest.mark.parametrize("error", [RuntimeFailure("no engine"), ZeroDivisionError("a defect")])
def test_an_engine_failure_rejects_nothing(place: Place, error: Exception) -> None:
    """Engine failures and bugs of the arena are retried, while other submissions continue."""
    id_ = place.send()
    place.step()
    place.engine.error = error
    place.step()
    assert place.stage(id_) is Stage.INSPECTED
    assert str(error) in (place.found(id_).waiting or "")
    place.engine.error = None
    place.step()
    assert place.stage(id_) is Stage.INSPECTED  # it waits before the retry
    place.step(RETRY)
    assert place.stage(id_) is Stage.QUALIFYING


def test_an_image_that_the_engine_can_not_load_is_tried_less_and_less_often(place: Place) -> None:
    """Loading an image takes long, and other submissions wait meanwhile."""
    id_ = place.send()
    place.step()
    place.engine.error = RuntimeFailure("file name too long")
    place.step()
    place.step(RETRY)
    place.step(RETRY)
    place.engine.error = None
    place.step(RETRY)
    assert place.stage(id_) is Stage.INSPECTED
    place.step(RETRY)
    assert place.stage(id_) is Stage.QUALIFYING


def test_a_clock_that_is_set_back_delays_no_retry(place: Place) -> None:
    """A clock that is set ahead doesn't cause a retry too early either."""
    id_ = place.send()
    place.step()
    place.engine.error = RuntimeFailure("no engine")
    place.step()
    place.engine.error = None
    place.now += timedelta(days=1)
    place.step()
    assert place.stage(id_) is Stage.INSPECTED
    place.now -= timedelta(days=2)
    place.step(RETRY)
    assert place.stage(id_) is Stage.QUALIFYING


def test_an_image_that_the_engine_refuses_is_rejected(place: Place) -> None:
    """The cause quotes the engine's error."""
    id_ = place.send()
    place.engine.error = LaunchRefused("the image declares a VOLUME")
    place.step()
    place.step()
    cause = present(place.found(id_).cause)
    assert (cause.stage, cause.kind, cause.text) == (
        "inspected",
        CauseKind.START,
        "the image declares a VOLUME",
    )


def test_a_submission_whose_image_is_lost_is_rejected(place: Place, tmp_path: Path) -> None:
    """While all images are missing, submissions wait, because the disk may not be mounted."""
    ids = [place.send(bot) for bot in ("lost", "kept")]
    for _ in ids:
        place.step()
        place.engine.error = RuntimeFailure("no engine")
    sources = [place.found(each).source or "" for each in ids]
    (tmp_path / "images").rename(tmp_path / "away")
    (tmp_path / "images").mkdir()
    place.step(RETRY)
    assert all("check that it is mounted" in (place.found(each).waiting or "") for each in ids)
    (tmp_path / "images").rmdir()
    (tmp_path / "away").rename(tmp_path / "images")
    (tmp_path / "images" / "images" / sources[0].removeprefix("sha256:")).unlink()
    place.engine.error = None
    place.step(RETRY)
    lost, kept = (place.found(each) for each in ids)
    assert (lost.stage, lost.cause and lost.cause.kind) == (Stage.REJECTED, CauseKind.LOST)
    assert kept.stage is Stage.QUALIFYING


def test_a_rejected_file_is_removed(place: Place, tmp_path: Path) -> None:
    """Only the cause is kept. For a lost file, the cause blames the arena."""
    bad, lost = place.send("bad", b"no archive"), place.send("lost")
    place.uploads.remove(lost, UploadKind.IMAGE)
    place.step()
    place.step()
    causes = [place.found(each).cause for each in (bad, lost)]
    assert [cause and cause.kind for cause in causes] == [CauseKind.FILE, CauseKind.LOST]
    assert list((tmp_path / "uploads").iterdir()) == []


@pytest.mark.parametrize("reason", ["not read within 0 s", "no room"])
def test_a_file_that_can_not_be_read_or_stored_does_not_keep_others_waiting(
    place: Place, reason: str
) -> None:
    """It is retried after a pause that grows each time. Other files are processed in the meantime."""
    if reason == "no room":
        place.quota = 10
    else:  # with zero, the reader is never done in time, whatever the host's load
        place.limits = msgspec.structs.replace(DEFAULT_LIMITS, wall_seconds=0)
    place.start()
    slow, later = place.send("slow"), place.send("later")
    place.step()
    assert reason in (place.found(slow).waiting or "")
    soon = timedelta(seconds=11)
    place.step(soon)
    assert place.found(later).waiting is None
    place.step(soon)
    assert reason in (place.found(later).waiting or "")


def test_a_failed_game_rejects_nothing(place: Place) -> None:
    """The page shows that a failed game is retried. After each quarantine, the pause grows."""
    id_ = place.send()
    place.step()
    place.step()
    for pauses in (1, 2):
        for _ in range(3):
            place.step()
            taken = place.claim()
            place.store.leases.record_void(taken.spec.match, taken.spec.attempt, "no engine", place.now)
        place.step()
        for _ in range(pauses):
            assert "could not play a game: no engine" in (place.found(id_).waiting or "")
            place.step(RETRY)
        place.step()
        assert place.found(id_).waiting is None
    assert [game.state for game in place.store.submissions.games(id_)] == [
        MatchState.QUARANTINED,
        MatchState.QUARANTINED,
        MatchState.WAITING,
    ]


def test_a_game_is_played_again_when_a_host_is_quiet(place: Place) -> None:
    """The game is repeated after at least 20 s, or after a minute even if hosts are busy."""
    sent = place.send()
    while place.found(sent).stage is not Stage.QUALIFYING:
        place.step()
    place.play_late()
    busy = WorkerStatus(name="w", host="w", seats=5, busy=0, usable=3)
    place.store.leases.publish_workers("here", (busy,))
    place.step()
    assert "the host was busy" in (place.found(sent).waiting or "")
    place.step(timedelta(seconds=30))
    assert not place.store.queue.waiting(RuntimeName.DOCKER)
    place.store.leases.publish_workers("here", (replace(busy, usable=None),))
    place.step(timedelta(seconds=25))
    place.play_late()
    place.store.leases.publish_workers("here", (busy,))
    place.step()
    place.step(timedelta(seconds=30))
    assert not place.store.queue.waiting(RuntimeName.DOCKER)
    place.step(timedelta(seconds=31))
    assert place.store.queue.waiting(RuntimeName.DOCKER) == 1


def test_a_name_that_was_taken_in_the_meantime_is_a_cause(place: Place) -> None:
    """The name belongs to the bot that is activated first."""
    id_ = place.send()
    place.step()
    place.step()
    for _ in range(3):
        place.play()
        place.step()
        if place.stage(id_) is Stage.QUALIFYING and len(place.store.submissions.games(id_)) == 3:
            add_bot(place.store, "mine", author="eve")
    cause = present(place.found(id_).cause)
    assert (cause.kind, "by eve" in cause.text) == (CauseKind.NAME, True)


def test_a_submission_waits_for_house_bots(place: Place, tmp_path: Path) -> None:
    """Without house bots, a submission has no opponents."""
    with closing(sqlite_store(tmp_path / "other.sqlite3")) as store:
        (tmp_path / "other").mkdir()
        lonely = Place(tmp_path / "other", store)
        id_ = lonely.send()
        lonely.step()
        lonely.step()
        assert lonely.stage(id_) is Stage.QUALIFYING
        assert "no house bot" in (lonely.found(id_).waiting or "")
        add_bot(store, "a", author="house")
        lonely.step(RETRY)
        assert len(store.submissions.games(id_)) == 1
    assert place.store.submissions.newest() == ()


def test_an_operator_adds_a_file_for_an_author(place: Place, tmp_path: Path) -> None:
    """If the author has an account, it owns the bot. Adding the same file again makes no new version."""
    account = add_account(place.store, "Ann")
    file = tmp_path / "whatever-it-is-called"
    file.write_bytes(saved("packed"))
    operator = OperatorSubmissions(
        store=place.store,
        intake=place.intake,
        keeper=place.keeper,
        check_source=place.engine.check_source,
        accepted=(),
        now=place.time,
    )
    done = [
        operator.submit(bot, author, file)
        for bot, author in (("mine", "ann"), ("mine", "ann"), ("his", "ben"))
    ]
    assert [(each.bot, each.version, each.new) for each in done] == [
        ("mine", 1, True),
        ("mine", 1, False),
        ("his", 1, True),
    ]
    assert {each.image.id for each in done} < place.store.bots.sources_in_use()
    bots = [place.store.bots.find(bot) for bot in ("mine", "his")]
    assert [(bot.author, bot.account) for bot in bots if bot] == [("Ann", account.id), ("ben", None)]
