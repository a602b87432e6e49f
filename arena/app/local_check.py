"""Checks one bot on its author's machine, in a temporary arena."""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

from msgspec import to_builtins

from arena.app.arena import Arena, open_arena
from arena.app.folders import CannotStart, data_dir_lock, install_id, private_folder
from arena.app.host import common_group, runtime_of
from arena.app.intake import image_source, images_of
from arena.app.playing import house_bots, playing
from arena.client.sending import Target, payload_of
from arena.db.submissions import KnownSubmission, QualificationGame, SubmissionRepository
from arena.images.build.base import ensure_base_image
from arena.languages.registry import UploadKind
from arena.platform.settings import Settings
from arena.protocol.match import Limits, RuntimeName
from arena.protocol.states import MatchState
from arena.sandbox.factory import open_builder
from arena.sandbox.runtime import RuntimeFailure
from arena.scheduler.coordinator import ArenaError
from arena.submissions.document import whole_document
from arena.submissions.pipeline import MAX_REPEAT_DELAY_SECONDS
from arena.submissions.receiver import Receiver, Upload, open_receiver

STALL_TIMEOUT_SECONDS: Final = MAX_REPEAT_DELAY_SECONDS + 40
"""Maximum wait for a submission to proceed: longer than the pause before a match is repeated."""

_POLL_SECONDS: Final = 0.05
_OPEN: Final = frozenset({MatchState.WAITING, MatchState.RUNNING})
_PERSISTENT_TMP: Final = "/var/tmp"  # noqa: S108 - only this user can read the folder made in it
"""Files in this folder survive a reboot, as do the engine's containers and images. The next check can
therefore find and remove them all."""

Say = Callable[[str], None]


@contextmanager
def _open_temporary_arena(settings: Settings, say: Say) -> Iterator[tuple[Arena, Settings]]:
    """Yield a temporary arena and its settings, after removing the remains of killed checks.

    The arena shares nothing with other arenas on this machine. ``say`` receives messages about removals and
    failed removals. Raises RuntimeFailure, or CannotStart if a folder can't be created or the machine is too
    small.
    """
    # Fail before creating containers or images, which only an engine can remove.
    open_builder(RuntimeName.DOCKER).close()
    with _folder(settings, say) as folder:
        own = _settings_in(settings, folder)
        try:
            with open_arena(own, own=True) as arena:
                yield arena, own
        finally:
            try:
                _remove(own, folder)
            except (CannotStart, RuntimeFailure, OSError) as error:
                say(f"some of this check's files can't be removed; the next check will try again: {error}")


def _settings_in(settings: Settings, folder: Path) -> Settings:
    """Return settings for an arena that takes one submission and shares nothing with other arenas."""
    return settings.model_copy(
        update={
            "data_dir": folder / "data",
            "database_url": None,
            "images_url": None,
            "executor": None,
            "sandbox": RuntimeName.DOCKER,
            "ops_address": None,
            "disk_floor_gib": 0,
            "person_games": 0,
            "submissions_a_day": 1,
            "bots_per_author": 1,
        }
    )


