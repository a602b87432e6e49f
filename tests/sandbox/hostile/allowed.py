"""What a bot may see of the machine: patterns for each kind of fact that ``probing.harvest`` tells.

The rule for /proc and /sys: what is the process's own, what the processor can do, and the container's own
limits. A sandbox with a kernel of its own may show more of both, since that is nobody else's.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from arena.sandbox.docker.policy import MASKED

_ENVIRONMENT: Final = r"ARENA_REFEREE|HOME|HOSTNAME|PATH|LANG|GPG_KEY|PYTHON\w+|OPENBLAS_NUM_THREADS"

_KERNEL: Final = "cgroups"

_DEVICES: Final = "/dev(/pts|/mqueue|/null)?"
_MASKS: Final = "|".join(map(re.escape, MASKED))
_PROC: Final = "/proc(/(bus|fs|irq|sys))?"
_SYS: Final = r"/sys(/fs/cgroup(/[\w,]+)?)?"
_MOUNTS: Final = "/|/tmp|/run/arena|/run/arena-init|/etc/hostname"

_OF_THE_KERNEL: Final = ("kernel", "system")

ALLOWED: Final[Mapping[str, str]] = {
    "environment": _ENVIRONMENT,
    "other_environments": r"(?!)",
    "processes": r"/run/arena-init/kaiten-init|python3",
    "mounts": rf"{_MOUNTS}|{_DEVICES}|{_PROC}|{_SYS}|{_MASKS}",
    "groups": r"/",
    "host": r"bot",
    "interfaces": r"lo",
    "sockets": r"(?!)",
    "descriptors": r"/dev/null|pipe|host",
    "kernel": _KERNEL,
    "system": r"fs/cgroup",
}


def beyond_allowed(told: Mapping[str, Any], *, own_kernel: bool = False) -> str:
    """Return what was seen beyond that, in words.

    Raises KeyError if it did not tell everything.
    """
    return ", ".join(
        f"{what}: {seen}"
        for what, pattern in ALLOWED.items()
        for seen in told[what]
        if not (own_kernel and what in _OF_THE_KERNEL)
        if not re.fullmatch(pattern, seen)
    )
