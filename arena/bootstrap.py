"""Puts the arena together: the one place that makes real clocks, ids, seeds, connections and processes."""

import fcntl
import os
import random
import secrets
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import docker
import structlog

from arena.admission import Gate
from arena.controls import HostReport
from arena.coordinator import Coordinator, Watcher
from arena.imagekeeper import ImageKeeper, Pruner
from arena.images import build_canary_image, ensure_base_image
from arena.intake import IntakeTrouble, Platform
from arena.intake.intake import Bases, Intake
from arena.intake.objects import Objects
from arena.intake.source import StoreSource
from arena.intake.store import ImageStore
from arena.languages import PYTHON
from arena.launcher import Launcher, SlotPool, Sweeper
from arena.match import Limits, RuntimeName
from arena.sandbox import Runtime
from arena.sandbox.canary import Canary, report_of
from arena.sandbox.common_group import CommonGroup
from arena.sandbox.docker_engine import connect, engine_errors
from arena.sandbox.docker_images import export_image
from arena.sandbox.docker_runtime import DockerRuntime
from arena.sandbox.image_source import ImageSource
from arena.sandbox.process_runtime import ProcessRuntime
from arena.services import Chances, Ladder
from arena.settings import Settings
from arena.store import Store, open_store
from arena.submissions import Submissions

_ID_BYTES: Final = 6
_GIB: Final = 1024**3

_log = structlog.get_logger()