@contextmanager
def _folder(settings: Settings, say: Say) -> Iterator[Path]:
    """Create a folder and hold its lock."""
    persistent = Path(os.environ.get("TMPDIR", _PERSISTENT_TMP))
    parent = private_folder(persistent / f"kaiten-check-{os.geteuid()}", setting="TMPDIR")
    with ExitStack() as stack:
        # Without the parent's lock, another check could remove the new folder before it is locked.
        with (parent / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for leftover in filter(Path.is_dir, sorted(parent.iterdir())):
                _remove_dead(_settings_in(settings, leftover), leftover, say)
            folder = Path(tempfile.mkdtemp(prefix="", dir=parent))
            stack.enter_context(data_dir_lock(folder))
        yield folder


def _remove_dead(settings: Settings, folder: Path, say: Say) -> None:
    with ExitStack() as stack:
        try:
            stack.enter_context(data_dir_lock(folder))
        except CannotStart:  # that check is still running
            return
        _remove(settings, folder)
        say(f"removed the remains of a killed check ({folder})")


def _remove(settings: Settings, folder: Path) -> None:
    """Remove an arena: first its containers and images, which are found by the id in the folder."""
    if settings.data_dir.is_dir():
        install = install_id(settings.data_dir)
        shutil.rmtree(settings.data_dir / "images", ignore_errors=True)
        with closing(runtime_of(settings, install, image_source)) as runtime:
            runtime.sweep(install)
            runtime.prune_images()  # removes all images, because none are stored any longer
            common_group(settings, runtime).remove()
        shutil.rmtree(settings.sockets / install, ignore_errors=True)
    shutil.rmtree(folder)


class QualifyingPlayer(Protocol):
    """The parts of :class:`arena.scheduler.coordinator.Coordinator` that a check uses."""

    stopped: bool

    def stop(self) -> None:
        """Abandon running matches and stop soon."""


class CheckProgress:
    """Controls when the coordinator plays a submission's games, and reports the submission's progress."""

    def __init__(
        self,
        submissions: SubmissionRepository,
        id_: str,
        on_change: Callable[[dict[str, Any]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._submissions = submissions
        self._id = id_
        self._on_change = on_change
        self._clock = clock
        self._stalled_since: float | None = None
        self.document: dict[str, Any] = {}  # the submission's document with its games; empty at first
        self.over = False  # whether the submission has ended
        self.source: str | None = None  # id of the submission's image; None until it exists

    def await_game(self, player: QualifyingPlayer) -> bool:
        """Return True once a game is queued, or False once a game is running or the submission has ended.

        Waits for one of these, because a coordinator without games would stop. Stops the coordinator once
        the submission has ended. Raises StoreError, or ArenaError if this machine can't continue the check.
        """
        while not player.stopped:
            latest = self._refresh()
            if self.over:
                player.stop()
            elif latest in _OPEN:
                return latest is MatchState.WAITING
            else:
                time.sleep(_POLL_SECONDS)
        return False

    def _refresh(self) -> MatchState | None:
        """Report progress, and return the state of the latest game."""
        known = self._submissions.find(self._id)
        if known is None:
            raise ArenaError(
                "the submission has disappeared from the check's database: run the command again"
            )
        games = self._submissions.games(self._id)
        self.document = to_builtins(whole_document(known, games))
        self._on_change(self.document)
        self.over, self.source = known.stage.over, known.source
        self._check(known, games)
        return games[-1].state if games else None

    def _check(self, known: KnownSubmission, games: tuple[QualificationGame, ...]) -> None:
        """Raise ArenaError if the arena itself keeps failing."""
        latest = games[-1] if games else None
        if latest is not None and latest.state is MatchState.QUARANTINED:
            raise ArenaError(f"a game failed: {latest.reason}")
        if known.waiting is None or (latest is not None and latest.state in _OPEN):
            self._stalled_since = None
            return
        if self._stalled_since is None:
            self._stalled_since = self._clock()
        if self._clock() - self._stalled_since > STALL_TIMEOUT_SECONDS:
            raise ArenaError(known.waiting)


_BOT: Final = "checked"
_AUTHOR: Final = "you"


def check_bot(
    settings: Settings, target: Target, on_change: Callable[[dict[str, Any]], None], say: Say
) -> tuple[dict[str, Any], int]:
    """Check a bot. Return its submission's document and its image's size in bytes (0 if it has no image).

    ``on_change`` receives the document whenever it is read. Raises KeyboardInterrupt if a signal stops the
    check. Raises CannotSend, NoRoom or UploadRefused if the bot can't be submitted. Raises ArenaError,
    CannotStart, IntakeError, RuntimeFailure or StoreError if this machine can't check the bot.
    """
    with _open_temporary_arena(settings, say) as (arena, own):
        receiver = open_receiver(own, arena.store, own=True)
        _prepare(arena, target, say)
        progress = CheckProgress(arena.store.submissions, _submit(receiver, target), on_change)
        with playing(arena) as coordinator:
            coordinator.run(lambda: progress.await_game(coordinator))
        if not progress.over:
            raise KeyboardInterrupt
        image = images_of(own).records.image(progress.source) if progress.source else None
        return progress.document, 0 if image is None else sum(layer.size for layer in image.layers)


def _prepare(arena: Arena, target: Target, say: Say) -> None:
    """Build missing images, and report how this machine differs from an arena's host."""
    if target.language is not None:
        with closing(open_builder(arena.ladder.runtime)) as builder:
            ensure_base_image(builder, target.language, say)
    arena.ladder.enter_house_bots(house_bots(arena.ladder.runtime, say))
    share, usual = arena.ladder.limits.cpus, Limits().cpus
    few = f"; bots get {share:g} of a core instead of {usual:g}" if share < usual else ""
    say(f"checking as an arena would, but without testing the sandbox (see `arena doctor`){few}")


def _submit(receiver: Receiver, target: Target) -> str:
    with payload_of(target, _BOT) as payload:
        kind = UploadKind(payload.kind)
        upload = Upload(bot=_BOT, author=_AUTHOR, account=None, kind=kind, size=payload.size, check_only=True)
        with receiver.begin(upload) as incoming:
            for piece, _ in payload.pieces():
                incoming.write(piece)
            return incoming.finish().id
