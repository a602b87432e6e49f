"""The worker, which plays matches in this host's slots for a scheduler's coordinators until it is stopped."""

import asyncio
import ssl
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

import msgspec
import structlog
from distributed import Security, Worker, WorkerPlugin, get_worker
from distributed.comm.core import connect

from arena.platform.names import is_loopback
from arena.play.launcher import HostFailed, LauncherStopped, MatchVoid
from arena.play.launcher.launcher import Launcher
from arena.play.launcher.slots import SlotPool
from arena.protocol.match import MatchSpec, decode
from arena.sandbox.runtime import Runtime
from arena.scheduler.cluster.member import (
    UNUSED_ADDRESS,
    MemberHealth,
    ShutdownSignal,
    configure_dask,
    shutdown_signals,
    wait_for,
    wait_until,
)
from arena.scheduler.cluster.messages import (
    EXTRA,
    NO_SESSION,
    Answer,
    Dropped,
    Record,
    Void,
    WorkerCard,
    WorkerState,
    topic_of,
    write,
)


@dataclass(frozen=True, slots=True)
class _Playing:
    """A match in flight."""

    launcher: Launcher
    session: str
    seats: int


class MatchRunner:
    """Plays matches in this host's slots. Thread-safe.

    ``install`` is the installation's id, which is part of each sandbox's name. ``run_dir`` contains folders
    for sockets. ``has_room`` returns whether the disk has room for matches.
    """

    def __init__(
        self,
        runtime: Runtime,
        install: str,
        run_dir: Path,
        slots: SlotPool,
        *,
        has_room: Callable[[], bool] = lambda: True,
    ) -> None:
        self._has_room = has_room
        self._runtime = runtime
        self._install = install
        self._run_dir = run_dir
        self._slots = slots
        self._playing: dict[str, _Playing] = {}
        self._leaving = self._rejecting = False
        self._trouble: str | None = None
        self._ended = dict.fromkeys(("record", "void", "dropped"), 0)
        self._lock = threading.RLock()

    @property
    def idle(self) -> bool:
        """True if no matches are in flight."""
        with self._lock:
            return not self._playing

    def state(self) -> WorkerState:
        """Return this host's state, including the number of seats in use for each session."""
        with self._lock:
            busy: Counter[str] = Counter()
            for playing in self._playing.values():
                busy[playing.session] += playing.seats
            if left := self._slots.busy - busy.total():
                busy[NO_SESSION] = left
            usable = self._slots.usable if self._slots.usable < self._slots.size else None
            return WorkerState(busy=dict(busy), leaving=self._leaving, trouble=self._trouble, usable=usable)

    def ended(self) -> dict[str, int]:
        """Return the number of matches that have ended, by kind of answer."""
        with self._lock:
            return dict(self._ended)

    def play(self, spec: bytes, session: str, key: str, progress: Callable[[bytes], None]) -> Answer:
        """Play an encoded :class:`arena.protocol.match.MatchSpec`.

        To abort the match, pass ``key`` to :meth:`stop`.
        """
        answer = self._play(spec, session, key, progress)
        with self._lock:
            self._ended[type(answer).__name__.lower()] += 1
        return answer

    def _play(self, spec: bytes, session: str, key: str, progress: Callable[[bytes], None]) -> Answer:
        try:
            seats = len(decode(spec, MatchSpec).seats)
        except ValueError as error:
            return Void(f"the specification can't be read: {error}")
        # One launcher per match, so that each match can be stopped separately.
        launcher = Launcher(self._runtime, self._install, self._run_dir)
        with self._lock:
            slots = None if self._rejecting else self._slots.reserve(seats, already_sent=True)
            if slots is None:
                return Dropped("the worker is leaving" if self._rejecting else "the worker has no free slots")
            self._playing[key] = _Playing(launcher, session, seats)
        try:
            return self._launch(launcher, spec, slots, progress)
        finally:
            with self._lock:
                del self._playing[key]
                self._slots.release(slots)

    def _launch(
        self, launcher: Launcher, spec: bytes, slots: tuple[int, ...], progress: Callable[[bytes], None]
    ) -> Answer:
        try:
            return Record(launcher.play(spec, slots, progress, keep=self._slots.keep))
        except LauncherStopped:
            return Dropped("the match was stopped on the worker")
        except HostFailed as error:
            self._trouble = str(error)
            return Void(str(error), host=True)
        except MatchVoid as error:
            return Void(str(error))
        except Exception as error:  # noqa: BLE001 - a defect in the arena must not make this worker look lost
            _log.exception("match failed")
            return Void(repr(error))

    def owns(self, name: str) -> bool:
        """Return True if a sandbox with this name belongs to a match in flight."""
        with self._lock:
            return any(playing.launcher.owns(name) for playing in self._playing.values())

    def stop(self, key: str) -> None:
        """Abort a match if it is running."""
        with self._lock:
            if playing := self._playing.get(key):
                playing.launcher.stop()

    def stop_all(self) -> None:
        """Abort all matches."""
        with self._lock:
            for playing in self._playing.values():
                playing.launcher.stop()

    def announce_leaving(self) -> None:
        """Report that this host is leaving; still accept matches that were already sent."""
        with self._lock:
            self._leaving = True

    def reject_matches(self) -> None:
        """Reject all further matches."""
        with self._lock:
            self._rejecting = True

    def poll(self) -> None:
        """Check the disk, and whether a failed host has recovered; call this at intervals."""
        if not self._has_room():
            self._trouble = "the disk is full: free up space, or lower ARENA_DISK_FLOOR_GIB"
        elif self._trouble is not None:
            self._trouble = self._runtime.unavailable_reason()


