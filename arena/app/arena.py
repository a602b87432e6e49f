"""A running arena, and the coordinator lock, which lets only one coordinator use a database.

The lock is needed because uploads and, without a cluster, images are on the coordinator's disk, where another
coordinator would not find them. Other hosts join as workers. A coordinator whose bots run as plain processes
needs no lock.
"""

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

from arena.app.analyst import analyst
from arena.app.cluster import need_cluster, need_shared_images, workers_of_cluster
from arena.app.folders import CannotStart, data_dir_lock, install_id, real_entropy, utc_now
from arena.app.host import examine, host_setup, limits_of_bots, runtime_of, slots_of_host, tables_for_people
from arena.app.intake import image_source, keeper_of, pipeline_of, shared_images
from arena.app.monitoring import Monitoring
from arena.db.coordinator_lock import CoordinatorLock
from arena.db.errors import DatabaseUnavailable
from arena.db.leases import RENEW_SECONDS
from arena.db.store import Store, open_store
from arena.images.keeper import ImageKeeper, pruner
from arena.notices.deliverer import notifier
from arena.ops.export.making import exporter
from arena.ops.retention import remover
from arena.platform.files import Disk
from arena.platform.periodic import PeriodicTask
from arena.platform.settings import Settings
from arena.play.launcher.launcher import Launcher
from arena.play.launcher.slots import FULL_TABLE, SlotPool, sweeper
from arena.protocol.sandbox_controls import Gate, HostReport
from arena.sandbox.runtime import Runtime, RuntimeFailure
from arena.scheduler.coordinator import Coordinator
from arena.scheduler.ladder import Ladder
from arena.scheduler.person_games import PersonTables, person_tables
from arena.scheduler.settling import Watcher
from arena.scheduler.workers import Workers, local_workers
from arena.submissions.pipeline import Pipeline, steps_of

_LOCK_HELD: Final = (
    "another coordinator is using this database: stop that coordinator first, or add this host to its "
    "cluster. If its host is down, try again in 30 seconds"
)
_LOCK_LOST: Final = (
    "this host could not reach the database, and another coordinator took over, so this one has stopped: "
    "stop that coordinator before you restart this one, or add this host to its cluster"
)


class LockHolder:
    """Monitors the coordinator lock, and stops the coordinator if another one has taken the lock."""

    def __init__(self, lock: CoordinatorLock) -> None:
        self._lock = lock
        self._lost = threading.Event()
        self._stop: Callable[[], None] = lambda: None

    def check(self) -> None:
        """Check the lock, and take it again if it was lost.

        If another coordinator has taken it, stop this one, and don't check again. Raises DatabaseUnavailable.
        """
        if not self._lost.is_set() and not self._lock.take():
            self._lost.set()
            self._stop()

    @contextmanager
    def stopping(self, stop: Callable[[], None]) -> Iterator[None]:
        """Call ``stop``, from another thread, if the lock is lost within the context.

        Raises CannotStart if another coordinator has taken the lock.
        """
        self._stop = stop
        self._check()
        yield
        self._check()

    def _check(self) -> None:
        if self._lost.is_set():
            raise CannotStart(_LOCK_LOST)


@contextmanager
def coordinator_lock(store: Store) -> Iterator[LockHolder]:
    """Hold a database's coordinator lock within the context.

    Raises DatabaseUnavailable, or CannotStart if another coordinator holds it.
    """
    if not store.coordinator_lock.take():
        raise CannotStart(_LOCK_HELD)
    holder = LockHolder(store.coordinator_lock)
    try:
        with PeriodicTask(
            holder.check, name="coordinator lock", seconds=RENEW_SECONDS, expected=(DatabaseUnavailable,)
        ):
            yield holder
    finally:
        store.coordinator_lock.release()


