"""Real tables, with the launcher, the referee process and sandboxed bots."""

import resource
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple, Self

from arena.protocol.match import MatchRecord, MatchSpec
from benchmarks.hall import Hall


class OutputLine(NamedTuple):
    """One line of a bot's output."""

    event: str  # `started`, `imported`, `ready`, `first`, or `played` at intervals
    decisions: int  # number so far
    cpu: float  # seconds used so far
    at: float  # time in seconds of the machine's monotonic clock


class BotOutput(NamedTuple):
    """All lines of one bot."""

    lines: tuple[OutputLine, ...]

    @classmethod
    def read(cls, stderr: str) -> Self:
        """Read a bot's stderr. Skip the SDK's own lines, and the last line, which may be cut off."""
        lines = [line.split() for line in stderr.split("\n")[:-1] if not line.startswith("kaiten: ")]
        return cls(
            tuple(
                OutputLine(event, int(decisions), float(cpu), float(at))
                for event, decisions, cpu, at in lines
            )
        )

    def time_of(self, event: str) -> float | None:
        """Return when an event first happened, or None."""
        return next((line.at for line in self.lines if line.event == event), None)

    @property
    def steady(self) -> tuple[OutputLine, OutputLine]:
        """The first and the last line that the bot printed while it was only playing.

        Raises ValueError if it did not play for long enough.
        """
        played = [line for line in self.lines if line.event == "played"]
        if len(played) < 2:  # noqa: PLR2004 - a difference needs two lines
            raise ValueError("the match was too short to measure a bot")
        return played[0], played[-1]


def bot_cpu(outputs: Sequence[BotOutput]) -> float:
    """Return these bots' CPU seconds per decision, excluding their start."""
    spans = [output.steady for output in outputs]
    decisions = sum(last.decisions - first.decisions for first, last in spans)
    return sum(last.cpu - first.cpu for first, last in spans) / decisions


def decisions_a_second(outputs: Sequence[BotOutput]) -> float:
    """Return the total decisions per second of these bots."""
    return sum(
        (last.decisions - first.decisions) / (last.at - first.at)
        for first, last in (output.steady for output in outputs)
    )


_POLL_SECONDS = 0.005
_LONE_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A finished match."""

    spec: MatchSpec
    record: MatchRecord
    called: float  # when the launcher was called, in seconds of a monotonic clock

    @property
    def outputs(self) -> tuple[BotOutput, ...]:
        """What the bots printed, with one entry per seat."""
        return tuple(BotOutput.read(seat.stderr) for seat in self.record.seats)

    @property
    def decisions(self) -> int:
        """Number of decisions."""
        return sum(
            decision is not None for game in self.record.games for step in game.steps for decision in step
        )

    @property
    def faults(self) -> int:
        """Number of decisions by the stand-in."""
        return sum(
            decision is not None and decision.standin
            for game in self.record.games
            for step in game.steps
            for decision in step
        )

    @property
    def first_decision(self) -> float:
        """Seconds from the call to the first decision."""
        return min(output.time_of("first") or float("inf") for output in self.outputs) - self.called


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The cost of some tables: CPU seconds per decision, without the start."""

    rate: float  # decisions per second of all tables together
    referee: float  # CPU of the referees
    bots: float  # CPU of the bots
    match: Match  # one of the matches


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Times of a start, in seconds."""

    imported: float  # a single sandbox, from its launch to its first line after `import arena.sdk`
    ready: float  # a single sandbox, to the first line after the SDK has imported gRPC
    first_decision: float  # a complete match, from calling the launcher to the first decision
    referee: float  # the referee's CPU for the complete match, nearly all of it for the start
    bots: float  # CPU of all bots of the match
    decisions: int  # number of decisions in the match


def measure_start(hall: Hall) -> Start:
    """Start a single sandbox, and play a match that consists of little more than its start."""
    launched, output = _lone_start(hall)
    (match,), children = _with_children_cpu(lambda: [_play(hall, games=1, at_once=1)])
    bots = sum(output.lines[-1].cpu for output in match.outputs)
    return Start(
        imported=(output.time_of("imported") or 0.0) - launched,
        ready=(output.time_of("ready") or 0.0) - launched,
        first_decision=match.first_decision,
        referee=children if hall.runs_containers else children - bots,
        bots=bots,
        decisions=match.decisions,
    )


def measure_tables(hall: Hall, start: Start, *, games: int, at_once: int, tables: int = 1) -> Tables:
    """Play long matches at several tables at the same time.

    The cost of the start, given by ``start``, is subtracted. Bots play ``at_once`` games concurrently.
    """

    def play() -> list[Match]:
        with ThreadPoolExecutor(tables) as pool:
            return list(
                pool.map(
                    lambda table: _play(hall, games=games, at_once=at_once, first_slot=2 * table),
                    range(tables),
                )
            )

    matches, children = _with_children_cpu(play)
    outputs = [output for match in matches for output in match.outputs]
    decisions = sum(match.decisions for match in matches)
    # Without containers, the bots are child processes too.
    bots = 0.0 if hall.runs_containers else sum(output.lines[-1].cpu for output in outputs)
    return Tables(
        rate=decisions_a_second(outputs),
        referee=(children - bots - tables * start.referee) / (decisions - tables * start.decisions),
        bots=bot_cpu(outputs),
        match=matches[0],
    )


def _play(hall: Hall, *, games: int, at_once: int, first_slot: int = 0) -> Match:
    spec = hall.spec(games=games, at_once=at_once)
    called = time.monotonic()
    match = Match(spec=spec, record=hall.play(spec, first_slot), called=called)
    if match.faults or len(match.record.games) < games:
        said = [f"{seat.trouble}: {seat.stderr[-1000:]}" for seat in match.record.seats]
        raise RuntimeError(f"the stand-in made some decisions, so this match can't be measured: {said}")
    return match


def _lone_start(hall: Hall) -> tuple[float, BotOutput]:
    """Start a single sandbox; return the time of its launch and its output."""
    with hall.lone_bot() as spec:
        launched = time.monotonic()
        sandbox = hall.runtime.launch(spec)
        try:
            while (output := BotOutput.read(sandbox.stderr())).time_of("ready") is None:
                if time.monotonic() > launched + _LONE_SECONDS:
                    raise RuntimeError(f"a bot did not start: {sandbox.stderr()}")
                time.sleep(_POLL_SECONDS)
        finally:
            sandbox.remove()
    return launched, output


def _with_children_cpu(play: Callable[[], list[Match]]) -> tuple[list[Match], float]:
    """Return the matches, and the CPU seconds of child processes that ended during them."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    matches = play()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return matches, (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)
