"""The control group of all bots together, as it is on this host."""

import contextlib
import os
import re
import signal
import threading
import time
from pathlib import Path
from typing import Final

from arena.controls import Finding
from arena.sandbox.cap import Cap, Line, Place, holds

CONTROL: Final = "all-bots-memory"

_PATIENCE_SECONDS: Final = 2.0
_POLL_SECONDS: Final = 0.05

_ROOT: Final = Path("/sys/fs/cgroup")

_CHARGED_AT_ONCE: Final = 1024 * 1024
"""The kernel charges in portions, so the use stops a little below the limit."""

_CONTAINER: Final = re.compile(r"[0-9a-f]{64}")


class CommonGroup:
    """Writes the cap, and reads what became of it.

    Args:
        place: Where the group is.
        cap: What it is to hold.
        root: Of the control groups.
    """

    def __init__(self, place: Place, cap: Cap, root: Path = _ROOT) -> None:
        self._place = place
        self._cap = cap
        self._root = root

    @property
    def exists(self) -> bool:
        """Whether somebody has made it."""
        return bool(_tops(self._place, self._root))

    def hold(self) -> None:
        """Make the group with its limits, before there are bots. What can't be written is seen by ``held``.

        Under the driver systemd nothing is written: slices are systemd's, which forgets what others write.
        """
        if self._place.driver == "systemd":
            return
        for folder in self._place.folders:
            with contextlib.suppress(OSError):
                (self._root / folder).mkdir(parents=True, exist_ok=True)
        for line in self._place.lines(self._cap):
            with contextlib.suppress(OSError):
                (self._root / line.file).write_text(line.value)
        if self._place.version == 1:
            self._hand_down_cores()

    def _hand_down_cores(self) -> None:
        """Give the group the cores of those above it. With version 1 it begins with none.

        runc does so by itself, gVisor can't start a container that names its cores.
        """
        above = self._root / "cpuset"
        for part in self._place.path.split("/"):
            for name in ("cpuset.cpus", "cpuset.mems"):
                with contextlib.suppress(OSError):
                    if not (above / part / name).read_text().strip():
                        (above / part / name).write_text((above / name).read_text())
            above /= part

    def held(self, container: str | None = None) -> Finding:
        """Tell whether the limits stand there.

        Args:
            container: The id of a container that runs below the group. With it, it is also seen that this
                is the engine's group, and not one of the same name that only this process sees.
        """
        wrong = [self._wrong(line) for line in self._place.lines(self._cap) if line.checked]
        if container is not None and not (self._root / self._place.child(container)).is_dir():
            wrong.append(f"no container of the engine is seen in {self._root / self._place.folders[0]}")
        found = "; ".join(words for words in wrong if words)
        if found:
            detail = f"{found}. What to do: {self._place.remedy(self._cap)}"
        else:
            detail = f"{self._place.parent} is limited to {self._cap}"
        return Finding(control=CONTROL, held=not found, detail=detail)

    def remove(self) -> None:
        """Remove the group, and end whatever is still in it: what a runtime left when its container was gone.

        To be called while none of the installation's bots runs.
        """
        if self._place.driver == "systemd":
            return
        _clear(_tops(self._place, self._root))

    def _wrong(self, line: Line) -> str | None:
        try:
            found = (self._root / line.file).read_text().strip()
        except OSError as error:
            return f"{self._root / line.file}: {error.strerror}"
        return (
            None if holds(line, found) else f"{self._root / line.file} says {found} instead of {line.value}"
        )


class Overruns:
    """Counts how often all bots together have come to their common limit of memory. Threads may share it.

    Args:
        place: Where the group is.
        root: Of the control groups.
    """

    def __init__(self, place: Place, root: Path = _ROOT) -> None:
        self._place = place
        self._root = root
        self._lock = threading.Lock()
        self._seen = 0

    def count(self) -> int:
        """Return the number so far; 0 where nothing can be seen."""
        try:
            return self._version_1() if self._place.version == 1 else self._version_2()
        except (OSError, ValueError):
            return self._seen

    def _version_1(self) -> int:
        # The counter of failures stands still on kernels of our days; the highest use can be set back.
        folder = self._root / "memory" / self._place.path
        with self._lock:
            highest, limit = (
                int((folder / f"memory.{name}_in_bytes").read_text()) for name in ("max_usage", "limit")
            )
            if highest > limit - _CHARGED_AT_ONCE:
                self._seen += 1
                (folder / "memory.max_usage_in_bytes").write_text("0")
            return self._seen

    def _version_2(self) -> int:
        # The local file: the other one counts the bots' own limits too.
        lines = (self._root / self._place.path / "memory.events.local").read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith("oom "))


def containers_below(place: Place, root: Path = _ROOT) -> frozenset[str]:
    """Return the ids of all containers that have a group of their own below the common one."""
    names: list[str] = []
    for top in _tops(place, root):
        with contextlib.suppress(OSError):  # it has gone meanwhile: systemd removes a slice that is empty
            names += [folder.name for folder in top.iterdir() if folder.is_dir()]
    return frozenset(found[0] for name in names if (found := _CONTAINER.search(name)))


def end_container(place: Place, container: str, root: Path = _ROOT) -> None:
    """End whatever runs in the group of a container that the engine no longer knows, and remove the group.

    gVisor's own processes can outlive what the engine knows of.
    """
    _clear([folder for top in _tops(place, root) for folder in top.glob(f"*{container}*")])


def _tops(place: Place, root: Path) -> list[Path]:
    """Return the common group's folders. With version 1 the engine has made it in every hierarchy."""
    return list(root.glob(f"*/{place.path}" if place.version == 1 else place.path))


def _clear(tops: list[Path]) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while any([not _cleared(top) for top in tops]) and time.monotonic() < deadline:  # noqa: C419 - all of them
        time.sleep(_POLL_SECONDS)


def _cleared(top: Path) -> bool:
    """End what runs in a group and below it, and tell whether it could be removed."""
    with contextlib.suppress(OSError):  # the kernel and the engine remove groups too
        # The inner ones first.
        for folder in sorted((path.parent for path in top.rglob("cgroup.procs")), reverse=True):
            # A process of another pid namespace has the number 0.
            for pid in map(int, (folder / "cgroup.procs").read_text().split()):
                if pid:
                    os.kill(pid, signal.SIGKILL)
            folder.rmdir()
    return not top.exists()
