"""Faults around an arena: a full disk, a locked or restarted database, a paused host, a jumping clock."""

import random
import shlex
import sqlite3
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import cycle
from pathlib import Path
from typing import Final

from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import select

from arena.db.schema import GameRow, MatchRow
from arena.images.image import IntakeError
from arena.images.store import ImageStore
from arena.protocol.match import Clock, Decision, GameRecord, RuntimeName, decode
from tests.faults.installation import Installation
from tests.faults.killing import installed
from tests.faults.processes import stop_tree, wait_until
from tests.faults.tally import Tally
from tests.folders import short_folder, small_disk
from tests.images.builders import image, keep, store_in
from tests.postgresql import Cluster, find_programs

_DISK_BYTES: Final = 24 * 1024 * 1024
_IMAGE_BYTES: Final = 100_000
_FULL_SECONDS: Final = 180.0
_HOUR: Final = 3_600
_QUICK: Final = Clock(start_millis=60_000, move_millis=3_000, bank_millis=3_000)
_PAUSE_SECONDS: Final = (7.0, 12.0)
"""Range of a pause: longer than the clock allows, shorter than a lease."""
_LONG: Final = 100
"""Number of deals in a long match, in which a bot is nearly always thinking."""

_CLOCK: Final = Path(__file__).with_name("clock.c")
_UNAVAILABLE: Final = "database unavailable"


def fill_the_disk(tally: Tally, dice: random.Random, times: int) -> None:
    """Fill the data directory's disk until a result can't be stored, then make room."""
    with (
        short_folder() as folder,
        small_disk(folder, size=_DISK_BYTES) as disk,
        installed(RuntimeName.PROCESS, data_dir=disk / "data") as arena,
    ):
        images, ballast = store_in(arena.data_dir), disk / "ballast"
        arena.queue(dice, 3)
        arena.start_and_claim()
        for turn in range(1, times + 1):
            arena.queue(dice, 2)
            said = len(arena.events(_UNAVAILABLE))
            _fill(ballast)
            layer = dice.randbytes(_IMAGE_BYTES)
            if _is_kept(images, layer):
                tally.wrong.append("an image was stored on a full disk")
            _wait_for_more(arena, _UNAVAILABLE, than=said)
            begun, before = time.monotonic(), arena.ledger.claims()
            ballast.unlink()
            arena.queue(dice)  # so that there is a match to claim
            tally.again.append(arena.wait_for_claim(before, begun))
            if not _is_kept(images, layer):
                tally.wrong.append("an image was not stored although there was room again")
            tally.times = turn
        arena.play_out()
        tally.close(arena)


def _is_kept(images: ImageStore, content: bytes) -> bool:
    """Add an image of one layer. Return whether it is stored; it must not be stored in part."""
    with suppress(IntakeError):
        keep(images, content)
    return image(content).id in images.records.ids()


def _wait_for_more(arena: Installation, event: str, *, than: int) -> None:
    """Wait until the log has more entries of an event."""
    wait_until(lambda: len(arena.events(event)) > than, _FULL_SECONDS, f"the log does not say: {event}")


def _fill(file: Path) -> None:
    """Write to a file until the disk is full."""
    with file.open("wb", buffering=0) as ballast:
        for size in (65_536, 4_096, 1):
            with suppress(OSError):
                while ballast.write(b"\0" * size):
                    pass


def lock_the_database(tally: Tally, dice: random.Random, times: int, seconds: float) -> None:
    """Lock SQLite's file from another connection for some seconds, in the middle of matches."""
    with installed(RuntimeName.PROCESS) as arena:
        for turn in range(1, times + 1):
            if arena.ended:
                arena.queue(dice)
                arena.start_and_claim()
            before = arena.ledger.claims()
            arena.queue(dice, 3, deals=24)
            with closing(sqlite3.connect(arena.data_dir / "arena.sqlite3", timeout=60)) as other:
                other.isolation_level = None
                other.execute("BEGIN IMMEDIATE")
                time.sleep(seconds)
                begun = time.monotonic()
                other.execute("ROLLBACK")
            tally.again.append(arena.wait_for_claim(before, begun))
            tally.times = turn
        arena.play_out()
        tally.close(arena)


@contextmanager
def server() -> Iterator[Cluster]:
    """Start a PostgreSQL server that the test may stop. Nothing may be left of it."""
    programs = find_programs()
    if programs is None:
        raise RuntimeError("PostgreSQL's programs are not installed: apt-get install postgresql")
    cluster = Cluster(programs)
    try:
        cluster.start()
        yield cluster
    finally:
        folder = conninfo_to_dict(cluster.address("postgres"))["host"]
        cluster.remove()
        assert not Path(str(folder)).exists()