class ProgramFiles:
    """The state of the Python files in a folder and its subfolders. A scan of 400 files takes about 3 ms."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._initial = self._scan()

    def changed(self) -> bool:
        """Return True if a file has been written, added or removed since this object was created."""
        return self._scan() != self._initial

    def _scan(self) -> dict[Path, tuple[int, int]]:
        found = {}
        with suppress(FileNotFoundError):  # a folder was removed while it was being read
            for path in self._folder.rglob("*.py"):
                with suppress(FileNotFoundError):  # as above, for a file
                    stat = path.stat()
                    found[path] = stat.st_mtime_ns, stat.st_size
        return found


_MAX_HOST_LENGTH: Final = 64
_HOUSE_BOT_SECONDS: Final = 2.0
"""Interval between checks for house bots whose source has disappeared or returned."""

_log = structlog.get_logger()

_PACKAGE: Final = Path(__file__).parents[1]
"""The package that contains the code of coordinators, referees and archive readers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arena:
    """A running arena."""

    store: Store
    runtime: Runtime
    ladder: Ladder
    slots: SlotPool | None  # this host's slots; None if a cluster's workers play instead
    swept: int  # number of leftover sandboxes from an earlier run that were removed
    requeued: int  # number of unfinished matches from an earlier run that were requeued
    _settings: Settings
    _gate: Gate
    _keeper: ImageKeeper | None
    _pipeline: Pipeline | None
    _monitoring: Monitoring
    _lock: LockHolder | None
    _install: str
    _run_dir: Path
    _files: ProgramFiles

    @contextmanager
    def coordinator(self, *watchers: Watcher) -> Iterator[Coordinator]:
        """Open a coordinator, which plays the store's matches. Once stopped, it can't be reused.

        If another coordinator takes the lock, this one stops, and the context raises CannotStart.
        """
        with (
            self._workers() as workers,
            nullcontext() if self._keeper is None else pruner(self._keeper),
            remover(self.store, self._settings, utc_now),
            exporter(self.store.public_games, self._settings, utc_now),
            nullcontext() if self._pipeline is None else steps_of(self._pipeline),
            notifier(self.store, self._settings, utc_now, self._monitoring.deliveries),
            analyst(self.store, self._settings.analysis_playouts, self._has_free_slot, utc_now),
            PeriodicTask(
                self.ladder.update_house_bots,
                name="house bots",
                seconds=_HOUSE_BOT_SECONDS,
                expected=(DatabaseUnavailable,),
            ),
        ):
            coordinator = Coordinator(
                name=self._install,
                store=self.store,
                workers=workers,
                runtime=self.ladder.runtime,
                now=utc_now,
                watchers=(self._monitoring.metrics.record, *watchers),
                gate=self._gate,
                program_changed=self._files.changed,
                has_room=Disk(self._settings.data_dir, self._settings.least_free).has_room,
            )
            with (
                self._monitoring.of(coordinator),
                nullcontext() if self._lock is None else self._lock.stopping(coordinator.stop),
            ):
                yield coordinator

    def _has_free_slot(self) -> bool:
        """Return True if a slot is free, or if this is a cluster's coordinator, which plays no matches."""
        return self.slots is None or self.slots.busy < self.slots.usable

    def enter_house_bots(self, sources: Iterable[tuple[str, str]], say: Callable[[str], None]) -> None:
        """Enter the house bots; in a cluster, put their images in the shared store.

        ``sources`` are pairs of a bot's name and its source on this host; ``say`` receives progress messages.
        Raises RuntimeFailure, or CannotStart if an image can't be stored.
        """
        if self.slots is None and self._keeper is not None:
            sources = shared_images(self._settings, self._keeper, sources, say)
        self.ladder.enter_house_bots(sources)
        self.ladder.cancel_unplayable(self._is_missing)

    def _is_missing(self, source: str) -> bool:
        """Return True if a source doesn't exist; False if the engine can't tell now."""
        with suppress(RuntimeFailure):
            return self.runtime.is_missing(source)
        return False

    @contextmanager
    def _workers(self) -> Iterator[Workers]:
        """Open the workers that play matches: this host, or a cluster's workers."""
        scheduler = self._settings.executor
        if scheduler is not None:
            with (
                workers_of_cluster(self._settings, scheduler, self.store, self._gate) as others,
                self._monitoring.of_cluster(others.unavailable_reason),
            ):
                yield others
            return
        # A stopped launcher can't be restarted, so each coordinator gets its own.
        launcher = Launcher(self.runtime, self._install, self._run_dir)
        host = socket.gethostname()[:_MAX_HOST_LENGTH]
        slots = self.slots or slots_of_host()
        tables = tables_for_people(self._settings)
        people = SlotPool(tables * FULL_TABLE, self.ladder.limits.cpus, first=slots.size)
        with (
            sweeper(self.runtime, self._install, launcher.owns, slots, people),
            local_workers(launcher, slots, host) as workers,
            self._people(launcher, people),
        ):
            yield workers

    def _people(self, launcher: Launcher, slots: SlotPool) -> AbstractContextManager[None]:
        """Run people's games on this host, in these slots."""
        if not self._settings.person_games:
            return nullcontext()
        return person_tables(
            PersonTables(
                self.store.person_games,
                launcher,
                self.ladder.entropy,
                self._gate,
                slots=slots,
                settings=self.store.ladder.settings,
                limits=self.ladder.limits,
                runtime=self.ladder.runtime,
            )
        )

    def check_host(self, say: Callable[[str], None]) -> HostReport:
        """Check this host's controls, record the report, and open the gate if the report allows it.

        Until the gate is open, no untrusted bots play. In a cluster, the workers check their own hosts
        instead. ``say`` receives progress messages. Raises RuntimeFailure or StoreError.
        """
        report = examine(self._settings, self.runtime, say)
        accepted = self._settings.accept_missing
        self.store.activity.record_host(report, accepted)
        self._gate.decide(report, accepted)
        for finding in report.findings:
            if not finding.held:
                _log.warning(
                    "sandbox control failed",
                    control=finding.control,
                    detail=finding.detail,
                    accepted=finding.control in accepted,
                )
        for warning in report.warnings:
            _log.warning("canary warning", detail=warning)
        return report


