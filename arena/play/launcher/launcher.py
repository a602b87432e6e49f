"""Plays matches: one call per match, from any thread. Each match has its own referee process."""

import math
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import copy_context
from pathlib import Path
from typing import Final, Protocol, Self

import msgspec
import structlog
from structlog.contextvars import bound_contextvars

from arena.platform.environment import failpoint
from arena.play.launcher import LauncherStopped, MatchTooLong, MatchVoid
from arena.play.launcher.seats import Seats, SeatSockets, seat_sockets
from arena.play.referee.spec import (
    Ended,
    Finished,
    FromLauncher,
    FromReferee,
    Listening,
    PersonAnswered,
    PersonAsked,
    RefereeSpec,
    RoundsOver,
    Started,
)
from arena.protocol.decoding import prepared
from arena.protocol.match import MAX_PROGRESS_BYTES, MatchRecord, MatchSpec, Progress, decode, encode
from arena.rules import Move, View
from arena.sandbox.runtime import Runtime

_log = structlog.get_logger()

_STDERR_BYTES: Final = 4_000

_LINE_BYTES: Final = 256 * 1024 * 1024
"""Maximum length of a message, in case the referee is compromised. A thousand games take about 20 MiB."""


_EXIT_SECONDS: Final = 10.0
"""Maximum time that a killed referee takes to exit, unless a bot keeps it from exiting."""


class RefereeProcess:
    """A running referee. Leaving the context kills it.

    ``remove_bots`` is called if the referee doesn't exit: it may be waiting, in the kernel, for
    something that one of the bots holds.
    """

    def __init__(self, spec: RefereeSpec, remove_bots: Callable[[], None]) -> None:
        self._remove_bots = remove_bots
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the context is left
        self._write_lock = threading.Lock()
        self._killed_after = 0.0
        self._process = subprocess.Popen(
            # Isolated mode, a new session and only these variables, so that nothing leaks from the launcher.
            [sys.executable, "-I", "-m", "arena.play.referee"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            cwd="/",
            env={"PATH": os.defpath, "LANG": "C.UTF-8", "GRPC_VERBOSITY": "NONE"},
            start_new_session=True,
        )
        self.send(spec)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._await_exit()
        for stream in (self._process.stdin, self._process.stdout, self._stderr):
            if stream is not None:
                # Closing stdin flushes it, but the referee no longer reads from it.
                with suppress(BrokenPipeError):
                    stream.close()

    def kill(self) -> None:
        """Kill the referee, without waiting for it to exit. Thread-safe and idempotent."""
        self._process.kill()
        threading.Thread(target=copy_context().run, args=(self._await_exit,), daemon=True).start()

    def _await_exit(self) -> None:
        try:
            self._process.wait(_EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            _log.warning("referee's exit blocked by a bot")
            self._remove_bots()
            self._process.wait()

    def kill_after(self, seconds: float) -> threading.Timer:
        """Kill the referee after ``seconds`` unless the caller cancels the timer."""

        def expire() -> None:
            self._killed_after = seconds
            self.kill()

        timer = threading.Timer(seconds, expire)
        timer.daemon = True
        timer.start()
        return timer

    @property
    def expired(self) -> bool:
        """Whether the timer of :meth:`kill_after` has killed the referee."""
        return self._killed_after > 0

    def send(self, message: RefereeSpec | FromLauncher) -> None:
        """Send the referee a message. Does nothing if it has exited; :meth:`messages` then ends."""
        line = msgspec.json.encode(message) + b"\n"
        with self._write_lock, suppress(BrokenPipeError, ValueError):
            if self._process.stdin is not None:
                self._process.stdin.write(line)
                self._process.stdin.flush()

    def messages(self) -> Iterator[FromReferee]:
        """Yield the referee's messages until it exits. Raises MatchVoid for anything that isn't a message."""
        if self._process.stdout is None:
            return
        while line := self._process.stdout.readline(_LINE_BYTES):
            try:
                yield msgspec.json.decode(line, type=prepared(FromReferee))
            except msgspec.DecodeError as error:
                raise MatchVoid(f"the referee sent {line[:200]!r}: {error}") from error

    def describe_end(self) -> str:
        """Describe how the referee exited, including the end of its stderr."""
        code = self._process.wait()
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - _STDERR_BYTES))
        printed = self._stderr.read().decode(errors="replace").strip()
        if self.expired:
            return (
                f"the match did not end within {self._killed_after:.0f} s, the limit derived from its clocks"
            )
        return f"the referee exited with code {code}" + (f": {printed}" if printed else "")


