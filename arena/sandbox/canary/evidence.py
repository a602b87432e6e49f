"""What the canary's containers and the engine have shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from arena.controls import Finding
from arena.match import Limits
from arena.sandbox.runtime import Exit

MARK: Final = "canary "
"""Begins the probe's lines."""

TASKS: Final = ("look", "memory", "processes", "cpu", "deadline")
"""One container each, all at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """The engine, as it describes itself.

    Attributes:
        host: Name of its machine.
        version: Its own.
        kernel: Release of its machine's kernel.
        cgroup_version: ``1`` or ``2``.
        cgroup_driver: ``cgroupfs`` or ``systemd``.
    """

    host: str
    version: str
    kernel: str
    cgroup_version: str
    cgroup_driver: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What a container got of the processor for a while, by the control groups' own count.

    Attributes:
        cores: On average.
        throttled: How many of the quota's periods it had to pause in.
    """

    cores: float
    throttled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What came of one container.

    Attributes:
        said: The probe's last line; None where it said nothing that can be read.
        exit: How it ended.
        in_time: Whether it ended by itself, or had to be killed.
        seconds: From its start to its end, by the engine's clock; None where nobody knows.
        memory: The engine's limit on memory, in bytes, after what the host can't hold was dropped; 0 is none.
        memory_and_swap: The same of memory and swap together; -1 is none.
        cpus: The engine's limit on the share of the processor, in cores; 0 is none.
        log_bytes: What the engine kept of its output.
        share: Of the processor; None where it was not measured.
        together: What was found of the limit on all bots, while it ran; None where nobody looked.
        warnings: What the engine said when it made it.
    """

    said: Mapping[str, Any] | None
    exit: Exit
    in_time: bool
    seconds: float | None = None
    memory: int = 0
    memory_and_swap: int = 0
    cpus: float = 0
    log_bytes: int = 0
    share: Share | None = None
    together: Finding | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Everything that the judgement rests on.

    Attributes:
        engine: Where it was seen.
        limits: What the containers were to be held by.
        pids: Processes that a container was to have at most.
        tmp_files: Files that /tmp was to hold at most.
        open_files: Files that a process was to have open at most.
        owner: Uid and gid that the container ``look`` was to have.
        environment: What it was to find in its environment, and nothing else.
        deadline_seconds: After which the container ``deadline`` was to end.
        trials: One a task.
    """

    engine: Engine
    limits: Limits
    pids: int
    tmp_files: int
    open_files: int
    owner: tuple[int, int]
    environment: Mapping[str, str]
    deadline_seconds: int
    trials: Mapping[str, Trial] = field(default_factory=dict)


def last_words(stderr: str) -> dict[str, Any] | None:
    """Return what the last readable line of the probe says, or None."""
    for line in reversed(stderr.splitlines()):
        if line.startswith(MARK):
            try:
                return msgspec.json.decode(line.removeprefix(MARK), type=dict[str, Any])
            except msgspec.DecodeError:
                continue  # cut off by the end of its process
    return None