def restart_postgresql(tally: Tally, dice: random.Random, times: int) -> None:
    """Stop the server during matches without closing its connections, as in a crash; start it again."""
    with (
        server() as cluster,
        installed(RuntimeName.PROCESS, url=cluster.address("postgres", "postgresql+psycopg")) as arena,
    ):
        for turn in range(1, times + 1):
            arena.queue(dice, 2)
            if arena.ended:
                arena.start_and_claim()
            time.sleep(dice.uniform(0, 2))
            cluster.crash()
            time.sleep(dice.uniform(0, 3))
            arena.ledger.close()
            cluster.resume()
            begun, before = time.monotonic(), arena.ledger.claims()
            arena.queue(dice)
            tally.again.append(arena.wait_for_claim(before, begun))
            tally.times = turn
        arena.play_out()
        tally.close(arena)


def pause_the_host(tally: Tally, dice: random.Random, times: int) -> None:
    """Pause the coordinator, its referees and bots for longer than a bot may think."""
    with installed(RuntimeName.PROCESS) as arena:
        arena.queue(dice, 2, deals=_LONG, clock=_QUICK)
        arena.start_and_claim()
        for turn in range(1, times + 1):
            arena.queue(dice, deals=_LONG, clock=_QUICK)
            time.sleep(dice.uniform(2, 4))  # in the middle of a match
            stop_tree(arena.pid, dice.uniform(*_PAUSE_SECONDS))
            begun, before = time.monotonic(), arena.ledger.claims()
            arena.queue(dice, deals=_LONG, clock=_QUICK)
            tally.again.append(arena.wait_for_claim(before, begun))
            tally.times = turn
        arena.play_out()
        tally.close(arena)


def set_the_clock(tally: Tally, dice: random.Random, times: int) -> None:
    """Set the arena's wall clock an hour ahead, back and behind while bots play, with a preloaded library."""
    with jumping_clock() as (python, offset), installed(RuntimeName.PROCESS, python=python) as arena:
        for turn, hours in zip(range(1, times + 1), cycle((1, 0, -1, 0)), strict=False):
            if arena.ended:
                arena.queue(dice)
                arena.start_and_claim()
            with offset.open(
                "r+b", buffering=0
            ) as file:  # in one write, since processes are constantly reading it
                file.write(struct.pack("q", hours * _HOUR))
            before, begun = arena.ledger.claims(), time.monotonic()
            arena.queue(dice, 2, deals=24)
            # The first claim may have read the clock before the jump; the second has not.
            tally.again.append(arena.wait_for_claim(before + 1, begun))
            time.sleep(dice.uniform(0, 1))
            tally.times = turn
        arena.play_out()
        tally.wrong += _impossible_times(arena)
        if times > 1 and _hours(arena) < 1 / 2:
            tally.wrong.append("the clock did not jump: all matches were claimed in the same hour")
        tally.close(arena)


def _hours(arena: Installation) -> float:
    """Return the hours between the first and the last claim."""
    with arena.ledger.look() as connection:
        moments = connection.execute(select(MatchRow.started)).scalars().all()
    known = [moment for moment in moments if moment is not None]
    return (max(known) - min(known)).total_seconds() / _HOUR


def _impossible_times(arena: Installation) -> list[str]:
    """Return decisions with a negative time, or one longer than the test."""
    with arena.ledger.look() as connection:
        records = [decode(row, GameRecord) for row in connection.execute(select(GameRow.record)).scalars()]
    decisions = [each for record in records for step in record.steps for each in step if each is not None]
    wrong = [each for each in decisions if not _possible(each)]
    return sorted({f"a decision: {each.millis} ms, {each.fault}, {each.trouble}" for each in wrong})


def _possible(decision: Decision) -> bool:
    return decision.millis is not None and 0 <= decision.millis < _HOUR * 1_000 / 2


@contextmanager
def jumping_clock() -> Iterator[tuple[tuple[str, ...], Path]]:
    """Return a command that runs Python with a shifted wall clock, and the file with the shift in seconds."""
    with short_folder() as folder:
        folder.chmod(0o755)  # referees and bots run as other users
        library, offset, python = folder / "clock.so", folder / "offset", folder / "python"
        _call("cc", "-shared", "-fPIC", "-O2", "-o", str(library), str(_CLOCK))
        offset.write_bytes(struct.pack("q", 0))
        python.write_text(
            f"#!/bin/sh\nexport LD_PRELOAD={library} KAITEN_CLOCK={offset}\n"
            f'exec {shlex.quote(sys.executable)} "$@"\n'
        )
        python.chmod(0o755)
        # Child processes get the shifted clock too.
        begin = f"import runpy, sys; sys.executable = {str(python)!r}; sys.argv = ['arena', *sys.argv[3:]]"
        code = f"{begin}; from arena.cli.main import main; main()"
        yield (str(python), "-c", code), offset


def _call(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True)  # noqa: S603 - our own words
