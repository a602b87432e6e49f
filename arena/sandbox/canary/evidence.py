"""The evidence from the canary's containers and the engine."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from arena.protocol.match import Limits
from arena.protocol.sandbox_controls import Finding
from arena.sandbox.runtime import Exit

MARK: Final = "canary "
"""Prefix of the probe's lines."""

TASKS: Final = ("look", "memory", "processes", "cpu", "deadline")
"""The probe's tasks. Each has its own container; all run concurrently."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbedEngine:
    """The engine's own description: machine name, engine version, kernel release and control groups.

    ``cgroup_version`` is ``1`` or ``2``, and ``cgroup_driver`` is ``cgroupfs`` or ``systemd``.
    """

    host: str
    version: str
    kernel: str
    cgroup_version: str
    cgroup_driver: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A container's processor time in an interval, as the control groups count it."""

    cores: float  # average number of cores used
    throttled: int  # number of the quota's periods in which it was throttled


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """The result of the trial in one container."""

    observations: Mapping[str, Any]  # the probe's last readable line; empty if there is none
    exit: Exit  # how it ended
    in_time: bool  # False if it had to be killed
    memory: int = 0  # the memory limit that the engine recorded, in bytes; 0 for none
    memory_and_swap: int = 0  # the same for memory and swap together; -1 for none
    cpus: float = 0  # the engine's limit in cores; 0 for none
    disk_rate: int | None = None  # limit on disk reads in bytes per second; None for no limit
    log_bytes: int = 0  # size of the output that the engine stored
    share: Share | None = None  # share of the processor; None if not measured
    # The finding about the limit on all bots, made while the container was running; None if not checked.
    shared_limit: Finding | None = None
    warnings: tuple[str, ...] = ()  # the engine's warnings when it created the container


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The expected limits, and the results of the trials."""

    engine: ProbedEngine  # the engine that ran the trials
    limits: Limits  # limits of each container
    pids: int  # limit on a container's processes
    owner: tuple[int, int]  # expected uid and gid of the container `look`
    environment: Mapping[str, str]  # complete expected environment of the container `look`
    deadline_seconds: int  # deadline of the container `deadline`
    # Whether memory that a program maps but never uses counts towards a limit of the whole host.
    strict_overcommit: bool
    not_cached_reason: str  # why the image's layers are not all in memory; empty if they are
    trials: Mapping[str, ProbeResult]  # one per task


def last_observations(stderr: str) -> dict[str, Any]:
    """Return the content of the probe's last readable line; empty if there is none."""
    for line in reversed(stderr.splitlines()):
        if line.startswith(MARK):
            try:
                return msgspec.json.decode(line.removeprefix(MARK), type=dict[str, Any])
            except msgspec.DecodeError:
                continue  # truncated when its process ended
    return {}
