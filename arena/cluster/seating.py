"""One host's seats: the worker's own part of playing a match that came over the cluster. Knows no dask."""

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from arena.cluster.messages import Answer, Dropped, Record, State, Void
from arena.launcher import HostFailed, Launcher, LauncherStopped, MatchVoid, SlotPool
from arena.match import MatchSpec, decode
from arena.sandbox import Runtime


@dataclass(frozen=True, slots=True)
class _Playing:
    """A match under way."""

    launcher: Launcher
    session: str
    seats: int


class Seating:
    """Plays matches in this host's slots. Thread-safe.

    Args:
        runtime: Runs the bots.
        install: The installation's id, part of every sandbox's name.
        run_dir: Where the sockets' folders are made.
        slots: The seats of this host.
    """

    def __init__(self, runtime: Runtime, install: str, run_dir: Path, slots: SlotPool) -> None:
        self._runtime = runtime
        self._install = install
        self._run_dir = run_dir
        self._slots = slots
        self._playing: dict[str, _Playing] = {}
        self._leaving = self._shut = False
        self._trouble: str | None = None
        self._ended = dict.fromkeys(("record", "void", "dropped"), 0)
        self._lock = threading.RLock()

    @property
    def idle(self) -> bool:
        """Whether no match is under way."""
        with self._lock:
            return not self._playing

    def state(self) -> State:
        """Return who takes how many seats, and whether there is room for more."""
        with self._lock:
            busy: Counter[str] = Counter()
            for playing in self._playing.values():
                busy[playing.session] += playing.seats
            return State(busy=dict(busy), leaving=self._leaving, trouble=self._trouble)

    def ended(self) -> dict[str, int]:
        """Return how many matches are over here, by the kind of answer."""
        with self._lock:
            return dict(self._ended)

    def play(self, spec: bytes, session: str, key: str, progress: Callable[[bytes], None]) -> Answer:
        """Play a match.

        Args:
            spec: A :class:`arena.match.MatchSpec`.
            session: Of the coordinator that asks.
            key: By which the match can be stopped.
            progress: See :meth:`arena.launcher.Launcher.play`.
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
        # Each has a launcher of its own, so that each can be stopped alone.
        launcher = Launcher(self._runtime, self._install, self._run_dir)
        with self._lock:
            slots = None if self._shut else self._slots.take(seats)
            if slots is None:
                return Dropped("it leaves" if self._shut else "it has no room")
            self._playing[key] = _Playing(launcher, session, seats)
        try:
            return self._played(launcher, spec, slots, progress)
        finally:
            with self._lock:
                del self._playing[key]
                self._slots.give_back(slots)

    def _played(
        self, launcher: Launcher, spec: bytes, slots: tuple[int, ...], progress: Callable[[bytes], None]
    ) -> Answer:
        try:
            return Record(launcher.play(spec, slots, progress))
        except LauncherStopped:
            return Dropped("the match was stopped there")
        except HostFailed as error:
            self._trouble = str(error)
            return Void(str(error), host=True)
        except MatchVoid as error:
            return Void(str(error))

    def owns(self, name: str) -> bool:
        """Tell whether a sandbox with this name belongs to a match that is played now."""
        with self._lock:
            return any(playing.launcher.owns(name) for playing in self._playing.values())

    def stop(self, key: str) -> None:
        """End a match at once, if it is under way: nobody waits for it any more."""
        with self._lock:
            if playing := self._playing.get(key):
                playing.launcher.stop()

    def stop_all(self) -> None:
        """End all matches at once."""
        with self._lock:
            for playing in self._playing.values():
                playing.launcher.stop()

    def leave(self) -> None:
        """Say that this host takes no more matches. It takes those that are on their way."""
        with self._lock:
            self._leaving = True

    def shut(self) -> None:
        """Take no more matches."""
        with self._lock:
            self._shut = True

    def look(self) -> None:
        """Where this host could not run bots, see whether it can again. To be called at intervals."""
        if self._trouble is not None:
            self._trouble = self._runtime.trouble()