class CannotStart(Exception):
    """The arena can't be put together. The text says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arena:
    """A running arena.

    Attributes:
        store: Everything that is kept.
        runtime: Runs bots.
        ladder: Who plays what.
        slots: The seats of this host.
        swept: How many sandboxes of an earlier run were left and have been removed.
        waiting_again: How many matches an earlier run did not finish.
    """

    store: Store
    runtime: Runtime
    ladder: Ladder
    slots: SlotPool
    swept: int
    waiting_again: int
    _settings: Settings
    _gate: Gate
    _group: CommonGroup | None
    _keeper: ImageKeeper | None
    _install: str
    _run_dir: Path

    @contextmanager
    def coordinator(self, watcher: Watcher) -> Iterator[Coordinator]:
        """Give what plays the store's matches; a stopped one can't be used again."""
        # Stopping a coordinator stops its launcher for good, so each has its own.
        launcher = Launcher(self.runtime, self._install, self._run_dir)
        with (
            Sweeper(self.runtime, self._install, launcher),
            nullcontext() if self._keeper is None else Pruner(self._keeper),
            ThreadPoolExecutor(self.slots.size, thread_name_prefix="match") as executor,
        ):
            yield Coordinator(
                store=self.store,
                launcher=launcher,
                runtime=self.ladder.runtime,
                executor=executor,
                slots=self.slots,
                now=_now,
                watcher=watcher,
                gate=self._gate,
            )

    def check_host(self, say: Callable[[str], None]) -> HostReport:
        """Try what this host can hold, log and keep what it can't, and let strangers' bots play if they may.

        Until then none of them does.

        Args:
            say: Is told what takes time.

        Raises:
            ImageTrouble: The canary's image can't be made.
            RuntimeTrouble: The engine does not answer.
            StoreError: The database can't be used.
        """
        report = _examine(self._settings, self.runtime, self._group, say)
        accepted = self._settings.accept_missing
        self.store.writes.record_host(report, accepted)
        self._gate.decide(report, accepted)
        for finding in report.findings:
            if not finding.held:
                _log.warning(
                    "control not held",
                    control=finding.control,
                    detail=finding.detail,
                    accepted=finding.control in accepted,
                )
        return report


def examine_host(settings: Settings, say: Callable[[str], None]) -> HostReport:
    """Try what this host can hold, beside an arena or without one; nothing is kept.

    Args:
        settings: Those of the arena.
        say: Is told what takes time.

    Raises:
        CannotStart: The folder for sockets can't be made.
        ImageTrouble: The canary's image can't be made.
        RuntimeTrouble: The engine does not answer.
    """
    kept = settings.data_dir / "install"
    install = kept.read_text().strip() if kept.is_file() else secrets.token_hex(4)
    with closing(_runtime(settings, install)) as runtime:
        group = _common_group(runtime)
        if group is not None:
            group.hold()
        try:
            return _examine(settings, runtime, group, say)
        finally:
            if group is not None and not kept.is_file():
                group.remove()


def _examine(
    settings: Settings, runtime: Runtime, group: CommonGroup | None, say: Callable[[str], None]
) -> HostReport:
    if not isinstance(runtime, DockerRuntime) or group is None:
        return HostReport(
            host=socket.gethostname(),
            isolates=False,
            runtime=runtime.describe,
            engine="",
            cgroup="",
            checked=_now(),
            findings=(),
            warnings=(),
        )
    with closing(_engine()) as client:
        ensure_base_image(client, PYTHON, say)
        image = build_canary_image(client)
        run_dir = _private_folder(settings.sockets) / "canary"
        canary = Canary(client.api, runtime, image=image, run_dir=run_dir, limits=_limits(), group=group)
        evidence = canary.check()
    return report_of(evidence, runtime.describe, _now())


def slots_of_host() -> int:
    """Return how many bots this host runs at a time."""
    return _slots().size


def configure_logs() -> None:
    """Let logs go to stderr, where messages go."""
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))


@contextmanager
def open_arena(settings: Settings) -> Iterator[Arena]:
    """Put an arena together, alone on its data directory, and clean up after earlier runs.

    Raises:
        CannotStart: Another arena runs there, or a folder can't be made.
        StoreError: The database can't be used.
        RuntimeTrouble: Bots can't be run.
    """
    with (
        _alone(settings.data_dir),
        closing(_runtime(settings, _install(settings.data_dir), _source)) as runtime,
        closing(open_store(settings.url)) as store,
    ):
        install = _install(settings.data_dir)
        swept = runtime.sweep(install)
        run_dir = _private_folder(settings.sockets) / install
        shutil.rmtree(run_dir, ignore_errors=True)  # a killed run's sockets
        group = _common_group(runtime)
        if group is not None:
            group.remove()  # what a killed run's containers left there
            group.hold()
        _warn_of_few_cores()
        gate = Gate()
        ladder = Ladder(store, settings.sandbox, _chances(), gate, _limits())
        try:
            yield Arena(
                store=store,
                runtime=runtime,
                ladder=ladder,
                slots=_slots(),
                swept=swept,
                waiting_again=store.writes.release_running(),
                _settings=settings,
                _gate=gate,
                _group=group,
                _keeper=_keeper(settings, store, runtime) if isinstance(runtime, DockerRuntime) else None,
                _install=install,
                _run_dir=run_dir,
            )
        finally:
            runtime.sweep(install)
            if group is not None:
                group.remove()
            shutil.rmtree(run_dir, ignore_errors=True)


def open_results(settings: Settings) -> Store:
    """Open the store of an arena that exists, to read it.

    Raises:
        CannotStart: There is none.
        StoreError: The database can't be used.
    """
    file = settings.data_dir.absolute() / "arena.sqlite3"
    if settings.database_url is None and not file.is_file():
        raise CannotStart(
            f"there is no arena in {settings.data_dir.absolute()}: run `make demo`, "
            "or name its folder in ARENA_DATA_DIR"
        )
    return open_store(settings.url)


@contextmanager
def open_submissions(settings: Settings, say: Callable[[str], None]) -> Iterator[Submissions]:
    """Put together what takes in bots of strangers. An arena may be running in the same data directory.

    Args:
        settings: Those of the arena.
        say: Is told what takes time.

    Raises:
        CannotStart: There is no arena, bots don't run in containers, or images can't be kept.
        StoreError: The database can't be used.
        RuntimeTrouble: The engine does not answer.
    """
    with _beside(settings) as (store, runtime), closing(connect()) as client, closing(_engine()) as builder:
        with engine_errors("read what the engine is"):
            version = client.version()
        bases = Bases(
            find=lambda language: ensure_base_image(builder, language, say),
            export=lambda id_: export_image(client, id_),
        )
        platform = Platform(version["Os"], version["Arch"])
        yield Submissions(
            store=store,
            intake=Intake(_images(settings), bases, _incoming(settings), platform, _now),
            keeper=_keeper(settings, store, runtime),
            engine=runtime,
            accepted=settings.accept_missing,
            now=_now,
        )


@contextmanager
def open_keeper(settings: Settings) -> Iterator[ImageKeeper]:
    """Put together what prunes images. An arena may be running in the same data directory.

    Raises:
        CannotStart: There is no arena, bots don't run in containers, or images can't be kept.
        StoreError: The database can't be used.
        RuntimeTrouble: The engine does not answer.
    """
    with _beside(settings) as (store, runtime):
        yield _keeper(settings, store, runtime)


@contextmanager
def _beside(settings: Settings) -> Iterator[tuple[Store, DockerRuntime]]:
    """Give the store and the engine of an arena that exists, whether it runs or not."""
    with (
        closing(open_results(settings)) as store,
        closing(_runtime(settings, _install(settings.data_dir), _source)) as runtime,
    ):
        if not isinstance(runtime, DockerRuntime):
            raise CannotStart(
                "submitted bots run in containers only: they are images. Use ARENA_SANDBOX=docker"
            )
        yield store, runtime


def _images(settings: Settings) -> ImageStore:
    url = settings.images_url or str(settings.data_dir.absolute() / "images")
    try:
        return ImageStore(Objects(url), settings.data_dir / "images.lock")
    except IntakeTrouble as error:
        raise CannotStart(str(error)) from error


def _source(settings: Settings) -> StoreSource:
    return StoreSource(_images(settings), _install(settings.data_dir), _now)


def _keeper(settings: Settings, store: Store, runtime: DockerRuntime) -> ImageKeeper:
    return ImageKeeper(
        images=_images(settings),
        store=store,
        engine=runtime,
        quota=settings.image_quota_gib * _GIB,
        folder=_incoming(settings),
        now=_now,
    )


def _incoming(settings: Settings) -> Path:
    """Folder of the files on their way."""
    return settings.data_dir / "incoming"


def _engine() -> docker.DockerClient:
    with engine_errors("reach the engine"):
        return docker.from_env()


def _slots() -> SlotPool:
    return SlotPool.for_host(len(os.sched_getaffinity(0)), Limits().cpus)


def _limits() -> Limits:
    """Return what a bot may use on this host."""
    return replace(Limits(), cpus=_slots().share)


def _warn_of_few_cores() -> None:
    slots, wanted = _slots(), Limits().cpus
    if slots.share < wanted:
        _log.warning(
            "few cores: bots get less than their usual share",
            slots=slots.size,
            cores_each=slots.share,
            usual=wanted,
        )


def _common_group(runtime: Runtime) -> CommonGroup | None:
    """Return the control group of all bots together; plain processes have none."""
    return runtime.common_group(_limits(), _slots().size) if isinstance(runtime, DockerRuntime) else None


def _runtime(
    settings: Settings, install: str, images: Callable[[Settings], ImageSource] | None = None
) -> Runtime:
    if settings.sandbox is RuntimeName.PROCESS:
        return ProcessRuntime()
    cores = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    return DockerRuntime(
        connect(),
        cores=cores,
        runtime=settings.container_runtime,
        install=install,
        images=None if images is None else images(settings),
    )


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the data directory's lock. It goes with this process, however that ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("w")
    except OSError as error:
        raise CannotStart(f"the data directory {folder.absolute()}: {error.strerror}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotStart(
                f"another arena is running in {folder.absolute()}: end it first, "
                "or name another folder in ARENA_DATA_DIR"
            ) from None
        yield


def _install(folder: Path) -> str:
    """Return the installation's id, made when the data directory is."""
    file = folder / "install"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"install.{os.getpid()}.part"
        part.write_text(secrets.token_hex(4) + "\n")
        with suppress(FileExistsError):  # another process was first
            file.hardlink_to(part)
        part.unlink()
    return file.read_text().strip()


def _private_folder(folder: Path) -> Path:
    """Make a folder that nobody else can write to, or make sure that it is one."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o711)
        status = folder.lstat()
    except OSError as error:
        raise CannotStart(f"the folder for sockets {folder}: {error.strerror}") from error
    if folder.is_symlink() or status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise CannotStart(
            f"{folder} belongs to somebody else or can be written by others: "
            "remove it, or name another folder in ARENA_RUN_DIR"
        )
    return folder


def _chances() -> Chances:
    return Chances(
        now=_now,
        new_id=lambda: secrets.token_hex(_ID_BYTES),
        new_seed=lambda: secrets.token_bytes(16),
        dice=random.SystemRandom(),
    )


def _now() -> datetime:
    return datetime.now(UTC)
