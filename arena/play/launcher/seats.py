"""The sandboxes for one match, and the folders for their sockets."""

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from pathlib import Path
from typing import Final

import structlog

from arena.platform.cpu_time import CpuFiles
from arena.play.launcher import HostFailed, MatchVoid
from arena.play.referee.spec import SeatEnd
from arena.protocol.match import Limits, MatchSpec, SeatReport
from arena.sandbox.runtime import (
    ATTEMPT_LABEL,
    INSTALL_LABEL,
    MATCH_LABEL,
    SEAT_LABEL,
    SOCKET_NAME,
    EngineUnavailable,
    Exit,
    LaunchRefused,
    Runtime,
    RuntimeFailure,
    Sandbox,
    SandboxSpec,
    slot_owner,
)

REFEREE_UID: Final = 63_000
"""If the launcher is root, the user id of a match's referee is this number plus the match's first slot."""

MAX_RUN_DIR_LENGTH: Final = 107 - len(f"/12345678/0/{SOCKET_NAME}")
"""Maximum path length of an installation's run folder, in bytes. A socket's path is limited to 107."""


class SeatSockets:
    """The folders for one match. They are in ``root``, which belongs to this match only.

    Only this process's user can write to the seats' folders. Only the referee can enter its own folder,
    which isn't mounted into any container.
    """

    def __init__(self, root: Path, slots: tuple[int, ...]) -> None:
        self.folders = tuple(root / str(seat) for seat in range(len(slots)))
        self.paths = tuple(folder / SOCKET_NAME for folder in self.folders)
        self.referee_folder = root / "referee"
        self._slots = slots
        self.referee_uid = REFEREE_UID + slots[0] if os.geteuid() == 0 else None
        for folder in self.folders:
            folder.mkdir(parents=True)
            folder.chmod(0o711)  # despite the umask, because the bot runs as another user
        self.referee_folder.mkdir(mode=0o700)
        if self.referee_uid is not None:
            os.chown(self.referee_folder, self.referee_uid, self.referee_uid)

    def restrict_access(self) -> None:
        """Restrict each socket to its bot. Call this once the referee is listening."""
        for path, slot in zip(self.paths, self._slots, strict=True):
            if not path.exists():  # a person has no socket
                continue
            path.chmod(0o600)
            os.lchown(path, *slot_owner(slot, os.geteuid(), os.getegid()))


@contextmanager
def seat_sockets(run_dir: Path, slots: tuple[int, ...]) -> Iterator[SeatSockets]:
    """Create a match's folders, and remove them at the end.

    Their parent's name is random, because a bot can read the source paths of its container's mounts.
    """
    with ExitStack() as stack:
        try:
            run_dir.mkdir(parents=True, exist_ok=True, mode=0o711)
            folder = tempfile.TemporaryDirectory(prefix="", dir=run_dir, ignore_cleanup_errors=True)
            root = Path(stack.enter_context(folder))
            root.chmod(0o711)
            sockets = SeatSockets(root, slots)
        except OSError as error:
            raise MatchVoid(
                f"can't create socket folders in {run_dir}: {error}. Check ARENA_RUN_DIR"
            ) from error
        yield sockets


_log = structlog.get_logger()

_EXIT_SECONDS: Final = 2.0
"""Maximum wait for the exit code of a bot whose stream has ended."""


class _Seat:
    """The state of one seat's sandbox."""

    def __init__(self) -> None:
        self.sandbox: Sandbox | None = None
        self.refused: str | None = None
        self.launching = False
        self.may_exist = False  # True from the launch until a removal succeeds
        self.exit: Exit | None = None
        self.trouble: RuntimeFailure | None = None
        self.ended = threading.Event()
        self.watcher: threading.Thread | None = None


