"""The control group that all of an installation's bots share."""

import contextlib
import math
import os
import re
import shlex
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from arena.platform.cpu_time import CpuFiles
from arena.protocol.match import Limits
from arena.protocol.sandbox_controls import Finding

_PERIOD_MICROS: Final = 100_000
_MIB: Final = 1024 * 1024

_ROOT: Final = Path("/sys/fs/cgroup")
"""The root of the cgroup hierarchy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap:
    """The shared limits of an installation's bots: memory (no swap), processes and threads, and cores."""

    memory_mib: int
    pids: int
    cpus: float

    def __str__(self) -> str:
        return f"memory {self.memory_mib} MiB, {self.pids} processes, {self.cpus:g} cores"


@dataclass(frozen=True, slots=True, kw_only=True)
class CgroupSetting:
    """A control group's file, and the value to write to it."""

    file: str  # path below the root of the cgroup hierarchy
    value: str
    # Whether the cap depends on this file. False for preparatory writes and for files that some kernels lack.
    checked: bool = True
    exact: bool = False  # whether a lower value is wrong too


@dataclass(frozen=True, slots=True, kw_only=True)
class CgroupLocation:
    """The location of the bots' shared control group."""

    parent: str  # in the engine's form, such as `/kaiten/1a2b` or `kaiten-1a2b.slice`
    driver: str  # the engine's cgroup driver, `cgroupfs` or `systemd`
    version: int  # cgroup version, 1 or 2
    scope: str  # the engine's prefix for the names of containers' systemd scopes, such as `docker`
    root: Path = _ROOT

    @property
    def path(self) -> str:
        """Path below the root of the cgroup hierarchy: systemd nests slices by name."""
        if self.driver != "systemd":
            return self.parent.strip("/")
        parts = self.parent.removesuffix(".slice").split("-")
        return "/".join("-".join(parts[: count + 1]) + ".slice" for count in range(len(parts)))

    def child(self, container: str, controller: str = "memory") -> str:
        """Return the path of a container's control group. In version 1, there is one per controller."""
        name = f"{self.scope}-{container}.scope" if self.driver == "systemd" else container
        return f"{self._folder(controller)}/{name}"

    def cpu(self, container: str, cores: float) -> CpuFiles:
        """Return the files with the counters of a container's processor time; ``cores`` is its quota."""
        group = f"{self.root}/{self.child(container, 'cpu')}"
        if self.version == 1:
            usage = f"{self.root}/{self.child(container, 'cpuacct')}/cpuacct.usage"
            return CpuFiles(threads=f"{group}/tasks", usage=usage, quota=f"{group}/cpu.stat", cores=cores)
        stat = f"{group}/cpu.stat"
        return CpuFiles(threads=f"{group}/cgroup.threads", usage=stat, quota=stat, cores=cores)

    def quota(self, container: str) -> CgroupSetting:
        """Return the file with a container's CPU quota, and the value that means no quota."""
        folder = self.child(container, "cpu")
        if self.version == 1:
            return CgroupSetting(file=f"{folder}/cpu.cfs_quota_us", value="-1")
        return CgroupSetting(file=f"{folder}/cpu.max", value="max")

    def disk_limits(self, container: str) -> str:
        """Return the file with a container's limit on bytes read from disks per second."""
        file = "blkio.throttle.read_bps_device" if self.version == 1 else "io.max"
        return f"{self.child(container, 'blkio')}/{file}"

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders that the arena creates for the group: in version 1, one per hierarchy that it uses."""
        if self.version == 1:
            return tuple(self._folder(controller) for controller in ("memory", "pids", "cpu", "cpuset"))
        return (self.path,)

    def existing_folders(self) -> list[Path]:
        """Return the group's existing folders. In version 1 the engine creates one in every hierarchy."""
        return list(self.root.glob(f"*/{self.path}" if self.version == 1 else self.path))

    def _folder(self, controller: str) -> str:
        return f"{controller}/{self.path}" if self.version == 1 else self.path

    def settings(self, cap: Cap) -> tuple[CgroupSetting, ...]:
        """Return the settings to write, in order."""
        memory, quota = str(cap.memory_mib * _MIB), str(round(cap.cpus * _PERIOD_MICROS))
        if self.version == 1:
            return self._version_1(memory, str(cap.pids), quota)
        return (
            *(
                CgroupSetting(
                    file=str(folder / "cgroup.subtree_control"), value="+cpu +memory +pids", checked=False
                )
                for folder in reversed(PurePosixPath(self.path).parents)
            ),
            CgroupSetting(file=f"{self.path}/memory.max", value=memory),
            CgroupSetting(file=f"{self.path}/memory.swap.max", value="0", checked=False),
            CgroupSetting(file=f"{self.path}/pids.max", value=str(cap.pids)),
            CgroupSetting(file=f"{self.path}/cpu.max", value=f"{quota} {_PERIOD_MICROS}"),
        )

    def _version_1(self, memory: str, pids: str, quota: str) -> tuple[CgroupSetting, ...]:
        both = f"{self._folder('memory')}/memory.memsw.limit_in_bytes"
        period = f"{self._folder('cpu')}/cpu.cfs_period_us"
        return (
            # Kernels before 5.11 include child groups only if this is set before the first one exists.
            CgroupSetting(file=f"{self._folder('memory')}/memory.use_hierarchy", value="1", checked=False),
            # The limit on memory plus swap can't be below the memory limit.
            CgroupSetting(file=both, value="-1", checked=False),
            CgroupSetting(file=f"{self._folder('memory')}/memory.limit_in_bytes", value=memory),
            CgroupSetting(file=both, value=memory, checked=False),
            CgroupSetting(file=f"{self._folder('pids')}/pids.max", value=pids),
            CgroupSetting(file=period, value=str(_PERIOD_MICROS), exact=True),
            CgroupSetting(file=f"{self._folder('cpu')}/cpu.cfs_quota_us", value=quota),
        )

    def remedy(self, cap: Cap) -> str:
        """Return what the operator can do if the arena can't write the limits itself."""
        if self.driver == "systemd":
            return (
                f"run as root: systemctl set-property {self.parent} MemoryMax={cap.memory_mib}M "
                f"MemorySwapMax=0 TasksMax={cap.pids} CPUQuota={cap.cpus * 100:.0f}% "
                f"&& systemctl start {self.parent}"
            )
        return (
            "run the arena as root on the engine's host; if the arena runs in a container, mount the "
            "host's /sys/fs/cgroup in that container, read-write"
        )


