"""Analyses rated games while the host is idle, and people's games as soon as they are over."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from itertools import count
from typing import Final

import msgspec
import structlog

from arena.db.errors import StoreError
from arena.db.store import Store
from arena.platform.periodic import PeriodicTask
from arena.play.analysis.analyst import ANALYST, VERSION
from arena.play.analysis.grading import merit, puzzle_in
from arena.protocol.analysis import Analysis
from arena.protocol.decoding import prepared

_log = structlog.get_logger()

_PAUSE_SECONDS: Final = 60.0
"""Pause before each analysis of a rated game. An analysis takes 10 to 20 s of CPU time and slows down matches
slightly."""

_PERSON_GAME_SECONDS: Final = 3.0
"""Interval between checks for a person's game. The person is waiting, so the analysis doesn't wait for a free
slot."""

_TIMEOUT: Final = timedelta(hours=1)
"""Maximum time from the end of a person's game to the start of its analysis."""


class HostAnalyst:
    """Analyses games, each in a separate process that gets only idle CPU time.

    ``idle`` returns True if the host has a free slot; otherwise, rated games are not analysed.
    ``playouts`` is the number of playouts per position and option. ``now`` returns the time in UTC.
    """

    def __init__(
        self, store: Store, playouts: int, idle: Callable[[], bool], now: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._playouts = playouts
        self._idle = idle
        self._now = now
        self.failed: set[str] = set()  # ids of games whose analysis failed; they are not tried again
        self._lock = threading.Lock()
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._closed = False

    def analyse_next(self) -> None:
        """Analyse the rated game with the highest priority, if the host is idle. Raises StoreError."""
        if not self._idle():
            return
        replay = self._store.analyses.next_replay(ANALYST, VERSION, without=self.failed)
        if replay is None:
            return
        game = str(msgspec.json.decode(replay)["game"])
        found = self._analyse(game, replay)
        if found is not None and self._store.analyses.add(found) and (puzzle := puzzle_in(found)) is not None:
            self._store.puzzles.offer(game, puzzle, merit(puzzle), self._now().date())

    def analyse_person_game(self) -> None:
        """Analyse a person's game that has just ended. Raises StoreError."""
        games = self._store.person_games
        game = games.unanalysed(self._now() - _TIMEOUT, without=self.failed)
        if game is not None and (found := self._analyse(game.id, game.replay)) is not None:
            games.store_analysis(game.id, found)

    def _analyse(self, game: str, replay: str) -> Analysis | None:
        """Return a game's analysis; if it fails, record the game as failed and return None."""
        if (process := self._start()) is None:
            return None
        with process:
            found = _request_analysis(process, replay)
        with self._lock:
            self._processes.discard(process)
        if found is not None:
            _log.info("game analysed", game=found.game)
        elif not self._closed:
            self.failed.add(game)
            _log.error("analysis failed", game=game, exit_code=process.returncode)
        return found

    def _start(self) -> "subprocess.Popen[bytes] | None":
        """Start a process and return it, or return None after :meth:`close`."""
        with self._lock:
            if self._closed:
                return None
            process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-I", "-m", "arena.play.analysis", "--playouts", str(self._playouts)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
            self._processes.add(process)
            return process

    def close(self) -> None:
        """Abandon the analyses in progress, and start no new ones."""
        with self._lock:
            self._closed = True
            for process in self._processes:
                process.kill()


def _request_analysis(process: "subprocess.Popen[bytes]", replay: str) -> Analysis | None:
    """Return the game's analysis, or None if the process failed or was killed."""
    assert process.stdin is not None  # noqa: S101 - both are pipes
    assert process.stdout is not None  # noqa: S101 - as above
    try:
        process.stdin.write(replay.encode() + b"\n")
        process.stdin.flush()  # not closed: the process exits when its input ends
        return msgspec.json.decode(process.stdout.read(), type=prepared(Analysis))
    except (BrokenPipeError, msgspec.DecodeError):
        return None
    finally:
        # If the process ended early, the buffer still contains data. Closing the pipe would write this data
        # and fail again.
        with suppress(BrokenPipeError):
            process.stdin.close()


@contextmanager
def analyst(
    store: Store,
    playouts: int,
    idle: Callable[[], bool],
    now: Callable[[], datetime],
    *,
    seconds: float = _PAUSE_SECONDS,
) -> Iterator[None]:
    """Analyse games periodically within the context; see :class:`HostAnalyst`.

    There is a pause of ``seconds`` before each analysis of a rated game. If ``playouts`` is 0, no games are
    analysed.
    """
    if not playouts:
        yield
        return
    host_analyst = HostAnalyst(store, playouts, idle, now)
    calls = count()

    def analyse() -> None:
        if next(calls):
            host_analyst.analyse_next()

    with (
        PeriodicTask(analyse, name="analyst", seconds=seconds, expected=(StoreError,)),
        PeriodicTask(
            host_analyst.analyse_person_game,
            name="analyst of people's games",
            seconds=_PERSON_GAME_SECONDS,
            expected=(StoreError,),
        ),
    ):
        try:
            yield
        finally:
            host_analyst.close()