class Seats:
    """Starts, watches and removes the sandboxes for one match.

    A sandbox ends after at most ``deadline_seconds``. ``slots`` has one entry per seat.
    """

    def __init__(  # noqa: PLR0913 - everything that a match's sandboxes need
        self,
        runtime: Runtime,
        install: str,
        spec: MatchSpec,
        sockets: SeatSockets,
        slots: tuple[int, ...],
        *,
        deadline_seconds: int,
    ) -> None:
        self._runtime = runtime
        self._install = install
        self._specs = tuple(
            SandboxSpec(
                name=f"arena-{install}-{spec.match}-{spec.attempt}-{seat}",
                source=source,
                socket_dir=sockets.folders[seat],
                slot=slots[seat],
                limits=spec.limits,
                deadline_seconds=deadline_seconds,
                labels={
                    INSTALL_LABEL: install,
                    MATCH_LABEL: spec.match,
                    ATTEMPT_LABEL: str(spec.attempt),
                    SEAT_LABEL: str(seat),
                },
                low_priority=spec.person is not None,
            )
            for seat, source in enumerate(spec.seats)
        )
        self.names = tuple(spec.name for spec in self._specs)  # the sandboxes' names, started or not
        self._seats = tuple(_Seat() for _ in self._specs)
        self._bots = tuple(seat for seat in range(len(spec.seats)) if seat != spec.person)
        self._limits: Limits = spec.limits
        self.launch_seconds = 0.0  # how long it took to start all sandboxes

    def start(self, started: Callable[[int, CpuFiles], None], ended: Callable[[int, str], None]) -> None:
        """Start all sandboxes concurrently.

        Calls ``started`` for each sandbox that started, and ``ended`` for each that ended or couldn't start.
        Raises HostFailed if this host can't run bots now, or MatchVoid if the runtime failed in another way.
        In both cases, call :meth:`remove`, because some sandboxes may be running.
        """
        began = time.monotonic()
        with ThreadPoolExecutor(len(self._bots)) as pool:
            # The copied context adds this match to the threads' log lines.
            launches = [
                pool.submit(copy_context().run, self._launch, seat, started, ended) for seat in self._bots
            ]
        self.launch_seconds = time.monotonic() - began
        for launch in launches:
            try:
                launch.result()
            except RuntimeFailure as error:
                raise self._void(error) from error

    def finish(self, ends: tuple[SeatEnd, ...], *, faults: bool) -> tuple[SeatReport, ...]:
        """Remove every sandbox and report how it ended.

        Bots whose streams have ended get a moment to exit, so that their exit codes are known.
        ``ends`` are the referee's reports, one per seat. ``faults`` says whether any bot had a fault.

        Raises MatchVoid if the runtime lost track of a bot whose stream has ended, since the runtime may have
        ended that bot. Also raises it if there were faults and something outside the arena stopped or ended
        a bot.
        """
        for seat, end in zip(self._seats, ends, strict=True):
            if end.lost is not None and seat.sandbox is not None:
                seat.ended.wait(_EXIT_SECONDS)
                if seat.trouble is not None:
                    raise self._void(seat.trouble) from seat.trouble
        if faults:
            self._check_untouched()
        # Read the exits before remove(), which ends the bots that are still running.
        exits = [seat.exit for seat in self._seats]
        # After this, all of the bots' stderr has been read.
        self.remove()
        return tuple(self._report(seat, end, exits[seat]) for seat, end in enumerate(ends))

    def _check_untouched(self) -> None:
        for seat in self._seats:
            if seat.sandbox is not None:
                try:
                    seat.sandbox.check_untouched()
                except RuntimeFailure as error:
                    raise self._void(error) from error

    def remove(self) -> None:
        """Remove every sandbox that may exist. Those that can't be removed are left to the next sweep."""
        with ThreadPoolExecutor(len(self._seats)) as pool:
            removals = [
                (seat, pool.submit(copy_context().run, self._remove, index))
                for index, seat in enumerate(self._seats)
                if seat.may_exist
            ]
        for seat, removal in removals:
            if (error := removal.exception()) is not None:
                _log.error("sandbox removal failed", error=str(error))
            elif seat.watcher is not None:
                seat.watcher.join()

    def left(self) -> tuple[tuple[int, str], ...]:
        """Return the slots and names of the sandboxes that may still exist."""
        seats = zip(self._seats, self._specs, strict=True)
        return tuple((spec.slot, spec.name) for seat, spec in seats if seat.may_exist)

    def _remove(self, index: int) -> None:
        seat, name = self._seats[index], self._specs[index].name
        if seat.sandbox is not None:
            seat.sandbox.remove()
        elif seat.launching:
            return  # it may exist later; `remove` is called again after all launches
        else:  # the launch failed, and the runtime may not have been able to undo it
            self._runtime.sweep(self._install, lambda other: other != name)
        seat.may_exist = False

    def _launch(
        self, index: int, started: Callable[[int, CpuFiles], None], ended: Callable[[int, str], None]
    ) -> None:
        seat = self._seats[index]
        seat.may_exist = seat.launching = True
        try:
            seat.sandbox = self._runtime.launch(self._specs[index])
        except LaunchRefused as error:
            seat.refused = str(error)
            ended(index, seat.refused)
            return
        finally:
            seat.launching = False
        started(index, seat.sandbox.cpu)
        seat.watcher = threading.Thread(
            target=copy_context().run, args=(self._watch, index, seat.sandbox, ended), daemon=True
        )
        seat.watcher.start()

    def _watch(self, index: int, sandbox: Sandbox, ended: Callable[[int, str], None]) -> None:
        seat = self._seats[index]
        try:
            seat.exit = sandbox.wait()
            why = self._describe_exit(seat.exit)
        except RuntimeFailure as error:
            seat.trouble = error
            why = str(error)
        except Exception as error:  # noqa: BLE001 - whatever the error, an unwatched bot isn't to blame
            _log.exception("sandbox watch failed", seat=index)
            seat.trouble = RuntimeFailure(repr(error))
            why = repr(error)
        finally:
            seat.ended.set()
        # The referee ignores this if the bot has sent its Hello, and otherwise stops waiting for the bot. If
        # the runtime failed, finish() then voids the match.
        ended(index, why)

    def _report(self, index: int, end: SeatEnd, how: Exit | None) -> SeatReport:
        seat, spec = self._seats[index], self._specs[index]
        trouble = seat.refused or end.lost
        if seat.refused is None and trouble is not None and how is not None:
            ended = self._describe_exit(how)
            trouble = ended if trouble == ended else f"{trouble}; {ended}"
        return SeatReport(
            image=spec.source,
            runtime=self._runtime.describe,
            limits=seat.sandbox.limits if seat.sandbox is not None else (),
            sdk=end.sdk,
            exit_code=how.code if how is not None else None,
            out_of_memory=how.out_of_memory if how is not None else False,
            stderr=seat.sandbox.stderr() if seat.sandbox is not None else "",
            trouble=trouble,
        )

    def _describe_exit(self, how: Exit) -> str:
        if how.out_of_memory:
            return f"it ran out of memory (its limit is {self._limits.memory_mib} MiB)"
        return f"it exited with code {how.code}"

    def _void(self, error: RuntimeFailure) -> MatchVoid:
        """Return HostFailed if this host can't run bots now, otherwise MatchVoid.

        An engine that is shutting down still responds, so this asks the runtime whether it can run bots.
        """
        if isinstance(error, EngineUnavailable) or self._runtime.unavailable_reason() is not None:
            return HostFailed(str(error))
        return MatchVoid(str(error))