def cap_for(limits: Limits, slots: int, pids: int, cores: float) -> Cap:
    """Return the limits for all bots together: one share per slot, and one more of memory and processes.

    The additional share is for the canary, and for a container that is being removed while the next starts.
    ``limits`` and ``pids`` are per bot. The CPU quota covers at least all ``cores`` of the host, even
    if the slots can't use them. Otherwise, a bot that exceeds its own quota in a long system call would use
    up the other bots' share.
    """
    return Cap(
        memory_mib=(slots + 1) * limits.memory_mib,
        pids=(slots + 1) * pids,
        cpus=max(round(slots * limits.cpus, 6), cores),
    )


def is_within(setting: CgroupSetting, found: str) -> bool:
    """Return True if a file contains the setting's value or, unless the setting is exact, a lower limit."""
    if setting.exact:
        return found == setting.value
    return _parse_amount(found) <= _parse_amount(setting.value)


def disk_rate(found: str) -> int | None:
    """Return the lowest limit, in bytes per second, in a file with disk limits; None for no limit."""
    # Version 1 has lines like "8:0 33554432", version 2 like "8:0 rbps=33554432 wbps=max".
    words = [word.removeprefix("rbps=") for line in found.splitlines() for word in line.split()[1:2]]
    return min((int(word) for word in words if word.isdigit()), default=None)


def _parse_amount(text: str) -> float:
    """Parse a number as the kernel writes it, either plain or as a quota and its period."""
    words = text.split()
    if not words or words[0] in {"max", "-1"}:
        return math.inf
    quota, period = (*words, "1")[:2]
    return int(quota) / int(period)


CONTROL: Final = "all-bots-memory"

_TIMEOUT_SECONDS: Final = 2.0
_POLL_SECONDS: Final = 0.05

_CONTAINER: Final = re.compile(r"[0-9a-f]{64}")


