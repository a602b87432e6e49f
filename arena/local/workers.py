"""Plays games between Python bots in worker processes.

Bots' code runs only there: an endless loop, a crash of the interpreter or ``os._exit`` ends a worker, not
the command. A worker keeps its latest request in memory shared with its parent, so the parent can report the
bot and the position.
"""

import multiprocessing
import os
import signal
import struct
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import dropwhile, takewhile
from mmap import mmap
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Final, Protocol, TextIO

from arena.local.bots import LocalBot
from arena.local.games import GameInThisProcess, LoadedBot, LocalGame, LocalResult, Mistake, Steps, locate
from arena.local.puzzle import PUZZLE_FORMAT, PlayedMove, Puzzle
from arena.local.timing import DecisionTimer, TimeLimitExceeded
from arena.play.botfiles import BotBroken, load_bot
from arena.play.replay.document import Seat, Variant
from arena.protocol.faults import Fault
from arena.protocol.match import Clock, Decision
from arena.rules import Card

_QUEUED: Final = 4
"""Number of games to send to a worker in advance, so that it never waits for its parent."""

_STDERR_CHARACTERS: Final = 1_500
"""Number of characters to show from the end of a bot's stderr."""

_LOAD_SECONDS: Final = Clock().start_millis / 1000


class PlayingFailed(Exception):
    """Games can't be played. The message says why."""


class BotUnloadable(PlayingFailed):
    """A bot can't be loaded or started."""

    def __init__(self, what: str, trace: str = "") -> None:
        super().__init__(what)
        self.trace = trace  # a traceback that starts in the author's code, a program's stderr, or empty


class WorkerEnded(PlayingFailed):
    """A bot's code ended its process or froze it. ``mistake`` has the details."""

    def __init__(self, mistake: Mistake) -> None:
        super().__init__(mistake.what)
        self.mistake = mistake


class GamePlayer(Protocol):
    """Plays games between bots."""

    def playing(self, games: Iterable[LocalGame]) -> AbstractContextManager[Iterator[LocalResult]]:
        """Play games within the context, and yield their results in the order of the games.

        Leaving the context ends the processes that it started. Iterating over the results may raise
        :class:`PlayingFailed`.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonPlayer:
    """Plays games between Python bots."""

    bots: tuple[LocalBot, ...]  # games refer to them by index
    clock: Clock = field(default_factory=Clock)
    with_replays: bool = False  # whether results have replays
    processes: int = 1  # number of games to play in parallel

    @contextmanager
    def playing(self, games: Iterable[LocalGame]) -> Iterator[Iterator[LocalResult]]:
        """See :class:`GamePlayer`.

        The order of the results doesn't depend on how long games take, so stopping early doesn't favour
        quick games.
        """
        waiting = iter(games)
        # Fork the workers before anything starts a thread.
        workers: list[_Worker] = []
        try:
            for _ in range(self.processes):
                workers.append(_Worker(self))  # noqa: PERF401 - if one fails to start, the others must be ended
            for worker in workers:
                worker.feed(waiting, _QUEUED)
            yield _in_order(workers, waiting)
        finally:
            for worker in workers:
                worker.end()


def end_of(stderr: str) -> str:
    """Return the part of a bot's stderr that is shown with its fault."""
    return stderr[-_STDERR_CHARACTERS:].rstrip()


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _in_order(workers: Sequence["_Worker"], waiting: Iterator[LocalGame]) -> Iterator[LocalResult]:
    done: dict[int, LocalResult] = {}
    turn = 0
    while busy := {worker.line: worker for worker in workers if worker.order}:
        for line in wait(list(busy)):
            worker = busy[line]  # type: ignore[index]  # wait() got only lines, so it returns only lines
            result = worker.receive()
            worker.feed(waiting, 1)
            done[result.game.number] = result
        while turn in done:
            yield done.pop(turn)
            turn += 1


class SharedRequest:
    """Memory that a worker shares with its parent; it holds the latest request to the worker's bots."""

    _HEAD: Final = struct.Struct("<iii")
    _SIZE: Final = 4096

    def __init__(self) -> None:
        self._memory = mmap(-1, self._SIZE)
        self._game = self._steps = 0
        self._end = self._HEAD.size

    def begin(self, game: int) -> None:
        """Record the start of a game."""
        self._game, self._steps, self._end = game, 0, self._HEAD.size
        self._HEAD.pack_into(self._memory, 0, game, -1, 0)

    def ask(self, seat: int, steps: Steps | None) -> None:
        """Record a request: its seat and the earlier decisions, or None if no decision is requested."""
        for step in (steps or ())[self._steps :]:
            data = b"".join(map(_pack, step))
            self._memory[self._end : self._end + len(data)] = data
            self._end += len(data)
            self._steps += 1
        self._HEAD.pack_into(self._memory, 0, self._game, seat, -1 if steps is None else self._steps)

    def last(self, games: Sequence[LocalGame]) -> tuple[LocalGame, int, Puzzle | None] | None:
        """Return the game, seat and position of the latest request, or None if there is none.

        The position is None if the bot was being loaded, beginning the game or receiving the result.
        ``games`` are those that the worker may have been playing.
        """
        number, seat, steps = self._HEAD.unpack_from(self._memory)
        game = next((each for each in games if each.number == number), None)
        if game is None or seat < 0:
            return None
        if steps < 0:
            return game, seat, None
        size = 3 * game.rules.players
        start = self._HEAD.size
        moves = [
            tuple(
                _unpack(self._memory[at : at + 3])
                for at in range(start + size * step, start + size * (step + 1), 3)
            )
            for step in range(steps)
        ]
        rules = Variant.of(game.rules)
        puzzle = Puzzle(format=PUZZLE_FORMAT, rules=rules, seed=game.seed, seat=seat, moves=tuple(moves))
        return game, seat, puzzle


