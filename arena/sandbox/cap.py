"""The limit on all bots together: what has to stand in which file of their common control group. Pure.

Each bot has limits of its own, and admission keeps the sum of these below this. So it is never met
while all goes well: it is for what nobody thought of.
"""

import math
from dataclasses import dataclass
from typing import Final

from arena.match import Limits

_PERIOD_MICROS: Final = 100_000
_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap:
    """What all bots of an installation may use together.

    Attributes:
        memory_mib: Memory, swap excluded; MiB.
        pids: Processes and threads.
        cpus: Cores.
    """

    memory_mib: int
    pids: int
    cpus: float

    def __str__(self) -> str:
        return f"memory {self.memory_mib} MiB, {self.pids} processes, {self.cpus:g} cores"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One file of a control group.

    Attributes:
        file: Below the root of the control groups.
        value: What it is to hold.
        checked: Whether the cap stands on it; the others only prepare, or are not there on every kernel.
        exact: Whether less will not do.
    """

    file: str
    value: str
    checked: bool = True
    exact: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the bots' common control group is.

    Attributes:
        parent: As the engine is told, such as ``/kaiten/1a2b`` or ``kaiten-1a2b.slice``.
        driver: The engine's, ``cgroupfs`` or ``systemd``.
        version: Of the control groups, 1 or 2.
    """

    parent: str
    driver: str
    version: int

    @property
    def path(self) -> str:
        """Of the group, below the root of the control groups: systemd nests slices by their names."""
        if self.driver != "systemd":
            return self.parent.strip("/")
        parts = self.parent.removesuffix(".slice").split("-")
        return "/".join("-".join(parts[: count + 1]) + ".slice" for count in range(len(parts)))

    def child(self, container: str) -> str:
        """Return where a container in it has its own group."""
        name = f"docker-{container}.scope" if self.driver == "systemd" else container
        return f"{self._folder('memory')}/{name}"

    @property
    def folders(self) -> tuple[str, ...]:
        """All that the group consists of: with version 1 it has one in every hierarchy."""
        if self.version == 1:
            return tuple(self._folder(controller) for controller in ("memory", "pids", "cpu", "cpuset"))
        return (self.path,)

    def _folder(self, controller: str) -> str:
        return f"{controller}/{self.path}" if self.version == 1 else self.path

    def lines(self, cap: Cap) -> tuple[Line, ...]:
        """Return what is to be written, in this order."""
        memory, quota = str(cap.memory_mib * _MIB), str(round(cap.cpus * _PERIOD_MICROS))
        if self.version == 1:
            return self._version_1(memory, str(cap.pids), quota)
        above = (
            "",
            *("/".join(self.path.split("/")[:count]) for count in range(1, self.path.count("/") + 1)),
        )
        return (
            *(
                Line(
                    file=f"{folder}/cgroup.subtree_control".lstrip("/"),
                    value="+cpu +memory +pids",
                    checked=False,
                )
                for folder in above
            ),
            Line(file=f"{self.path}/memory.max", value=memory),
            Line(file=f"{self.path}/memory.swap.max", value="0", checked=False),
            Line(file=f"{self.path}/pids.max", value=str(cap.pids)),
            Line(file=f"{self.path}/cpu.max", value=f"{quota} {_PERIOD_MICROS}"),
        )

    def _version_1(self, memory: str, pids: str, quota: str) -> tuple[Line, ...]:
        both = f"{self._folder('memory')}/memory.memsw.limit_in_bytes"
        period = f"{self._folder('cpu')}/cpu.cfs_period_us"
        return (
            # Kernels before 5.11 count the groups below only if told so before there are any.
            Line(file=f"{self._folder('memory')}/memory.use_hierarchy", value="1", checked=False),
            # The limit with swap can't be the lower one of the two at any time.
            Line(file=both, value="-1", checked=False),
            Line(file=f"{self._folder('memory')}/memory.limit_in_bytes", value=memory),
            Line(file=both, value=memory, checked=False),
            Line(file=f"{self._folder('pids')}/pids.max", value=pids),
            Line(file=period, value=str(_PERIOD_MICROS), exact=True),
            Line(file=f"{self._folder('cpu')}/cpu.cfs_quota_us", value=quota),
        )

    def remedy(self, cap: Cap) -> str:
        """Return what an operator does where the arena can't write there itself."""
        if self.driver == "systemd":
            return (
                f"as root: systemctl set-property {self.parent} MemoryMax={cap.memory_mib}M MemorySwapMax=0 "
                f"TasksMax={cap.pids} CPUQuota={cap.cpus * 100:.0f}% && systemctl start {self.parent}"
            )
        return (
            "run the arena as root on the engine's own machine; if it is in a container itself, mount the "
            "host's /sys/fs/cgroup there, to be written"
        )


def cap_for(limits: Limits, slots: int, pids: int) -> Cap:
    """Return what all bots may use together: every slot's share, and of memory and processes one more.

    The reserve is for the canary, and for a container that is being removed while the next begins.

    Args:
        limits: Of one bot.
        slots: How many run at a time.
        pids: Processes of one bot, as the template sets it.
    """
    return Cap(
        memory_mib=(slots + 1) * limits.memory_mib,
        pids=(slots + 1) * pids,
        cpus=round(slots * limits.cpus, 6),
    )


def holds(line: Line, found: str) -> bool:
    """Tell whether what stands in a file allows no more than the cap does."""
    if line.exact:
        return found == line.value
    return _amount(found) <= _amount(line.value)


def _amount(text: str) -> float:
    """Return a number as the kernel writes it, alone or as a quota and its period."""
    words = text.split()
    if not words or words[0] in {"max", "-1"}:
        return math.inf
    quota, period = (*words, "1")[:2]
    return int(quota) / int(period)