NAME: Final = "kaiten-seats"


class MatchRunnerPlugin(WorkerPlugin):
    """Gives a dask worker's tasks access to the runner, and aborts the matches of cancelled tasks."""

    name = NAME

    def __init__(self, runner: MatchRunner) -> None:
        self.runner = runner

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:  # noqa: ANN401, ARG002 - dask's signature
        """Abort a match if its coordinator has left, or has cancelled it."""
        if finish in {"cancelled", "released", "forgotten"}:
            self.runner.stop(str(key))

    def teardown(self, worker: Any) -> None:  # noqa: ANN401, ARG002 - dask's signature
        """Abort all matches, because their results can no longer be delivered."""
        self.runner.stop_all()


def play_here(spec: bytes, session: str, ticket: str) -> bytes:
    """Play an encoded match on the worker that runs this function, and return an encoded answer.

    Progress messages carry ``session`` and ``ticket``, which identify the coordinator and its match.
    """
    worker = get_worker()
    plugin = worker.plugins[NAME]
    if not isinstance(plugin, MatchRunnerPlugin):
        raise TypeError(f"the plugin {NAME} is {plugin!r}, not a MatchRunnerPlugin")

    def progress(data: bytes) -> None:
        with suppress(Exception):  # a lost progress message must not fail the match
            worker.log_event(topic_of(session), {"ticket": ticket, "data": data})

    return write(plugin.runner.play(spec, session, str(worker.get_current_task()), progress))


_log = structlog.get_logger()

SEAT: Final = "seat"
"""Name of the dask resource that a match uses: one unit per bot."""

_RETRY_SECONDS: Final = 0.5
_JOIN_SECONDS: Final = 30.0
_CALL_SECONDS: Final = 2.0
"""Interval between checks of whether the scheduler can call this worker, while it can't."""

_RECALL_SECONDS: Final = 5.0
"""Interval between these checks while the scheduler can call this worker."""

_NOTICE_SECONDS: Final = 3.0
"""Seconds that a leaving worker allows for coordinators to notice, and for the last matches to arrive."""

_FETCH_SECONDS: Final = 10.0
"""Seconds that a leaving worker waits for its last results to be fetched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """A worker's connection settings."""

    scheduler: str  # the scheduler's address, as dask writes it
    host: str  # the scheduler's host
    port: int  # the port on which this worker listens; 0 for any free port
    security: Security
    card: WorkerCard  # `run` is replaced on each join
    folder: Path  # folder for dask's files


async def run_worker(
    options: WorkerOptions, runner: MatchRunner, health: MemberHealth, say: Callable[[str], None]
) -> None:
    """Play coordinators' matches until a shutdown signal, then drain; a second signal aborts all matches.

    If the scheduler is lost, matches are aborted because their results can't be delivered, and the worker
    rejoins once the scheduler is back. ``say`` receives a message on joining and on leaving.
    """
    configure_dask()
    health.missing = "the worker has not joined yet"
    async with health.ticking():
        with shutdown_signals() as shutdown:
            while await _await_scheduler(options, shutdown, health):
                await _serve(options, runner, shutdown, health, say)
                runner.stop_all()
                await wait_until(lambda: runner.idle)


async def _await_scheduler(options: WorkerOptions, shutdown: ShutdownSignal, health: MemberHealth) -> bool:
    """Wait until the scheduler responds; return False on a shutdown signal."""
    reason = ""
    while not shutdown.once.is_set():
        try:
            comm = await connect(options.scheduler, **options.security.get_connection_args("worker"))
            await comm.close()
        except (OSError, ssl.SSLError) as error:
            if str(error) != reason:
                reason = str(error)
                health.missing = f"the scheduler can't be reached: {reason}"
                _log.warning("scheduler unreachable; will retry", scheduler=options.scheduler, error=reason)
            await wait_for(shutdown.once, _RETRY_SECONDS)
        else:
            return True
    return False


