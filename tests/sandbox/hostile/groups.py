"""What the host knows of a container by its control groups."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

_ROOT: Final = Path("/sys/fs/cgroup")
_WINDOW_SECONDS: Final = 0.5


class Group:
    """The control groups of one container, of cgroup v1, v2, or v2 with systemd.

    ``details`` is what the engine says of it.
    """

    def __init__(self, details: dict[str, Any]) -> None:
        self.container: str = details["Id"]
        parent = details["HostConfig"]["CgroupParent"].strip("/")
        inside = (f"{parent}/{self.container}", f"{parent}/docker-{self.container}.scope")
        roots = (_ROOT, *filter(Path.is_dir, _ROOT.iterdir()))
        self._folders = [root / name for root in roots for name in inside]
        self._files: dict[str, list[Path]] = {}

    def folders(self) -> list[Path]:
        """Return those that are there."""
        return [folder for folder in self._folders if folder.exists()]

    def memory(self) -> int:
        """Return the most memory that it has had; bytes."""
        return self._first("memory.max_usage_in_bytes", "memory.peak")

    def tasks(self) -> int:
        """Return how many processes and threads it has."""
        return self._first("pids.current")

    def seconds(self) -> float:
        """Return the processor time that it has taken."""
        for text in self._texts("cpu.stat"):
            words = text.split()
            if "usage_usec" in words:
                return int(words[words.index("usage_usec") + 1]) / 1e6
        return self._first("cpuacct.usage") / 1e9

    def throttled(self) -> int:
        """Return in how many periods it had used up its share of the processor before their end."""
        for text in self._texts("cpu.stat"):
            words = text.split()
            if "nr_throttled" in words:
                return int(words[words.index("nr_throttled") + 1])
        return 0

    def quota(self) -> float:
        """Return how many cores it may use; 0 where nothing limits that."""
        for text in self._texts("cpu.max"):
            most, period = text.split()
            return 0.0 if most == "max" else int(most) / int(period)
        most_of_v1, period_of_v1 = self._first("cpu.cfs_quota_us"), self._first("cpu.cfs_period_us")
        return most_of_v1 / period_of_v1 if most_of_v1 > 0 else 0.0

    def _first(self, *names: str) -> int:
        return next((int(text) for name in names for text in self._texts(name)), 0)

    def _texts(self, name: str) -> Iterator[str]:
        # Finding the files takes long, and they stay where they are; before it starts there are none.
        if not self._files.get(name):
            self._files[name] = [file for folder in self._folders if (file := folder / name).exists()]
        for file in self._files[name]:
            try:
                yield file.read_text()
            except OSError:
                continue


class Meter:
    """Tells from a growing sum how much of it came a second, of late."""

    def __init__(self) -> None:
        self._readings: list[tuple[float, float]] = []

    def read(self, measure: Callable[[], float]) -> float:
        """Measure the sum so far and return the rate over the last window; 0 while there is none.

        It is never more than the true one, however long the machine makes a measurement take: a window
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