_SPARE_SECONDS: Final = 60.0
_HOST_FACTOR: Final = 4
"""Multiplies the time that a match's clocks allow, because clocks stop while the host keeps bots waiting."""

_GRACE_SECONDS: Final = 30.0
"""Time from the match's deadline to its sandboxes' own deadline, which ends any that weren't removed."""


_PERSON_SECONDS: Final = 3600.0
"""Maximum total time for a person's decisions."""


class PersonChannel:
    """Passes a person's choices to a running match. Thread-safe."""

    def __init__(self, referee: RefereeProcess) -> None:
        self._referee = referee

    def choose(self, round_number: int, turn: int, move: Move) -> None:
        """Play a move, which must be legal and answer the pending request."""
        self._referee.send(PersonAnswered(round_number, turn, move))

    def leave(self) -> None:
        """End the match because the person has left."""
        self._referee.kill()


class Person(Protocol):
    """A person who plays a match."""

    def started(self, channel: PersonChannel) -> None:
        """Called once, when the match begins. ``channel`` takes the person's choices."""

    def move_requested(self, view: View) -> None:
        """Called when the person must decide, in the thread that plays the match. Must return quickly."""


class Launcher:
    """Plays matches on this host.

    ``install``, the installation's id, is part of every container's name and identifies leftovers. The
    sockets' folders are created in ``run_dir``.
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
        self,
        spec: bytes,
        slots: tuple[int, ...],
        progress: Callable[[bytes], None] = lambda _: None,
        person: Person | None = None,
        keep: Callable[[int, str], None] = lambda *_: None,
    ) -> bytes:
        """Play a match.

        Takes an encoded :class:`arena.protocol.match.MatchSpec` and, for each seat, a slot that no other
        match uses; returns an encoded :class:`arena.protocol.match.MatchRecord`. ``progress`` is called
        regularly, in this thread, with an encoded :class:`arena.protocol.match.Progress`. It must return
        quickly and must not raise. ``person`` takes the seat that the specification assigns to a person.
        ``keep`` is called, at the end, for each slot whose sandbox may still exist, as
        :meth:`arena.play.launcher.slots.SlotPool.keep`.

        Raises ValueError if ``spec`` can't be decoded, MatchVoid after an arena fault, HostFailed if this
        host can't run bots now, or LauncherStopped after :meth:`stop`.
        """
        match = decode(spec, MatchSpec)
        try:
            with (
                bound_contextvars(match=match.match, attempt=match.attempt),
                seat_sockets(self._run_dir, slots) as sockets,
            ):
                failpoint("sockets-made")
                return encode(self._play(match, sockets, slots, progress, person, keep))
        except (MatchVoid, OSError) as error:
            if self._stopping.is_set():
                raise LauncherStopped(f"match {match.match} was stopped") from error
            if isinstance(error, OSError):
                raise MatchVoid(f"the host couldn't play the match: {error}") from error
            raise

    def stop(self) -> None:
        """Abort all matches, and start no new ones."""
        self._stopping.set()
        with self._lock:
            for referee in self._referees:
                referee.kill()

    def unavailable_reason(self) -> str | None:
        """Return why this host can't run bots now, or None if no reason is known."""
        return self._runtime.unavailable_reason()

    def owns(self, name: str) -> bool:
        """Return True if the sandbox with this name belongs to a running match."""
        with self._lock:
            return name in self._names

    def _play(  # noqa: PLR0913, PLR0917 - the arguments of `play`, decoded
        self,
        match: MatchSpec,
        sockets: SeatSockets,
        slots: tuple[int, ...],
        progress: Callable[[bytes], None],
        person: Person | None,
        keep: Callable[[int, str], None],
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
            with RefereeProcess(_referee_spec(match, sockets), seats.remove) as referee:
                self._register(referee)
                failpoint("referee-started")
                deadline = referee.kill_after(longest)
                try:
                    finished = self._conduct(referee, seats, sockets, _progress_of(match, progress), person)
                finally:
                    deadline.cancel()
                    with self._lock:
                        self._referees.discard(referee)
                # Before the referee is killed, because a bot may delay the exit until the bots are removed.
                reports = seats.finish(finished.seats, faults=_has_faults(finished))
            return MatchRecord(
                match=match.match,
                attempt=match.attempt,
                games=finished.games,
                seats=reports,
                launch_seconds=seats.launch_seconds,
            )
        finally:
            try:
                seats.remove()
            finally:
                with self._lock:
                    self._names.difference_update(seats.names)
                for slot, name in seats.left():
                    keep(slot, name)

    def _conduct(
        self,
        referee: RefereeProcess,
        seats: Seats,
        sockets: SeatSockets,
        progress: Callable[[RoundsOver], None],
        person: Person | None,
    ) -> Finished:
        for message in referee.messages():
            match message:
                case Listening():
                    sockets.restrict_access()
                    seats.start(
                        started=lambda seat, cpu: referee.send(Started(seat, cpu)),
                        ended=lambda seat, why: referee.send(Ended(seat, why)),
                    )
                    failpoint("sandboxes-started")
                    if person is not None:
                        person.started(PersonChannel(referee))
                case RoundsOver():
                    progress(message)
                case PersonAsked():
                    if person is not None:
                        person.move_requested(message.view)
                case Finished():
                    failpoint("played")
                    return message
        reason = referee.describe_end()
        raise MatchTooLong(reason) if referee.expired else MatchVoid(reason)

    def _register(self, referee: RefereeProcess) -> None:
        with self._lock:
            self._referees.add(referee)
            if self._stopping.is_set():
                referee.kill()


def _has_faults(finished: Finished) -> bool:
    return any(seat.lost is not None for seat in finished.seats) or any(
        decision is not None and decision.fault is not None
        for game in finished.games
        for step in game.steps
        for decision in step
    )


def _progress_of(match: MatchSpec, progress: Callable[[bytes], None]) -> Callable[[RoundsOver], None]:
    def send(over: RoundsOver) -> None:
        data = encode(Progress(match=match.match, attempt=match.attempt, game=over.game, steps=over.steps))
        if len(data) <= MAX_PROGRESS_BYTES:
            progress(data)

    return send


def _referee_spec(match: MatchSpec, sockets: SeatSockets) -> RefereeSpec:
    return RefereeSpec(
        rules=match.rules,
        seeds=match.seeds,
        seatings=match.seatings,
        clock=match.clock,
        sockets=tuple(str(path) for path in sockets.paths),
        folder=str(sockets.referee_folder),
        uid=sockets.referee_uid,
        person=match.person,
    )


def longest_seconds(match: MatchSpec) -> float:
    """Return the number of seconds after which a match fails with an arena fault.

    This is enough for the start, every turn's move time and all bots' banks on a host that runs bots for only
    a quarter of the time. It includes a spare minute and, if a person plays, an hour for their decisions.
    """
    clock = match.clock
    turns = 3 * match.rules.turns
    game = (turns * clock.move_millis + match.rules.players * clock.bank_millis) / 1000
    of_bots = _HOST_FACTOR * (clock.start_millis / 1000 + len(match.seeds) * game) + _SPARE_SECONDS
    return of_bots + (0.0 if match.person is None else _PERSON_SECONDS)