async def _serve(
    options: WorkerOptions,
    runner: MatchRunner,
    shutdown: ShutdownSignal,
    health: MemberHealth,
    say: Callable[[str], None],
) -> None:
    """Join, play, and leave on a shutdown signal or when the connection is lost."""
    worker: Worker | None = None
    try:
        worker = _worker(options, runner, health)  # fails if the disk is full
        await worker
    except (OSError, RuntimeError, TimeoutError, ValueError) as error:
        reason = _join_error(error)
        missing = f"the worker could not join: {reason}"
        if health.missing != missing:
            _log.warning("join failed; will retry", scheduler=options.scheduler, error=reason)
        health.missing = missing
        if worker is not None:
            await worker.close()
        await wait_for(shutdown.once, _RETRY_SECONDS)
        return
    accepting = asyncio.create_task(_accept_matches(worker, options, health, say))
    closed = asyncio.create_task(worker.finished())
    stopping = asyncio.create_task(shutdown.once.wait())
    await asyncio.wait({closed, stopping}, return_when=asyncio.FIRST_COMPLETED)
    accepting.cancel()
    if shutdown.once.is_set():
        health.missing = "the worker is stopping and accepts no new matches"
        say("no longer accepting matches; stopping once the running ones have finished")
        runner.announce_leaving()
        await _report_state(worker)
        await wait_for(shutdown.twice, _NOTICE_SECONDS)
        runner.reject_matches()
        await _drain(worker, runner, shutdown, closed)
        await worker.close()
    else:
        stopping.cancel()
        health.missing = "the scheduler is unavailable"
        _log.warning("scheduler lost: matches aborted", scheduler=options.scheduler)
    await closed


def _join_error(error: Exception) -> str:
    """Return why a worker could not join; dask wraps the scheduler's reason."""
    if isinstance(error, TimeoutError):
        return (
            f"the scheduler did not answer within {_JOIN_SECONDS:g} s. It may not have noticed yet that this "
            "worker's previous connection was lost"
        )
    reason = str(error.__cause__ or error)
    if "name taken" in reason:
        return (
            "the scheduler has another worker with this name, or has not yet noticed that this worker's "
            "previous connection was lost"
        )
    return reason


async def _accept_matches(
    worker: Worker, options: WorkerOptions, health: MemberHealth, say: Callable[[str], None]
) -> None:
    """Accept matches only while the scheduler can call this worker, which it does to fetch results."""
    joined = False
    while True:
        missing = await _unreachable_reason(worker)
        if missing is not None and health.missing != missing:
            _log.warning("worker not accepting matches", scheduler=options.scheduler, error=missing)
        changed = (missing is None) != (health.missing is None)
        health.missing = missing
        if changed:
            await _report_state(worker)
        if missing is None and not joined:
            joined = True
            say(f"{options.card.name} has joined {options.scheduler} with {options.card.seats} slots")
        await asyncio.sleep(_RECALL_SECONDS if missing is None else _CALL_SECONDS)


async def _report_state(worker: Worker) -> None:
    with suppress(Exception):  # the connection may be closing
        await worker.heartbeat()


async def _unreachable_reason(worker: Worker) -> str | None:
    """Ask the scheduler to call this worker; return why it can't, or None."""
    try:
        await worker.scheduler.broadcast(msg={"op": "identity"}, workers=[worker.address])
    except Exception as error:  # noqa: BLE001 - any error is reported, and the call is retried
        return f"the scheduler can't call this worker at {worker.address}: {error}"
    return None


async def _drain(
    worker: Worker, runner: MatchRunner, shutdown: ShutdownSignal, closed: asyncio.Task[None]
) -> None:
    """Wait until all matches have ended and their results have been fetched, or until a second signal."""

    def must_stop() -> bool:
        return shutdown.twice.is_set() or closed.done()

    await wait_until(lambda: runner.idle or must_stop())
    with suppress(TimeoutError):
        async with asyncio.timeout(_FETCH_SECONDS):
            await wait_until(lambda: not (worker.data or worker.active_keys) or must_stop())


def _worker(options: WorkerOptions, runner: MatchRunner, health: MemberHealth) -> Worker:
    card = write(msgspec.structs.replace(options.card, run=token_hex(8)))

    def state() -> bytes:
        reason = runner.state()
        return write(msgspec.structs.replace(reason, trouble=reason.trouble or health.missing))

    return Worker(
        options.scheduler,
        name=options.card.name,
        # If the scheduler is on a loopback address, as it must be without keys, use one too.
        host=options.host if is_loopback(options.host) else None,
        port=options.port,
        security=options.security,
        nthreads=options.card.seats,
        resources={SEAT: options.card.seats},
        # If the scheduler still lists a previous connection from this port, dask doesn't answer.
        death_timeout=_JOIN_SECONDS,
        # Bots run in their own processes with their own limits.
        memory_limit=0,
        local_directory=str(options.folder),
        dashboard=False,
        dashboard_address=UNUSED_ADDRESS,
        plugins=(MatchRunnerPlugin(runner),),
        startup_information={EXTRA: lambda _: card},
        metrics={EXTRA: lambda _: state()},
    )
