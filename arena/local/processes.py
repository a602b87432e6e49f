"""Plays games between programs in any language, in plain processes, with the ladder's launcher and referee.

Each match runs in new processes and consists of several games. Each bot's faults are reported with the end
of its stderr.
"""

import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import Final

from arena.local.bots import LocalBot
from arena.local.games import LocalGame, LocalResult, Mistake, local_result, with_its_replay
from arena.local.puzzle import puzzle_of
from arena.local.workers import BotUnloadable, PlayingFailed, end_of
from arena.play.launcher import LauncherError
from arena.play.launcher.launcher import Launcher
from arena.play.launcher.slots import FULL_TABLE
from arena.play.replay.document import Seat
from arena.protocol.faults import FINAL_FAULTS, Fault
from arena.protocol.match import (
    Clock,
    GameRecord,
    Limits,
    MatchRecord,
    MatchSpec,
    RuntimeName,
    decode,
    encode,
    played_again,
)
from arena.rules import view
from arena.sandbox.process.runtime import ProcessRuntime

_GAMES_PER_MATCH: Final = 24
"""Games per match. Starting a match's processes takes as long as playing a few games."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramPlayer:
    """Plays games between bots that run as separate programs."""

    bots: tuple[LocalBot, ...]  # games refer to them by index
    with_replays: bool = False  # whether results have replays
    processes: int = 1  # number of matches to play in parallel

    @contextmanager
    def playing(self, games: Iterable[LocalGame]) -> Iterator[Iterator[LocalResult]]:
        """See :class:`arena.local.workers.GamePlayer`."""
        folder = Path(tempfile.mkdtemp(prefix="kaiten-h-"))  # short: a socket's path is limited to 107 bytes
        folder.chmod(0o711)
        install = f"local-{secrets.token_hex(4)}"
        runtime = ProcessRuntime({str(number): bot.command for number, bot in enumerate(self.bots)})
        launcher = Launcher(runtime, install, folder)
        pool = ThreadPoolExecutor(self.processes)
        try:
            yield self._in_order(launcher, pool, _matches(games))
        finally:
            launcher.stop()
            pool.shutdown(cancel_futures=True)
            runtime.sweep(install)
            shutil.rmtree(folder, ignore_errors=True)

    def _in_order(
        self, launcher: Launcher, pool: ThreadPoolExecutor, matches: Iterator[tuple[LocalGame, ...]]
    ) -> Iterator[LocalResult]:
        free = list(range(self.processes))
        running: dict[Future[list[LocalResult]], int] = {}
        done: dict[int, LocalResult] = {}
        turn = 0
        while True:
            for match in islice(matches, len(free)):
                place = free.pop()
                running[pool.submit(self._play, launcher, match, place)] = place
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                free.append(running.pop(future))
                done |= {result.game.number: result for result in future.result()}
            while turn in done:
                yield done.pop(turn)
                turn += 1

    def _play(self, launcher: Launcher, games: Sequence[LocalGame], place: int) -> list[LocalResult]:
        """Play games between the same bots. If a bot is lost, continue with new processes."""
        results: list[LocalResult] = []
        bots = sorted(games[0].bots)
        slots = tuple(range(place * FULL_TABLE, place * FULL_TABLE + len(bots)))
        while left := games[len(results) :]:
            spec = MatchSpec(
                match=f"{left[0].number}",
                attempt=1,
                rules=left[0].rules,
                seeds=tuple(game.seed for game in left),
                seats=tuple(map(str, bots)),
                clock=Clock(),
                limits=Limits(),
                runtime=RuntimeName.PROCESS,
                seatings=tuple(_seating(bots, game.bots) for game in left),
            )
            try:
                record = decode(launcher.play(encode(spec), slots), MatchRecord)
            except LauncherError as error:
                raise PlayingFailed(f"a match failed: {error}") from error
            stderrs = [end_of(seat.stderr) for seat in record.seats]
            firsts = [record.games[0].steps[0][spec.seatings[0].index(number)] for number in range(len(bots))]
            for bot, seat, words, first in zip(bots, record.seats, stderrs, firsts, strict=True):
                moved = first is not None and first.fault not in FINAL_FAULTS
                if seat.trouble is not None and not seat.sdk and not moved:
                    name = self.bots[bot].name
                    raise BotUnloadable(f"{name} didn't connect to the referee: {seat.trouble}", words)
            for game, played, seating in zip(left, record.games, spec.seatings, strict=False):
                results.append(self._result(game, played, [stderrs[bot] for bot in seating]))
        return results

    def _result(self, game: LocalGame, record: GameRecord, stderrs: Sequence[str]) -> LocalResult:
        states = played_again(game.rules, record).states
        end = states[-1]
        if end.result is None:
            raise PlayingFailed(f"game {game.name} was not finished")
        mistakes = [
            Mistake(
                game=game.number,
                bot=game.bots[seat],
                fault=decision.fault,
                what=decision.trouble or decision.fault.value,
                trace=stderrs[seat],
                puzzle=None
                if decision.fault is Fault.ABSENT
                else puzzle_of(view(states[number], seat), game.seed, record.steps[:number]),
            )
            for number, step in enumerate(record.steps)
            for seat, decision in enumerate(step)
            if decision is not None and decision.fault is not None
        ]
        result = local_result(game, end.result, record.steps, mistakes)
        if not self.with_replays:
            return result
        bots = [self.bots[bot] for bot in game.bots]
        seats = [Seat(bot=bot.name, version=1, author=bot.author) for bot in bots]
        return with_its_replay(result, end, record.steps, seats)


def _matches(games: Iterable[LocalGame]) -> Iterator[tuple[LocalGame, ...]]:
    """Split games, in order, into matches with the same bots and rules."""
    for _, group in groupby(games, lambda game: (game.rules, sorted(game.bots))):
        while match := tuple(islice(group, _GAMES_PER_MATCH)):
            yield match


def _seating(bots: Sequence[int], seats: Sequence[int]) -> tuple[int, ...]:
    """Return each seat's bot as an index into ``bots``; copies of a bot are seated in order."""
    places: dict[int, list[int]] = {}
    for place, bot in enumerate(bots):
        places.setdefault(bot, []).append(place)
    return tuple(places[bot].pop(0) for bot in seats)
