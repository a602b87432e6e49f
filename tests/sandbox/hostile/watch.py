"""Measures running containers from outside, and finds what remains of them."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import docker
from docker.errors import APIError

from arena.sandbox.runtime import INSTALL_LABEL
from tests.sandbox.hostile.attack import CpuQuota, Peak, hostile_seat

_PAUSE_SECONDS: Final = 0.1
_SETTLE_SECONDS: Final = 120.0
"""Time for the engine's helper processes to exit after a container was removed, on a busy host too."""

_CGROUPS: Final = Path("/sys/fs/cgroup")
_WINDOW_SECONDS: Final = 0.5


class Group:
    """The control groups of a container that the engine describes: cgroup v1, v2, or v2 with systemd."""

    def __init__(self, details: dict[str, Any]) -> None:
        self.container: str = details["Id"]
        parent = details["HostConfig"]["CgroupParent"].strip("/")
        inside = (f"{parent}/{self.container}", f"{parent}/docker-{self.container}.scope")
        roots = (_CGROUPS, *filter(Path.is_dir, _CGROUPS.iterdir()))
        self._folders = [root / name for root in roots for name in inside]
        self._files: dict[str, list[Path]] = {}

    def folders(self) -> list[Path]:
        """Return the groups' folders that exist."""
        return [folder for folder in self._folders if folder.exists()]

    def memory(self) -> int:
        """Return the container's peak memory in bytes."""
        return self._first("memory.max_usage_in_bytes", "memory.peak")

    def tasks(self) -> int:
        """Return the number of its processes and threads."""
        return self._first("pids.current")

    def seconds(self) -> float:
        """Return the processor time that it has used, in seconds."""
        for text in self._texts("cpu.stat"):
            words = text.split()
            if "usage_usec" in words:
                return int(words[words.index("usage_usec") + 1]) / 1e6
        return self._first("cpuacct.usage") / 1e9

    def throttled(self) -> int:
        """Return the number of periods in which it used up its share of the processor early."""
        for text in self._texts("cpu.stat"):
            words = text.split()
            if "nr_throttled" in words:
                return int(words[words.index("nr_throttled") + 1])
        return 0

    def quota(self) -> float:
        """Return how many cores it may use, or 0 if there is no limit."""
        for text in self._texts("cpu.max"):
            most, period = text.split()
            return 0.0 if most == "max" else int(most) / int(period)
        most_of_v1, period_of_v1 = self._first("cpu.cfs_quota_us"), self._first("cpu.cfs_period_us")
        # The group may disappear between the two readings.
        return most_of_v1 / period_of_v1 if most_of_v1 > 0 and period_of_v1 else 0.0

    def _first(self, *names: str) -> int:
        return next((int(text) for name in names for text in self._texts(name)), 0)

    def _texts(self, name: str) -> Iterator[str]:
        # Finding the files is slow, and their paths don't change. They exist once the container has started.
        if not self._files.get(name):
            self._files[name] = [file for folder in self._folders if (file := folder / name).exists()]
        for file in self._files[name]:
            try:
                yield file.read_text()
            except OSError:
                continue


class Meter:
    """Measures the recent rate of a growing sum, per second."""

    def __init__(self) -> None:
        self._readings: list[tuple[float, float]] = []

    def read(self, measure: Callable[[], float]) -> float:
        """Measure the sum, and return its rate over the last window; 0 until the first window is complete.

        The result never exceeds the true rate, however long a measurement takes on a busy host: a window
        lasts from before its first measurement to after its last.
        """
        begun = time.monotonic()
        value = measure()
        now = time.monotonic()
        self._readings.append((begun, value))
        while len(self._readings) > 2 and now - self._readings[1][0] >= _WINDOW_SECONDS:
            del self._readings[0]
        then, before = self._readings[0]
        return (value - before) / (now - then) if now - then >= _WINDOW_SECONDS else 0.0


