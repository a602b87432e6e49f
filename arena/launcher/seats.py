"""The sandboxes of one match."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Final

import structlog

from arena.launcher.errors import HostFailed, MatchVoid
from arena.launcher.sockets import SeatSockets
from arena.match import Limits, MatchSpec, SeatReport
from arena.referee.spec import SeatEnd
from arena.sandbox.errors import EngineGone, LaunchRefused, RuntimeTrouble
from arena.sandbox.runtime import (
    ATTEMPT_LABEL,
    INSTALL_LABEL,
    MATCH_LABEL,
    SEAT_LABEL,
    Exit,
    Runtime,
    Sandbox,
    SandboxSpec,
)

_log = structlog.get_logger()

_EXIT_SECONDS: Final = 2.0
"""How long to wait for the exit code of a bot whose stream has ended."""


class _Seat:
    """One seat's sandbox, as far as it got."""

    def __init__(self) -> None:
        self.sandbox: Sandbox | None = None
        self.refused: str | None = None
        self.exit: Exit | None = None
        self.trouble: RuntimeTrouble | None = None
        self.ended = threading.Event()
        self.watcher: threading.Thread | None = None


class Seats:
    """Starts, watches and removes the sandboxes of one match.

    Args:
        runtime: Runs them.
        install: The installation's id, part of every name.
        spec: The match.
        sockets: Their folders.
        slots: One a seat.
        deadline_seconds: After this long a sandbox ends by itself.

    Attributes:
        launch_seconds: What it took to start them, once they are.
    """

    def __init__(  # noqa: PLR0913 - a match's sandboxes are made of these
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
        self._specs = tuple(
            _sandbox_spec(install, spec, seat, sockets, slot=slots[seat], deadline_seconds=deadline_seconds)
            for seat in range(len(spec.seats))
        )
        self._seats = tuple(_Seat() for _ in self._specs)
        self._limits: Limits = spec.limits
        self.launch_seconds = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the sandboxes, one a seat, started or not."""
        return tuple(spec.name for spec in self._specs)

    def start(self, started: Callable[[int], None], ended: Callable[[int, str], None]) -> None:
        """Start all sandboxes at the same time.

        Args:
            started: Hears of each that has been started.
            ended: Hears of each that has ended or could not be started, and why.

        Raises:
            HostFailed: The engine does not answer.
            MatchVoid: The runtime failed otherwise. Some may have been started: remove them.
        """
        began = time.monotonic()
        with ThreadPoolExecutor(len(self._specs)) as pool:
            # What is logged there is of this match, too: a thread of its own would not know.
            launches = [
                pool.submit(copy_context().run, self._launch, seat, started, ended)
                for seat in range(len(self._specs))
            ]
        self.launch_seconds = time.monotonic() - began
        for launch in launches:
            try:
                launch.result()
            except RuntimeTrouble as error:
                raise self._void(error) from error

    def finish(self, ends: tuple[SeatEnd, ...]) -> tuple[SeatReport, ...]:
        """Remove every sandbox and tell what became of it.

        Bots whose streams have ended get a moment to end too, so that their exit codes are known.

        Raises:
            MatchVoid: The runtime lost track of such a bot: it may have ended with the runtime and not
                by itself, so it is not to blame.
        """
        for seat, end in zip(self._seats, ends, strict=True):
            if end.lost is not None and seat.sandbox is not None:
                seat.ended.wait(_EXIT_SECONDS)
                if seat.trouble is not None:
                    raise self._void(seat.trouble) from seat.trouble
        # How they ended by themselves; from here on it is this that ends them.
        exits = [seat.exit for seat in self._seats]
        # Only then has everything been read that they printed.
        self.remove()
        return tuple(self._report(seat, end, exits[seat]) for seat, end in enumerate(ends))

    def remove(self) -> None:
        """Remove whatever has been started. What can't be removed is left to the next sweep."""
        sandboxes = [seat.sandbox for seat in self._seats if seat.sandbox is not None]
        if not sandboxes:
            return
        with ThreadPoolExecutor(len(sandboxes)) as pool:
            removals = [pool.submit(copy_context().run, sandbox.remove) for sandbox in sandboxes]
        for removal in removals:
            if (error := removal.exception()) is not None:
                _log.error("sandbox not removed", error=str(error))
        for seat in self._seats:
            if seat.watcher is not None:
                seat.watcher.join()

    def _launch(self, index: int, started: Callable[[int], None], ended: Callable[[int, str], None]) -> None:
        seat = self._seats[index]
        try:
            seat.sandbox = self._runtime.launch(self._specs[index])
        except LaunchRefused as error:
            seat.refused = str(error)
            ended(index, seat.refused)
            return
        started(index)
        seat.watcher = threading.Thread(
            target=copy_context().run, args=(self._watch, index, seat.sandbox, ended), daemon=True
        )
        seat.watcher.start()

    def _watch(self, index: int, sandbox: Sandbox, ended: Callable[[int, str], None]) -> None:
        seat = self._seats[index]
        try:
            seat.exit = sandbox.wait()
            why = self._how_it_ended(seat.exit)
        except RuntimeTrouble as error:
            seat.trouble = error
            why = str(error)
        except Exception as error:  # noqa: BLE001 - whatever it is, no bot is to blame that nobody has watched
            _log.exception("sandbox not watched", seat=index)
            seat.trouble = RuntimeTrouble(repr(error))
            why = repr(error)
        finally:
            seat.ended.set()
        # A bot that plays is not taken for gone by this. One that has not greeted yet may be, and then nobody
        # need wait for it: the match is void.
        ended(index, why)

    def _report(self, index: int, end: SeatEnd, how: Exit | None) -> SeatReport:
        seat, spec = self._seats[index], self._specs[index]
        trouble = seat.refused or end.lost
        if seat.refused is None and trouble is not None and how is not None:
            ended = self._how_it_ended(how)
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

    def _how_it_ended(self, how: Exit) -> str:
        if how.out_of_memory:
            return f"it ran out of memory (its limit is {self._limits.memory_mib} MiB)"
        return f"it ended with exit code {how.code}"

    def _void(self, error: RuntimeTrouble) -> MatchVoid:
        """Tell a match that can't be played from a host that can play none: an ending engine answers."""
        if isinstance(error, EngineGone) or self._runtime.trouble() is not None:
            return HostFailed(str(error))
        return MatchVoid(str(error))


def _sandbox_spec(  # noqa: PLR0913 - what a sandbox is made of
    install: str, spec: MatchSpec, seat: int, sockets: SeatSockets, *, slot: int, deadline_seconds: int
) -> SandboxSpec:
    return SandboxSpec(
        name=f"arena-{install}-{spec.match}-{spec.attempt}-{seat}",
        source=spec.seats[seat],
        socket_dir=sockets.folders[seat],
        slot=slot,
        limits=spec.limits,
        deadline_seconds=deadline_seconds,
        labels={
            INSTALL_LABEL: install,
            MATCH_LABEL: spec.match,
            ATTEMPT_LABEL: str(spec.attempt),
            SEAT_LABEL: str(seat),
        },
    )
