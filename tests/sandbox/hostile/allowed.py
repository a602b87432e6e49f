"""What a bot may see of the machine: patterns for each kind of fact that ``probing.harvest`` tells.

The rule for /proc and /sys: what tells of the hardware and of the kernel as a whole, and of nobody's work.
How busy the machine is can be seen there too; docs/security.md says that this is not hidden.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

_ENVIRONMENT: Final = r"ARENA_REFEREE|HOME|HOSTNAME|PATH|LANG|GPG_KEY|PYTHON\w+|OPENBLAS_NUM_THREADS"

_KERNEL: Final = """
    bootconfig buddyinfo cgroups cmdline config.gz consoles cpuinfo crypto devices diskstats dma execdomains
    fb filesystems interrupts iomem ioports kallsyms key-users loadavg locks mdstat meminfo misc modules mtrr
    partitions schedstat softirqs stat swaps uptime version vmstat zoneinfo sentry-meminfo
"""
"""Not there: kcore, keys, kmsg, kpagecount, latency_stats, sched_debug, slabinfo, timer_list, vmallocinfo."""

_SETTINGS: Final = "boot_params btf cgroup config iommu_groups irq livepatch mm notes reboot slab"
"""Not there: debug, security, tracing."""

_HARDWARE: Final = "block|bus|class|dev|devices|hypervisor|module|power"

_DEVICES: Final = "/dev(/pts|/mqueue|/null)?"
_COVERED: Final = (
    "acpi|asound|bus|fs|interrupts|irq|kcore|keys|latency_stats|sched_debug|scsi|sys|timer_list|timer_stats"
)
_PROC: Final = f"/proc(/({_COVERED}))?"
_SYS: Final = r"/sys(/firmware|/devices/virtual/powercap|/fs/cgroup(/[\w,]+)?)?"

ALLOWED: Final[Mapping[str, str]] = {
    "environment": _ENVIRONMENT,
    "other_environments": r"(?!)",
    "processes": r"/run/arena-init/kaiten-init|python3",
    "mounts": rf"/|/tmp|/run/arena|/run/arena-init|/etc/hostname|{_DEVICES}|{_PROC}|{_SYS}",
    "groups": r"/",
    "host": r"bot",
    "interfaces": r"lo",
    "sockets": r"(?!)",
    "descriptors": r"/dev/null|pipe|host",
    "kernel": "|".join(map(re.escape, _KERNEL.split())),
    "system": rf"({_HARDWARE})/.*|kernel/({'|'.join(_SETTINGS.split())})|fs/(?!bpf|pstore|selinux|fuse)\w+",
}


def beyond_allowed(told: Mapping[str, Any]) -> str:
    """Return what was seen beyond that, in words.

    Raises:
        KeyError: It did not tell everything.
    """
    return ", ".join(
        f"{what}: {seen}"
        for what, pattern in ALLOWED.items()
        for seen in told[what]
        if not re.fullmatch(pattern, seen)
    )