class CommonGroup:
    """Sets and checks the cap on the shared control group."""

    def __init__(self, location: CgroupLocation, cap: Cap) -> None:
        self._location = location
        self._cap = cap
        self._root = location.root

    @property
    def exists(self) -> bool:
        """True if the group exists."""
        return bool(self._location.existing_folders())

    def apply(self) -> None:
        """Create the group and set its limits, before bots start.

        This does nothing if the driver is systemd, which overwrites changes to its slices. Limits that can't
        be set are reported by :meth:`check`.
        """
        if self._location.driver == "systemd":
            return
        for folder in self._location.folders:
            with contextlib.suppress(OSError):
                (self._root / folder).mkdir(parents=True, exist_ok=True)
        for setting in self._location.settings(self._cap):
            with contextlib.suppress(OSError):
                (self._root / setting.file).write_text(setting.value)
        if self._location.version == 1:
            self._copy_cpuset_from_parents()

    def _copy_cpuset_from_parents(self) -> None:
        """Copy the cores and memory nodes of the group's ancestors to it. In version 1, a new group has none.

        runc does this itself; with gVisor, a container with a cpuset couldn't start otherwise.
        """
        above = self._root / "cpuset"
        for part in self._location.path.split("/"):
            for name in ("cpuset.cpus", "cpuset.mems"):
                with contextlib.suppress(OSError):
                    if not (above / part / name).read_text().strip():
                        (above / part / name).write_text((above / name).read_text())
            above /= part

    def check(self, container: str | None = None) -> Finding:
        """Check the limits.

        If ``container`` is the id of a running container in the group, also check that this is the engine's
        group, and not one with the same name that only this process sees.
        """
        wrong = [
            self._deviation(setting) for setting in self._location.settings(self._cap) if setting.checked
        ]
        if container is not None and not (self._root / self._location.child(container)).is_dir():
            wrong.append(
                f"the engine's container does not appear in {self._root / self._location.folders[0]}"
            )
        found = "; ".join(words for words in wrong if words)
        if found:
            detail = f"{found}. To fix this, {self._location.remedy(self._cap)}"
        else:
            detail = f"{self._location.parent} is limited to {self._cap}"
        return Finding(control=CONTROL, held=not found, detail=detail)

    def disk_rate(self, container: str) -> int | None:
        """Return a running container's limit on disk reads in bytes per second; None for no limit.

        Raises OSError if the file with the limit can't be read.
        """
        return disk_rate((self._root / self._location.disk_limits(container)).read_text())

    def remove(self) -> None:
        """Remove the group, and kill leftover processes in it.

        Call this only while none of the installation's bots is running.
        """
        if self._location.driver == "systemd":
            return
        _kill_and_remove(self._location.existing_folders())

    def _deviation(self, setting: CgroupSetting) -> str | None:
        try:
            found = (self._root / setting.file).read_text().strip()
        except OSError as error:
            return f"{self._root / setting.file} can't be read: {error.strerror}"
        return (
            None
            if is_within(setting, found)
            else f"{self._root / setting.file} is {found} instead of {setting.value}"
        )


class SharedMemoryOverruns:
    """Counts how often all bots together have run out of memory under their common limit. Thread-safe.

    Merely reaching the limit doesn't count, because a bot could fill the group with cached data that outlives
    the bot. Therefore, this counts only the times when the kernel found nothing to reclaim.
    """

    def __init__(self, location: CgroupLocation) -> None:
        self._location = location
        self._lock = threading.Lock()
        self._seen = 0
        self._group = 0  # the inode of the group that the event is registered for; version 1 only
        self._event = -1

    def count(self) -> int:
        """Return the count so far, or the last known count if it can't be read."""
        try:
            return self._version_1() if self._location.version == 1 else self._version_2()
        except (OSError, ValueError):
            return self._seen

    def _version_1(self) -> int:
        # The counters in the group's files either include kills due to bots' own limits, or count nothing.
        folder = self._location.root / "memory" / self._location.path
        with self._lock:
            group = folder.stat().st_ino
            if group != self._group:
                self._register(folder)
                self._group = group
            with contextlib.suppress(BlockingIOError):
                self._seen += os.eventfd_read(self._event)
            return self._seen

    def _register(self, folder: Path) -> None:
        """Create an event that the kernel signals when it kills a process because of this group's limit."""
        event = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        try:
            with (folder / "memory.oom_control").open() as file:
                (folder / "cgroup.event_control").write_text(f"{event} {file.fileno()}")
        except OSError:
            os.close(event)
            raise
        self._forget()
        self._event = event

    def _forget(self) -> None:
        if self._event >= 0:
            os.close(self._event)
            self._event = -1

    def close(self) -> None:
        """Stop counting."""
        with self._lock:
            self._forget()

    def _version_2(self) -> int:
        # Not memory.events, which also counts the times when bots reach their own limits.
        lines = (self._location.root / self._location.path / "memory.events.local").read_text().splitlines()
        self._seen = sum(int(line.split()[1]) for line in lines if line.startswith("oom "))
        return self._seen


