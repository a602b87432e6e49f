"""Plays matches, one call each, from any number of threads."""

import math
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from structlog.contextvars import bound_contextvars

from arena.failpoints import reach
from arena.launcher.errors import LauncherStopped, MatchVoid
from arena.launcher.referee import RefereeProcess
from arena.launcher.seats import Seats
from arena.launcher.sockets import SeatSockets, seat_sockets
from arena.match import MOST_PROGRESS_BYTES, MatchRecord, MatchSpec, Progress, decode, encode
from arena.referee.spec import Ended, Finished, Listening, RefereeSpec, RoundsOver, Started
from arena.sandbox.runtime import Runtime

_REFEREE_MIB: Final = 512
_SPARE_SECONDS: Final = 60.0
_GRACE_SECONDS: Final = 30.0
"""How much longer than the match's own deadline a sandbox may live that nobody has removed."""


def _unwatched(_: bytes) -> None:
    """Let nobody watch."""


class Launcher:
    """Plays matches on this host.

    Args:
        runtime: Runs the bots.
        install: The installation's id: part of every container's name, so that
            leftovers are told from others' containers.
        run_dir: Where the sockets' folders are made.
    """

    def __init__(self, runtime: Runtime, install: str, run_dir: Path) -> None:
        self._runtime = runtime
        self._install = install
        self._run_dir = run_dir
        self._stopping = threading.Event()
        self._referees: set[RefereeProcess] = set()
        self._names: set[str] = set()
        self._lock = threading.RLock()  # a signal handler may call stop()

    def play(
        self, spec: bytes, slots: tuple[int, ...], progress: Callable[[bytes], None] = _unwatched
    ) -> bytes:
        """Play a match.

        Args:
            spec: A :class:`arena.match.MatchSpec`.
            slots: One a seat; nobody else uses them meanwhile.
            progress: Is given a :class:`arena.match.Progress` now and then, in this thread. It must be quick,
                and not raise.

        Returns:
            A :class:`arena.match.MatchRecord`.

        Raises:
            HostFailed: This host can't run bots now. What is left is swept once it can.
            MatchVoid: The arena failed. Nothing of the match is left.
            LauncherStopped: :meth:`stop` was called. Nothing of the match is left.
            ValueError: The bytes are no specification.
        """
        match = decode(spec, MatchSpec)
        try:
            with (
                bound_contextvars(match=match.match, attempt=match.attempt),
                seat_sockets(self._run_dir, slots) as sockets,
            ):
                reach("sockets-made")
                return encode(self._play(match, sockets, slots, progress))
        except MatchVoid as error:
            if self._stopping.is_set():
                raise LauncherStopped(f"match {match.match} was stopped") from error
            raise

    def stop(self) -> None:
        """End all matches at once, and begin no more."""
        self._stopping.set()
        with self._lock:
            for referee in self._referees:
                referee.kill()

    def trouble(self) -> str | None:
        """Return why this host can't run bots now, or None where nothing is known to be wrong."""
        return self._runtime.trouble()

    def owns(self, name: str) -> bool:
        """Tell whether a sandbox with this name belongs to a match that is played now."""
        with self._lock:
            return name in self._names

    def _play(
        self,
        match: MatchSpec,
        sockets: SeatSockets,
        slots: tuple[int, ...],
        progress: Callable[[bytes], None],
    ) -> MatchRecord:
        longest = longest_seconds(match)
        seats = Seats(
            self._runtime,
            self._install,
            match,
            sockets,
            slots,
            deadline_seconds=math.ceil(longest + _GRACE_SECONDS),
        )
        with self._lock:
            self._names.update(seats.names)
        try:
            with RefereeProcess(_referee_spec(match, sockets)) as referee:
                self._enter(referee)
                reach("referee-started")
                deadline = referee.kill_after(longest)
                try:
                    finished = self._conduct(referee, seats, sockets, _progress_of(match, progress))
                finally:
                    deadline.cancel()
                    self._leave(referee)
            return MatchRecord(
                match=match.match,
                attempt=match.attempt,
                games=finished.games,
                seats=seats.finish(finished.seats),
                launch_seconds=seats.launch_seconds,
            )
        finally:
            try:
                seats.remove()
            finally:
                with self._lock:
                    self._names.difference_update(seats.names)

    def _conduct(
        self,
        referee: RefereeProcess,
        seats: Seats,
        sockets: SeatSockets,
        progress: Callable[[RoundsOver], None],
    ) -> Finished:
        for message in referee.messages():
            match message:
                case Listening():
                    sockets.hand_over()
                    seats.start(
                        started=lambda seat: referee.tell(Started(seat)),
                        ended=lambda seat, why: referee.tell(Ended(seat, why)),
                    )
                    reach("sandboxes-started")
                case RoundsOver():
                    progress(message)
                case Finished():
                    reach("played")
                    return message
        raise MatchVoid(referee.last_words())

    def _enter(self, referee: RefereeProcess) -> None:
        with self._lock:
            self._referees.add(referee)
            if self._stopping.is_set():
                referee.kill()

    def _leave(self, referee: RefereeProcess) -> None:
        with self._lock:
            self._referees.discard(referee)


def _progress_of(match: MatchSpec, progress: Callable[[bytes], None]) -> Callable[[RoundsOver], None]:
    def tell(over: RoundsOver) -> None:
        data = encode(Progress(match=match.match, attempt=match.attempt, game=over.game, steps=over.steps))
        if len(data) <= MOST_PROGRESS_BYTES:
            progress(data)

    return tell


def _referee_spec(match: MatchSpec, sockets: SeatSockets) -> RefereeSpec:
    return RefereeSpec(
        rules=match.rules,
        seeds=match.seeds,
        clock=match.clock,
        sockets=tuple(str(path) for path in sockets.paths),
        folder=str(sockets.referee_folder),
        uid=sockets.referee_uid,
        memory_mib=_REFEREE_MIB,
    )


def longest_seconds(match: MatchSpec) -> float:
    """Return seconds that no match takes whose clocks are kept: one seat's worst case after another."""
    clock = match.clock
    turns = 3 * match.rules.turns
    game = (turns * clock.move_millis + match.rules.players * clock.bank_millis) / 1000
    return clock.start_millis / 1000 + len(match.seeds) * game + _SPARE_SECONDS
