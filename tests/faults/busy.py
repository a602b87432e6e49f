"""A busy host: other programs use up the processors, for which no honest bot may be blamed."""

import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import select

from arena.db.schema import GameRow, GameSeatRow
from arena.images.build.context import build_bot_image
from arena.play.botfiles import samples
from arena.protocol.faults import Fault
from arena.protocol.match import Clock, Decision, GameRecord, RuntimeName, decode
from arena.protocol.sandbox_controls import CONTROL_NAMES
from arena.protocol.submissions import Stage
from arena.sandbox.factory import open_builder
from tests.faults.installation import QUICK, Installation
from tests.faults.killing import installed
from tests.faults.tally import Tally
from tests.folders import short_folder

_WORK: Final = ("--cpu", "16", "--vm", "2", "--vm-bytes", "128M", "--io", "2")
"""Load for two cores, at normal priority, with little enough memory for a small host."""

_SLEEPS: Final = Path(__file__).parent / "sleeper"

_HONEST: Final = 5
"""Number of honest bots. They have an author, because a match is void if a house bot is absent."""

_DEALS: Final = 20
"""Deals per match: several, since starting a match takes long on a busy host."""

_SUBMISSIONS: Final = 20
"""Submissions of a full run; a shorter one has one per table."""

_PATIENCE_SECONDS: Final = 4 * 3600.0


@dataclass(frozen=True, slots=True)
class _Sleeper:
    """A bot that sleeps in each decision, its clock, and the decisions that it must fail, numbered from 0."""

    seconds: float
    clock: Clock
    faults: tuple[int, ...]


_SLEEPERS: Final = (
    # Each decision takes 4 s from the bank of 10 s.
    _Sleeper(5.0, Clock(), (2, 3, 4)),
    # The first decision takes 0.6 s from a bank of 0.9 s. Each decision passes or fails by at least 0.3 s.
    _Sleeper(1.2, Clock(move_millis=600, bank_millis=900), (1, 2, 3)),
)


def keep_the_host_busy(tally: Tally, dice: random.Random, times: int) -> None:
    """Play with the default clock, while other programs demand ten times the processors.

    Bots that sleep are blamed exactly as on an idle host. Then honest bots are submitted.
    """
    with installed(RuntimeName.DOCKER) as arena:
        sleepers = {arena.add(*_build(sleeper)): sleeper for sleeper in _SLEEPERS}
        sources = [arena.sources[QUICK[number % len(QUICK)]] for number in range(_HONEST)]
        honest = [arena.add(f"honest-{number}", source) for number, source in enumerate(sources)]
        with _other_work():
            for version, sleeper in sleepers.items():
                arena.queue_table(dice, [version, honest[0]], 1, sleeper.clock)
            for number in range(times):
                players = _HONEST - number % (_HONEST - 1)  # 5 to 2
                arena.queue_table(dice, dice.sample(honest, players), _DEALS, Clock())
            arena.play_out(_PATIENCE_SECONDS)
        tally.times = times
        tally.close(arena)
        decisions = Counter(version for _, version, _ in _decisions(arena))
        tally.notes.append(
            f"{arena.ledger.voids()} voids; decisions of each honest bot: "
            f"{', '.join(str(decisions[version]) for version in honest)}"
        )
        for version, sleeper in sleepers.items():
            _judge_sleeper(tally, arena, version, sleeper)
        if not any(decision.waited_millis for _, _, decision in _decisions(arena)):
            tally.wrong.append("the host was not busy: no decision had to wait for it")
    submit_to_a_busy_host(tally, min(times, _SUBMISSIONS))


def submit_to_a_busy_host(tally: Tally, count: int) -> None:
    """Submit honest bots, which must all reach the ladder."""
    variables = {"ARENA_ACCEPT_MISSING": ",".join(CONTROL_NAMES), "ARENA_DISK_FLOOR_GIB": "0"}
    with installed(RuntimeName.DOCKER, variables=variables) as arena:
        with _other_work():
            arena.submit({f"honest-{number}": _honest(number) for number in range(count)})
            arena.play_out(_PATIENCE_SECONDS)
        tally.close(arena)
        states = {each.bot: each.stage for each in arena.submissions()}
        if list(states.values()) != [Stage.ACTIVE] * count:
            tally.wrong.append(f"not all of the {count} submissions are active: {states}")


def _honest(number: int) -> bytes:
    """Return a bot's source that differs from all others."""
    return f"# {number}\n".encode() + (samples() / QUICK[number % len(QUICK)] / "bot.py").read_bytes()


def _build(sleeper: _Sleeper) -> tuple[str, str]:
    """Build a sleeper; return its name and the id of its image."""
    with short_folder() as folder, closing(open_builder(RuntimeName.DOCKER)) as builder:
        context = folder / f"sleeper-{sleeper.seconds:g}".replace(".", "-")
        shutil.copytree(_SLEEPS, context)
        bot = context / "bot.py"
        bot.write_text(bot.read_text().replace("SECONDS = 5.0", f"SECONDS = {sleeper.seconds}"))
        return context.name, build_bot_image(builder, context)


def _judge_sleeper(tally: Tally, arena: Installation, version: int, sleeper: _Sleeper) -> None:
    """Subtract the faults that a sleeper should have from the tally, and report all others."""
    games: dict[int, list[Decision]] = {}
    for game, by, decision in _decisions(arena):
        if by == version:
            games.setdefault(game, []).append(decision)
    for number, decisions in games.items():
        faults = {place: each.fault for place, each in enumerate(decisions) if each.fault}
        if faults == dict.fromkeys(sleeper.faults, Fault.TIMEOUT):
            tally.blamed -= len(faults) + 1  # for the take-over
        else:
            times = [(each.millis, each.waited_millis) for each in decisions]
            tally.wrong.append(
                f"game {number}: the bot that sleeps for {sleeper.seconds} s has the faults {faults}; "
                f"times and waits: {times}"
            )
    if not games:
        tally.wrong.append(f"the bot that sleeps for {sleeper.seconds} s has not played")


def _decisions(arena: Installation) -> Iterator[tuple[int, int, Decision]]:
    """Yield the decisions of all games: the game's number, the bot's version, the decision."""
    wanted = select(GameSeatRow.game_number, GameSeatRow.seat, GameSeatRow.version_id, GameRow.record)
    with arena.ledger.look() as connection:
        rows = connection.execute(wanted.join(GameRow, GameRow.number == GameSeatRow.game_number)).all()
    for row in rows:
        for step in decode(row.record, GameRecord).steps:
            if (decision := step[row.seat]) is not None:
                yield row.game_number, row.version_id, decision


@contextmanager
def _other_work() -> Iterator[None]:
    program = shutil.which("stress-ng")
    if program is None:
        raise RuntimeError("stress-ng is not installed: apt-get install stress-ng")
    work = subprocess.Popen([program, *_WORK], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603 - our own words
    try:
        yield
    finally:
        work.terminate()
        work.wait()
