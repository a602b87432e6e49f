"""Puts the arena together: the one place that makes real clocks, ids, seeds, connections and processes."""

import fcntl
import os
import random
import secrets
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import structlog

from arena.coordinator import Coordinator, Watcher
from arena.launcher import Launcher, SlotPool, Sweeper
from arena.match import RuntimeName
from arena.sandbox import Runtime
from arena.sandbox.docker_engine import connect
from arena.sandbox.docker_runtime import DockerRuntime
from arena.sandbox.process_runtime import ProcessRuntime
from arena.services import Chances, Ladder
from arena.settings import Settings
from arena.store import Store, open_store

_ID_BYTES: Final = 6


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
    _install: str
    _run_dir: Path

    @contextmanager
    def coordinator(self, watcher: Watcher) -> Iterator[Coordinator]:
        """Give what plays the store's matches; a stopped one can't be used again."""
        # Stopping a coordinator stops its launcher for good, so each has its own.
        launcher = Launcher(self.runtime, self._install, self._run_dir)
        with (
            Sweeper(self.runtime, self._install, launcher),
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
            )


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
        closing(_runtime(settings.sandbox)) as runtime,
        closing(open_store(settings.url)) as store,
    ):
        install = _install(settings.data_dir)
        swept = runtime.sweep(install)
        run_dir = _private_folder(settings.sockets) / install
        shutil.rmtree(run_dir, ignore_errors=True)  # a killed run's sockets
        ladder = Ladder(store, settings.sandbox, _chances())
        try:
            yield Arena(
                store=store,
                runtime=runtime,
                ladder=ladder,
                slots=SlotPool.for_host(len(os.sched_getaffinity(0)), ladder.limits.cpus),
                swept=swept,
                waiting_again=store.writes.release_running(),
                _install=install,
                _run_dir=run_dir,
            )
        finally:
            runtime.sweep(install)
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


def _runtime(name: RuntimeName) -> Runtime:
    if name is RuntimeName.PROCESS:
        return ProcessRuntime()
    return DockerRuntime(connect(), cores=",".join(map(str, sorted(os.sched_getaffinity(0)))))


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
        part = folder / "install.part"
        part.write_text(secrets.token_hex(4) + "\n")
        part.rename(file)
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