_RECLAIM_DIVISOR: Final = 8
"""Bots that have ended may leave up to 1/8 of the shared memory limit in use. With five slots, that is
less than the additional share in :func:`cap_for`."""

_RECLAIM_SECONDS: Final = 1.0
"""Time limit for reclaiming. Without it, the kernel would keep freeing memory for as long as running bots
make it cache more."""


def reclaim_cache(location: CgroupLocation) -> None:
    """Make the kernel free cached data, if bots that have ended left a lot of it behind.

    For example, after a bot has ended, the kernel still caches the directory entries that the bot looked up.
    If the group were full, the next bot to need memory would have to free some while its own clock is
    running. That takes seconds for 100 MiB of entries.
    """
    if location.version == 1:
        folder, used, limit, free = "memory", "usage_in_bytes", "limit_in_bytes", "force_empty"
    else:
        folder, used, limit, free = "", "current", "max", "reclaim"
    path = location.root / folder / location.path
    with contextlib.suppress(OSError, ValueError, subprocess.TimeoutExpired):
        in_use = sum(int(file.read_text()) for file in path.glob(f"*/memory.{used}"))
        left = int((path / f"memory.{used}").read_text()) - in_use
        if left > int((path / f"memory.{limit}").read_text()) // _RECLAIM_DIVISOR:
            command = f"echo {left} >{shlex.quote(str(path))}/memory.{free}"
            # In a child process, which the timeout can kill while the kernel is freeing memory.
            subprocess.run(["sh", "-c", command], check=False, timeout=_RECLAIM_SECONDS)  # noqa: S603, S607 - ours


def containers_below(location: CgroupLocation) -> frozenset[str]:
    """Return the ids of all containers that have a group below the shared group."""
    names: list[str] = []
    for top in location.existing_folders():
        with contextlib.suppress(OSError):  # the group was just removed: systemd removes empty slices
            names += [folder.name for folder in top.iterdir() if folder.is_dir()]
    return frozenset(found[0] for name in names if (found := _CONTAINER.search(name)))


def lift_quota(location: CgroupLocation, container: str) -> None:
    """Remove a container's CPU quota before its processes are killed.

    Within system calls, they can use far more than the quota. Throttling would then delay their exit by
    minutes.
    """
    setting = location.quota(container)
    with contextlib.suppress(OSError):  # the container has already ended, or this process lacks permission
        (location.root / setting.file).write_text(setting.value)


def end_container(location: CgroupLocation, container: str) -> None:
    """Kill all processes in a container, and remove its group.

    The engine kills only a container's first process. gVisor's own processes can outlive the engine's record
    of the container.
    """
    _kill_and_remove([folder for top in location.existing_folders() for folder in top.glob(f"*{container}*")])


def _kill_and_remove(groups: list[Path]) -> None:
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    while any([not _try_to_remove(top) for top in groups]) and time.monotonic() < deadline:  # noqa: C419 - all of them
        time.sleep(_POLL_SECONDS)


def _try_to_remove(top: Path) -> bool:
    """Kill the processes in a group and below it, and return whether the group could be removed."""
    with contextlib.suppress(OSError):  # the kernel and the engine remove groups too
        # Innermost first.
        for folder in sorted((path.parent for path in top.rglob("cgroup.procs")), reverse=True):
            # A process in another pid namespace is listed with the id 0.
            for pid in map(int, (folder / "cgroup.procs").read_text().split()):
                if pid:
                    os.kill(pid, signal.SIGKILL)
            folder.rmdir()
    return not top.exists()