class Watch:
    """Watches an installation's containers and processes, and the host.

    ``uids`` are the users of its bots and referees. Nothing else may run as them. Its sockets are in
    ``run_dir``.
    """

    def __init__(self, client: docker.APIClient, install: str, uids: frozenset[int], run_dir: Path) -> None:
        self._client = client
        self._install = install
        self._uids = uids
        self._run_dir = run_dir
        self._root = Path(client.info()["DockerRootDir"])
        self._seen: dict[str, dict[str, Any]] = {}
        self._groups: dict[str, Group] = {}
        self._meters: dict[str, Meter] = {}
        self._peak = Peak()
        self._quotas: dict[int, CpuQuota] = {}
        self._shared: set[str] = set()

    @property
    def peak(self) -> Peak:
        """The highest values during the last :meth:`watching`."""
        return self._peak

    @property
    def quotas(self) -> dict[int, CpuQuota]:
        """Each seat's share of the processor in the hostile match, and how often it was used up."""
        return self._quotas

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Measure repeatedly while the context lasts."""
        self._seen, self._groups, self._meters = {}, {}, {}
        self._peak, self._quotas, self._shared = Peak(), {}, self._volumes()
        before, done = _available(), threading.Event()
        failure: list[BaseException] = []

        def look() -> None:
            try:
                while not done.wait(_PAUSE_SECONDS):
                    self._look(before)
            except BaseException as error:  # noqa: BLE001 - raised when the context ends
                failure.append(error)

        watcher = threading.Thread(target=look, name="hostile-watch")
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()
        if failure:
            raise failure[0]
        if not self._seen:
            raise RuntimeError(f"no container of {self._install} was seen")

    def left(self) -> tuple[str, ...]:
        """Wait until nothing remains of the containers that were seen, and return what still does."""
        deadline = time.monotonic() + _SETTLE_SECONDS
        while (found := self.remains()) and time.monotonic() < deadline:
            time.sleep(_PAUSE_SECONDS)
        return found

    def _look(self, before: int) -> None:
        for container in self._containers():
            if container not in self._seen:
                with suppress(APIError):  # removed since it was listed
                    details = self._client.inspect_container(container)
                    self._seen[container], self._groups[container] = details, Group(details)
        groups = self._groups.values()
        now = Peak(
            host=max(0, before - _available()),
            bots=max((group.memory() for group in groups), default=0),
            tasks=max((group.tasks() for group in groups), default=0),
            cores=max(
                (self._meters.setdefault(group.container, Meter()).read(group.seconds) for group in groups),
                default=0.0,
            ),
            referees=max((_memory_of(process) for process in self._processes()), default=0),
            disk=sum(_size(folder) for details in self._seen.values() for folder in self._folders(details)),
        )
        self._peak = Peak(*map(max, self._peak, now))
        for group in groups:
            if (seat := hostile_seat(self._seen[group.container]["Config"]["Labels"])) is not None:
                # A group that has disappeared returns 0.
                earlier = self._quotas.get(seat, CpuQuota())
                self._quotas[seat] = CpuQuota(
                    cores=max(earlier.cores, group.quota()),
                    throttled=max(earlier.throttled, group.throttled()),
                )

    def _containers(self) -> list[str]:
        found = self._client.containers(all=True, filters={"label": f"{INSTALL_LABEL}={self._install}"})
        return [container["Id"] for container in found]

    def _volumes(self) -> set[str]:
        return {volume["Name"] for volume in self._client.volumes()["Volumes"] or ()}

    def _folders(self, details: dict[str, Any]) -> tuple[Path, ...]:
        layer = (details["GraphDriver"]["Data"] or {}).get("UpperDir")
        return (self._root / "containers" / details["Id"], *([Path(layer)] if layer else []))

    def _processes(self) -> list[Path]:
        found = []
        with os.scandir("/proc") as entries:  # Path.glob takes several times as long
            for entry in entries:
                with suppress(OSError):
                    if entry.name.isdecimal() and entry.stat().st_uid in self._uids:
                        found.append(Path(entry.path))
        return found

    def remains(self) -> tuple[str, ...]:
        """Return what currently remains of the containers, their processes and sockets."""
        found = [f"container {container[:12]}" for container in self._containers()]
        found += [f"process {path.name}: {_command(path)}" for path in self._processes()]
        found += [f"file {path}" for path in self._run_dir.rglob("*")]
        for details in self._seen.values():
            found += [f"folder {folder}" for folder in self._folders(details) if folder.exists()]
        found += [f"control group {path}" for group in self._groups.values() for path in group.folders()]
        mounted = {m.get("Name") for details in self._seen.values() for m in details["Mounts"]}
        found += [f"volume {name}" for name in self._volumes() & mounted - self._shared]
        return (*found, *self._helpers())

    def _helpers(self) -> list[str]:
        """Return the engine's processes that belong to one of the containers."""
        return [
            f"process {path.name}: {command}"
            for path in Path("/proc").glob("[0-9]*")
            if any(container in (command := _command(path)) for container in self._seen)
            and int(path.name) != os.getpid()
        ]


def _available() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("/proc/meminfo has no MemAvailable")


def _memory_of(process: Path) -> int:
    """Return a process's peak memory in bytes, or 0 if it has ended."""
    with suppress(OSError):
        for line in (process / "status").read_text(errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def _command(process: Path) -> str:
    with suppress(OSError):
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    return ""


def _size(folder: Path) -> int:
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(f"{where}/{name}").st_blocks * 512
    return total