@contextmanager
def open_arena(settings: Settings, *, own: bool = False) -> Iterator[Arena]:
    """Open an arena with exclusive use of its data directory, and clean up after earlier runs.

    If ``own`` is True, all bots belong to the operator, so the host needs no check. Raises StoreError;
    CannotStart if another arena is using the directory or the database, or if a folder can't be created; or
    RuntimeFailure if bots can't be run.
    """
    with (
        data_dir_lock(settings.data_dir),
        closing(runtime_of(settings, install_id(settings.data_dir), image_source)) as runtime,
        closing(open_store(settings.url)) as store,
    ):
        install = install_id(settings.data_dir)
        plays = settings.executor is None
        if not plays:
            need_cluster()
            need_shared_images(settings)
        gate = Gate(own=own)
        ladder = Ladder(
            store,
            settings.sandbox,
            real_entropy(),
            gate,
            limits_of_bots(settings),
            has=runtime.has_source,
        )
        locked = coordinator_lock(store) if runtime.isolates else nullcontext()
        submitted = pipeline_of(settings, store, runtime, gate, ladder) if runtime.isolates else nullcontext()
        monitoring = Monitoring(settings, store, install)
        with (
            locked as lock,
            host_setup(settings, runtime, install, plays=plays) as setup,
            monitoring.listening(runtime, gate),
            submitted as pipeline,
        ):
            yield Arena(
                store=store,
                runtime=runtime,
                ladder=ladder,
                slots=slots_of_host() if plays else None,
                swept=setup.swept,
                requeued=store.leases.release(install),
                _settings=settings,
                _gate=gate,
                _keeper=keeper_of(settings, store, runtime) if runtime.isolates else None,
                _pipeline=pipeline,
                _monitoring=monitoring,
                _lock=lock,
                _install=install,
                _run_dir=setup.run_dir,
                _files=ProgramFiles(_PACKAGE),
            )
