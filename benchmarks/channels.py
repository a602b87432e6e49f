"""Measure the bit rates of the open channels between bots: ``python -m benchmarks.channels``.

Two containers made from the launch template run `benchmarks/whisper/whisper.c`. The sender draws random bits.
The receiver prints a number for each bit, and this program decodes the numbers without knowing the bits that
were sent. Needs a Docker engine, a C compiler with static libraries, and an x86-64 processor.
"""

import argparse
import math
import os
import platform
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import docker
from docker.utils import kwargs_from_env
from rich import box
from rich.console import Console
from rich.table import Table

from arena.protocol.match import RuntimeName
from arena.sandbox.runtime import SEAT_LABEL, SandboxSpec
from benchmarks.hall import Hall, open_hall
from benchmarks.report import describe_machine

_WHISPER: Final = Path(__file__).parent / "whisper"
_GVISOR: Final = "runsc"
_AHEAD_SECONDS: Final = 1.0
"""Seconds from the last container's start to the first slot."""


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel of the program, and the speed at which it is used."""

    name: str  # the channel's name in whisper.c
    title: str
    slot_seconds: float
    slots: int  # per run
    bits: int = 1  # per slot
    crowded: bool = False  # whether the sender starts more processes than gVisor's limit allows

    @property
    def rate(self) -> float:
        """Bits per second, including wrong ones."""
        return self.bits / self.slot_seconds


CHANNELS: Final = (
    Channel("cache", "flush+reload of shared pages", 0.008, 500, bits=16),
    Channel("zeros", "flush+reload of the kernel's zero page", 0.008, 500, bits=16),
    Channel("names", "negative dentries in a shared layer", 0.05, 12, bits=512),
    Channel("inodes", "inode numbers of pipes", 0.1, 150),
    Channel("stamps", "timestamps of files", 0.02, 500),
    Channel("processes", "number of processes", 0.1, 150, crowded=True),
    Channel("gaps", "gaps in processor time", 1.0, 40),
    Channel("preemptions", "preemptions", 1.0, 40),
    Channel("moves", "moves to another core", 1.0, 40),
    Channel("caches", "contention for per-core caches", 1.0, 40),
    Channel("memory", "contention for memory", 1.0, 40),
    Channel("futexes", "futex hash table", 0.1, 150, crowded=True),
    Channel("sockets", "sockets in flight", 0.01, 500),
)


class Way(NamedTuple):
    """A way to run the containers."""

    runtime: str  # the container runtime, by its name in the engine
    apart: bool = False  # whether each seat has its own core
    copied: bool = False  # whether each seat has its own copy of the file whose pages seats otherwise share


class Transfer(NamedTuple):
    """The result of one run."""

    bits: int
    wrong: int

    @property
    def chance(self) -> bool:
        """True if guessing would be as good: the errors are less than four standard deviations below half."""
        return self.bits / 2 - self.wrong < 2 * math.sqrt(self.bits)


def decoded(values: Sequence[int]) -> list[int]:
    """Return a bit for each number: 1 if it belongs to the group of larger numbers.

    The two groups are found from the numbers themselves, after clipping the lowest and the highest tenth.
    """
    ordered = sorted(values)
    low, high = ordered[len(ordered) // 10], ordered[-1 - len(ordered) // 10]
    middle = (low + high) / 2
    clipped = [min(max(value, low), high) for value in values]
    for _ in range(20):
        groups = [[value for value in clipped if (value > middle) == one] for one in (False, True)]
        if not all(groups):
            break
        middle = sum(sum(group) / len(group) for group in groups) / 2
    return [int(value > middle) for value in values]


class _Client(docker.APIClient):
    """The engine's client. If ``apart`` is True, it gives each seat its own core."""

    def __init__(self, *, apart: bool) -> None:
        super().__init__(version="auto", timeout=60, max_pool_size=64, **kwargs_from_env())
        self._apart = apart

    def create_container(self, *args: Any, **arguments: Any) -> Any:  # noqa: ANN401 - as in the base class
        """Create a container, on a separate core for each seat if ``apart``."""
        seat = (arguments.get("labels") or {}).get(SEAT_LABEL)
        if self._apart and seat is not None:
            cores = sorted(os.sched_getaffinity(0))
            arguments["host_config"]["CpusetCpus"] = str(cores[int(seat)])
        return super().create_container(*args, **arguments)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.channels",
        description="Measure the bit rates of the open channels between bots.",
    )
    parser.add_argument("--times", type=int, default=3, help="runs per channel (default: %(default)s)")
    parser.add_argument(
        "channels",
        nargs="*",
        metavar="CHANNEL",
        help=f"channels to measure (default: all): {', '.join(channel.name for channel in CHANNELS)}",
    )
    options = parser.parse_args()
    if platform.machine() != "x86_64":
        sys.exit("benchmarks.channels: this benchmark runs x86-64 code, so it needs an x86-64 machine")
    chosen = [channel for channel in CHANNELS if channel.name in (options.channels or channel.name)]
    with docker.APIClient(**kwargs_from_env()) as client:
        info = client.info()
    table = Table(title="Channels between two bots", box=box.SIMPLE_HEAD)
    for heading in ("channel", "runtime", "cores", "pages"):
        table.add_column(heading)
    for heading in ("bits", "bit/s", "wrong", "load"):
        table.add_column(heading, justify="right")
    for way in _ways(info["DefaultRuntime"], gvisor=_GVISOR in info["Runtimes"]):
        for channel in chosen:
            if way.copied and channel.name != "cache":
                continue
            if not (channel.crowded and way.runtime == _GVISOR):
                table.add_row(*_cells(channel, way, _measure(channel, way, options.times)))
    console = Console(highlight=False, width=120)
    machine = describe_machine(f"docker {info['ServerVersion']}")
    console.print("  ".join(f"{name}: {value}" for name, value in machine.items()), soft_wrap=True)
    console.print(table)
    if _GVISOR not in info["Runtimes"]:
        console.print("gVisor: not measured, because the engine has no runtime runsc (see scripts/gvisor)")