def _pack(decision: Decision | None) -> bytes:
    if decision is None:
        return bytes(3)
    cards = [Card.from_label(label) for label in decision.cards]
    dummy = 0 if decision.dummy is None else Card.from_label(decision.dummy)
    return bytes((cards[0], cards[1] if len(cards) > 1 else 0, dummy))


def _unpack(data: bytes) -> PlayedMove | None:
    if not data[0]:
        return None
    cards = tuple(Card(number).label for number in data[:2] if number)
    return PlayedMove(cards, Card(data[2]).label if data[2] else None)


class _Worker:
    """The parent's side of a worker."""

    def __init__(self, plan: PythonPlayer) -> None:
        self.order: list[LocalGame] = []  # games sent that have no result yet, in order
        self._shared = SharedRequest()
        self._crash_log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the worker
        context = multiprocessing.get_context("fork")
        self.line, other = context.Pipe()  # readable once a result has arrived or the worker has ended
        self._process: ForkProcess = context.Process(
            target=_serve, args=(plan, self.line, other, self._shared, self._crash_log), daemon=True
        )
        sys.stdout.flush()
        sys.stderr.flush()
        self._process.start()
        other.close()

    def feed(self, games: Iterator[LocalGame], count: int) -> None:
        for _ in range(count):
            game = next(games, None)
            if game is None:
                return
            self.order.append(game)
            with suppress(BrokenPipeError):  # receive() will report it
                self.line.send(game)

    def receive(self) -> LocalResult:
        """Return the next result.

        Raises PlayingFailed if a bot can't be loaded, or its code ended the process.
        """
        try:
            got = self.line.recv()
        except (EOFError, ConnectionResetError):
            raise self._describe_end() from None
        if isinstance(got, PlayingFailed):
            raise got
        result: LocalResult = got
        self.order.pop(0)
        return result

    def end(self) -> None:
        """Kill the worker and all processes that its bots have started."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid or 0, signal.SIGKILL)
        self._process.kill()  # the worker may not have started its session yet
        self._process.join()
        self.line.close()
        self._crash_log.close()

    def _describe_end(self) -> PlayingFailed:
        self._process.join()
        code = self._process.exitcode or 0
        self._crash_log.seek(0)
        trace = _authors_frames(self._crash_log.read())
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        fault, what = Fault.CRASH, f"its code ended the process ({how})"
        if trace and code == 1:  # the timer ended the process
            fault, what = Fault.TIMEOUT, "its code didn't answer and could not be interrupted"
        last = self._shared.last(self.order)
        if last is None:
            return PlayingFailed(f"a bot failed outside a decision: {what}" + (f"\n{trace}" if trace else ""))
        game, seat, puzzle = last
        return WorkerEnded(
            Mistake(
                game=game.number,
                bot=game.bots[seat],
                fault=fault,
                what=what,
                trace=trace,
                puzzle=puzzle,
            )
        )


def _authors_frames(trace: str) -> str:
    """Return the lines of a Python stack dump that are in the author's code, most recent call first.

    The arena's own lines are below these and, if the timer's signal handler dumped the stack, also above.
    """
    lines = (line for line in trace.splitlines() if line.startswith("  File "))
    return "\n".join(takewhile(_is_authors_line, dropwhile(lambda line: not _is_authors_line(line), lines)))


def _is_authors_line(line: str) -> bool:
    return "/arena/local/" not in line and "/arena/play/botfiles.py" not in line


def _serve(
    plan: PythonPlayer, parents: Connection, line: Connection, box: SharedRequest, crash_log: TextIO
) -> None:
    """Play games until the parent exits. Runs in the worker."""
    os.setsid()  # Ctrl-C must reach only the parent, which can then also kill the bots' child processes
    # Bots may have child processes: the parent kills them with this one.
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined] # noqa: SLF001 - private
    # Otherwise, the parent would not notice that this process exits.
    os.register_at_fork(after_in_child=line.close)
    parents.close()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # The bots' output must not mix with the command's data.
    os.dup2(2, 1)
    timer = DecisionTimer()

    @cache
    def load(bot: int, copy: int) -> LoadedBot:  # noqa: ARG001 - each of a bot's seats gets its own copy
        return load_local_bot(plan.bots[bot], timer)

    with timer.running(crash_log), suppress(EOFError, BrokenPipeError, ConnectionResetError):
        try:
            while True:
                game: LocalGame = line.recv()
                box.begin(game.number)
                players = []
                for seat, bot in enumerate(game.bots):
                    box.ask(seat, None)
                    players.append(load(bot, game.bots[:seat].count(bot)))
                table = GameInThisProcess(game, players, plan.clock, timer, box.ask)
                line.send(table.play(with_replay=plan.with_replays))
        except PlayingFailed as error:
            line.send(error)


def load_local_bot(bot: LocalBot, timer: DecisionTimer) -> LoadedBot:
    """Load a bot's file into this process. Raises BotUnloadable if that fails or takes too long."""
    if bot.file is None:
        raise BotUnloadable(f"{bot.name} is not a Python file")
    file: Path = bot.file
    try:
        code = timer.call(_LOAD_SECONDS, lambda: load_bot(file))
    except BotBroken as error:
        where, trace = locate(error.__cause__, file.parent) if error.__cause__ else ("", "")
        raise BotUnloadable(f"{error}" + (f" ({where})" if where else ""), trace) from error
    except TimeLimitExceeded as error:
        where, trace = locate(error, file.parent)
        at = f" (at {where})" if where else ""
        raise BotUnloadable(f"{file} took longer than {_LOAD_SECONDS:.0f} s to load{at}", trace) from error
    return LoadedBot(Seat(bot=bot.name, version=1, author=bot.author), code, file.parent)
