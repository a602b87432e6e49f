"""Tests that distinguish bots stopped by their own quota from bots stopped by a busy host."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import docker
import pytest

from arena.platform.cpu_time import CpuFiles, HostDelayMeter
from tests.locks import host_lock

_ROOT = Path("/sys/fs/cgroup")
_PERIOD_MICROS = 100_000


@dataclass(frozen=True, slots=True)
class Group:
    """A control group with a quota, like that of a container."""

    version: int
    name: str

    @property
    def folders(self) -> tuple[Path, ...]:
        """Return the group's folders. Version 1 has one for the quota and one for the counts."""
        return tuple(_ROOT / hierarchy / self.name for hierarchy in self.hierarchies)

    @property
    def hierarchies(self) -> tuple[str, ...]:
        """Return the controllers' folders, which version 2 doesn't have."""
        return ("cpu", "cpuacct") if self.version == 1 else ("",)

    def files(self, cores: float) -> CpuFiles:
        """Return the files with the group's counts."""
        first, last = self.folders[0], self.folders[-1]
        if self.version == 1:
            return CpuFiles(
                threads=f"{first}/tasks",
                usage=f"{last}/cpuacct.usage",
                quota=f"{first}/cpu.stat",
                cores=cores,
            )
        stat = f"{first}/cpu.stat"
        return CpuFiles(threads=f"{first}/cgroup.threads", usage=stat, quota=stat, cores=cores)

    def make(self, cores: float, *, comes_first: bool) -> None:
        """Create the group, with the highest or the lowest priority."""
        for folder in self.folders:
            folder.mkdir(exist_ok=True)
        quota = str(round(cores * _PERIOD_MICROS))
        if self.version == 1:
            (self.folders[0] / "cpu.cfs_quota_us").write_text(quota)
            (self.folders[0] / "cpu.shares").write_text("262144" if comes_first else "2")
        else:
            (_ROOT / "cgroup.subtree_control").write_text("+cpu")
            (self.folders[0] / "cpu.max").write_text(f"{quota} {_PERIOD_MICROS}")
            (self.folders[0] / "cpu.weight").write_text("10000" if comes_first else "1")

    def add(self, pid: int) -> None:
        """Move a process into the group."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(pid))

    def lift(self) -> None:
        """Remove the quota, so that processes that have exceeded it can exit."""
        name, value = ("cpu.cfs_quota_us", "-1") if self.version == 1 else ("cpu.max", "max")
        (self.folders[0] / name).write_text(value)

    def remove(self) -> None:
        """Remove the group, after its processes have exited."""
        for folder in self.folders:
            folder.rmdir()


SPINS = ("sh", "-c", "while :; do :; done")
_OVERSPENDING = """
import os
room, source = bytearray(1 << 22), os.open("/dev/urandom", os.O_RDONLY)
while True:
    os.readv(source, [room] * 64)
"""
OVERSPENDS = (sys.executable, "-Sc", _OVERSPENDING)
"""A program that makes system calls of over a second."""


@contextmanager
def waiting(count: int, program: Sequence[str] = SPINS) -> "Iterator[list[subprocess.Popen[bytes]]]":
    """Yield processes that always want a processor once their stdin is closed."""
    command = ("sh", "-c", 'read -r _; exec "$@"', "sh", *program)
    running = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(count)]  # noqa: S603 - as above
    try:
        yield running
    finally:
        for each in running:
            each.kill()
            each.communicate()


def waits(  # noqa: PLR0913 - the conditions of a test
    version: int,
    cores: float,
    spinners: int,
    others: int,
    *,
    comes_first: bool,
    program: Sequence[str] = SPINS,
) -> float:
    """Return the share of measurements, as frequent as a referee's, that find programs waiting.

    If there are other programs, all run on one core.
    """
    group, core = Group(version, f"kaiten-test-{os.getpid()}"), min(os.sched_getaffinity(0))
    group.make(cores, comes_first=comes_first)
    try:
        # Two tests that keep all processors busy would delay each other by minutes.
        with host_lock("processors"), waiting(spinners, program) as own, waiting(others) as rest:
            # Moving spinning processes takes a long time.
            for process in own:
                group.add(process.pid)
            for process in (*own, *rest):
                if rest:
                    os.sched_setaffinity(process.pid, {core})
                if process.stdin is not None:
                    process.stdin.close()
            meter, seen = HostDelayMeter(group.files(cores)), []
            time.sleep(0.5)  # more than the quota's period, in the group
            meter.sample()
            for _ in range(40):
                time.sleep(0.05)
                meter.sample()
                seen.append(meter.is_waiting())
            group.lift()
            return sum(seen) / len(seen)
    finally:
        group.remove()


@pytest.fixture
def version(docker_client: docker.DockerClient) -> int:
    """Return the version of the host's control groups."""
    return int(docker_client.info()["CgroupVersion"])


@pytest.mark.docker
@pytest.mark.parametrize("processes", [pytest.param(1, id="spins"), pytest.param(6, id="forks")])
def test_a_bot_that_its_own_quota_stops_does_not_wait_for_the_host(version: int, processes: int) -> None:
    """The bot is mostly runnable but not running, since it has used up its quota."""
    assert waits(version, 0.2, processes, others=0, comes_first=True) < 0.1


@pytest.mark.docker
def test_a_bot_that_exceeded_its_quota_does_not_wait_for_the_host(version: int) -> None:
    """Linux doesn't stop a bot during a system call, but for many periods afterwards."""
    assert waits(version, 0.2, 2, others=0, comes_first=True, program=OVERSPENDS) < 0.1


@pytest.mark.docker
def test_a_bot_that_a_busy_host_stops_waits_for_it(version: int) -> None:
    """The bot has used only a part of its quota, so the host is to blame."""
    assert waits(version, 0.8, 1, others=4, comes_first=False) > 0.5