def _ways(runtime: str, *, gvisor: bool) -> Iterator[Way]:
    yield Way(runtime)
    if len(os.sched_getaffinity(0)) > 1:
        yield Way(runtime, apart=True)
    yield Way(runtime, copied=True)
    if gvisor:
        yield Way(_GVISOR)


def _measure(channel: Channel, way: Way, times: int) -> list[Transfer]:
    client = _Client(apart=way.apart)
    with open_hall(RuntimeName.DOCKER, lambda: client, way.runtime) as hall:
        images = [_image(hall, seat if way.copied else None) for seat in range(2)]
        return [_run(hall, images, channel) for _ in range(times)]


def _image(hall: Hall, copy: int | None) -> str:
    """Build the program and return its image, with its own copy of the shared file if ``copy`` is set."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, _WHISPER.name if copy is None else f"{_WHISPER.name}-{copy}")
        folder.mkdir()
        recipe = (_WHISPER / "Dockerfile").read_text()
        (folder / "Dockerfile").write_text(recipe if copy is None else recipe + _COPY.format(copy))
        program = _WHISPER / "whisper.c"
        command = ["cc", "-static", "-O2", "-Wall", "-Werror", "-o", str(folder / "whisper"), str(program)]
        subprocess.run(command, check=True)  # noqa: S603 - our own argument list
        return hall.image(folder)


_COPY: Final = """
USER root
RUN cd /usr/local/lib/python3*/*-packages \\
 && cp -r numpy.libs {0} && rm -r numpy.libs && mv {0} numpy.libs && touch {0}
"""


def _run(hall: Hall, images: Sequence[str], channel: Channel) -> Transfer:
    with hall.lone_bot() as bot, _seats(bot, images) as seats:
        with ThreadPoolExecutor(len(seats)) as pool:
            sandboxes = list(pool.map(hall.runtime.launch, seats))
        try:
            plan = f"{time.time() + _AHEAD_SECONDS} {channel.slot_seconds} {channel.slots} {channel.bits}"
            for seat, role in zip(seats, ("say", "hear"), strict=True):
                new = seat.socket_dir / "new"
                new.write_text(f"{channel.name} {role} {plan}")
                new.rename(seat.socket_dir / "go")
            exits = [sandbox.wait().code for sandbox in sandboxes]
            said, heard = ([int(word) for word in sandbox.stderr().split()] for sandbox in sandboxes)
        finally:
            for sandbox in sandboxes:
                sandbox.remove()
    if any(exits) or not len(said) == len(heard) == channel.slots * channel.bits:
        raise RuntimeError(f"the program failed for {channel.name}: exit codes {exits}")
    return Transfer(len(said), sum(one != bit for one, bit in zip(said, decoded(heard), strict=True)))


@contextmanager
def _seats(bot: SandboxSpec, images: Sequence[str]) -> Iterator[list[SandboxSpec]]:
    """Yield a bot for the sender and one for the receiver, each with its own folder."""
    with tempfile.TemporaryDirectory(dir=bot.socket_dir) as name:
        Path(name).chmod(0o711)
        seats = []
        for seat, image in enumerate(images):
            folder = Path(name, str(seat))
            folder.mkdir()
            seats.append(
                replace(
                    bot,
                    name=f"{bot.name}-{secrets.token_hex(2)}-{seat}",
                    source=image,
                    socket_dir=folder,
                    slot=seat,
                    labels={**bot.labels, SEAT_LABEL: str(seat)},
                )
            )
        yield seats


def _cells(channel: Channel, way: Way, heard: Sequence[Transfer]) -> Iterator[str]:
    yield channel.title
    yield way.runtime
    yield "one each" if way.apart else "shared"
    yield "copied" if way.copied else "shared"
    yield str(sum(each.bits for each in heard))
    through = not Transfer(*map(sum, zip(*heard, strict=True))).chance
    yield f"{channel.rate:,.0f}" if through else "nothing above chance"
    shares = sorted(100 * each.wrong / each.bits for each in heard)
    yield f"{shares[0]:.1f} to {shares[-1]:.1f} %"
    yield f"{os.getloadavg()[0]:.0f}"


if __name__ == "__main__":
    main()
