"""The kernel's log, which says why it killed a process when memory ran out."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_LOG: Final = Path("/dev/kmsg")
_RECORD_BYTES: Final = 8192
"""The kernel's limit for one record."""


def ran_out_of_memory_outside(log: Iterable[str], container: str) -> bool:
    """Return True if the kernel killed a container's process because memory ran out outside the container.

    That means on the host, or in a control group above the container's. ``log`` contains the kernel's
    records without prefixes, in which a control group's path contains its container's id.
    """
    return any(container in killed and container not in limit for killed, limit in _killed_for_memory(log))


def reached_its_limit(log: Iterable[str], container: str) -> bool:
    """Return True if the kernel killed a process because the container reached its own memory limit.

    ``log`` is as for :func:`ran_out_of_memory_outside`.
    """
    return any(container in limit for _, limit in _killed_for_memory(log))


def _killed_for_memory(log: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each killed process's control group, and the one whose limit was reached; empty if unknown."""
    for record in log:
        facts, name, _ = record.partition(",task=")  # the rest begins with a name that the bot has chosen
        if name and facts.startswith("oom-kill:constraint="):
            groups = dict(fact.split("=", 1) for fact in facts.split(",") if "=" in fact)
            yield groups.get("task_memcg", ""), groups.get("oom_memcg", "")


def kernel_log() -> Iterator[str]:
    """Yield the kernel's records, oldest first; none if they can't be read, as in most containers."""
    with suppress(OSError):
        log = os.open(_LOG, os.O_RDONLY | os.O_NONBLOCK)
        try:
            while True:
                with suppress(BrokenPipeError):  # this record was overwritten; the next one is available
                    yield os.read(log, _RECORD_BYTES).decode(errors="replace").partition(";")[2].rstrip("\n")
        finally:
            os.close(log)
