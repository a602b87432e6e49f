"""A worker that reports falsehoods, with the settings of a real worker.

Its argument selects the falsehood. ``records``: it immediately returns a record of another match. ``report``:
its host report can be read, but not stored. ``format``: its code is older. ``card``: its card can't be read.
In the last two cases the argument is also its name.
"""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial

import msgspec

from arena import __version__
from arena.app.cluster import keys_of
from arena.platform.settings import Settings
from arena.play.launcher.slots import SlotPool
from arena.protocol.match import FORMAT, MatchRecord, MatchSpec, RuntimeName, decode, encode
from arena.sandbox.process.runtime import ProcessRuntime
from arena.scheduler.cluster.host import MatchRunner, WorkerOptions, run_worker
from arena.scheduler.cluster.member import MemberHealth, address_of, security_of
from arena.scheduler.cluster.messages import Answer, Record, WorkerCard
from arena.scheduler.settling import MAX_CONSECUTIVE_VOIDS
from tests.builders import host_report

NAME = "liar"
SEATS = 2 * (MAX_CONSECUTIVE_VOIDS + 2)
"""More than other workers have, so that it gets matches first, and enough for too many voids in a row."""


class Liar(MatchRunner):
    """A worker that plays no matches."""

    def play(self, spec: bytes, session: str, key: str, progress: Callable[[bytes], None]) -> Answer:  # noqa: ARG002 - unused
        """Return a record of another match."""
        asked = decode(spec, MatchSpec)
        return Record(encode(MatchRecord(match="another", attempt=asked.attempt, games=(), seats=())))


def main() -> None:
    """Run until SIGTERM."""
    what = sys.argv[1]
    settings, slots = Settings(), SlotPool(SEATS, 0.4)
    assert settings.executor is not None
    report = host_report(host=NAME, isolates=False)
    if what == "report":
        report = replace(report, checked=datetime(1, 1, 1))  # noqa: DTZ001 - without a time zone it can't be stored
    keys, scheduler = keys_of(settings), settings.executor
    card = WorkerCard(
        run="",
        name=what if what in {"format", "card"} else NAME,
        host=NAME,
        seats=SEATS,
        cpus=0.0 if what == "card" else slots.share,
        runtime=RuntimeName.PROCESS,
        report=msgspec.json.encode(report),
        version=__version__,
        format=FORMAT - 1 if what == "format" else FORMAT,
    )
    folder = settings.data_dir.absolute() / "dask"
    post = WorkerOptions(
        scheduler=address_of(scheduler.host, scheduler.port, keys),
        host=scheduler.host,
        port=0,
        security=security_of(keys),
        card=card,
        folder=folder,
    )
    seating = Liar(ProcessRuntime(), NAME, folder, slots)
    asyncio.run(run_worker(post, seating, MemberHealth("it has not joined yet"), partial(print, flush=True)))
