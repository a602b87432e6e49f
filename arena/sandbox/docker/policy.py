"""The launch template: turns a sandbox's spec into the arguments of the engine's create call.

Does no I/O. Only this module sets a container's controls, and it uses the engine's names for them. Everything
else, such as the AppArmor profile and the read-only paths in /proc and /sys, is left at the engine's default.
"""

import json
from dataclasses import dataclass
from typing import Any, Final

from arena.platform.environment import REFEREE_VARIABLE
from arena.protocol.match import Limits
from arena.sandbox.kernel.seccomp import profile
from arena.sandbox.runtime import (
    DISK_READ_BYTES_PER_SECOND,
    OPEN_FILES,
    SOCKET_NAME,
    TMP_FILES,
    SandboxSpec,
    slot_owner,
)

SOCKET_MOUNT: Final = "/run/arena"
"""The socket folder in a bot's container; read-only."""

INIT_FILE: Final = "kaiten-init"
INIT_MOUNT: Final = "/run/arena-init"
"""The init's folder in a bot's container. The init starts the bot."""

BOTS_GROUP: Final = "kaiten"
"""The control group of all installations on this host."""

_GVISOR_PROCESSES: Final = 256
"""Minimum process limit under gVisor. The many threads of gVisor's kernel count towards the bot's limit."""

_TMP: Final = "/tmp"  # noqa: S108 - the container's, not ours
_MIB: Final = 1024 * 1024

_PROC: Final = """
    acpi allocinfo apm asound bootconfig buddyinfo bus cmdline config.gz consoles cpuinfo crypto devices
    diskstats dma driver dynamic_debug execdomains fb filesystems fs ide interrupts iomem ioports irq
    kallsyms kcore key-users keys kmsg kpagecgroup kpagecount kpageflags latency_stats loadavg lock_stat
    lockdep lockdep_chains lockdep_stats locks mdstat meminfo misc modules mpt mtrr pagetypeinfo partitions
    pci pressure profile sched_debug schedstat scsi slab_allocators slabinfo softirqs spl stat swaps sys
    sysrq-trigger sysvipc timer_list timer_stats tty uptime version version_signature vmallocinfo vmcore
    vmstat xen zoneinfo
"""
"""All of /proc outside the processes' folders, except ``cgroups``, which a JVM needs to find its limits."""

_SYS: Final = """
    block bus class dev devices firmware hypervisor kernel module power fs/bpf fs/btrfs fs/ceph fs/cifs
    fs/ecryptfs fs/erofs fs/ext4 fs/f2fs fs/fuse fs/gfs2 fs/jfs fs/nfs fs/nilfs2 fs/ocfs2 fs/orangefs
    fs/pstore fs/resctrl fs/selinux fs/smackfs fs/virtiofs fs/xfs fs/tmpfs fs/zfs
"""
"""All of /sys except ``fs/cgroup``, where language runtimes look for the container's limits."""

_DEV: Final = "mqueue pts zero"
"""Message queues, pseudo-terminals (scarce on a host) and a device that maps shared memory."""

MASKED: Final = tuple(
    f"{top}/{name}"
    for top, names in {"/proc": _PROC, "/sys": _SYS, "/dev": _DEV}.items()
    for name in names.split()
)
"""Paths that are empty or missing for bots. Counters there disclose what visitors, the arena and other bots
are doing."""

_DISK_READS_PER_SECOND: Final = 1_000
"""Limit on disk reads per second: enough to start a bot from a cold page cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineHost:
    """The properties of the engine and of the arena's user that the template depends on."""

    runtime: str  # the engine's name for the container runtime, such as `runc`
    gvisor: bool = False
    cgroup_parent: str  # control group of all bots, as returned by `cgroup_parent`
    init_file: str  # path of the containers' init on the engine's host
    uid: int  # user id of the arena
    gid: int  # group id of the arena
    cores: str = ""  # cores that bots may use, such as `1-3`; empty for all
    disk: str = ""  # the block device of the engine's images, such as `/dev/sda`; empty if unknown


def cgroup_parent(driver: str, install: str = "") -> str:
    """Return the shared control group of an installation's bots, in the engine's format.

    ``driver`` is the engine's cgroup driver, ``cgroupfs`` or ``systemd``. With systemd, the group is a slice,
    and the dashes in its name show its parents. ``install`` is the installation's id, for a group with its
    own limit; without an id, all installations share a group.
    """
    if driver == "systemd":
        return f"{BOTS_GROUP}-{install}.slice" if install else f"{BOTS_GROUP}.slice"
    return f"/{BOTS_GROUP}/{install}" if install else f"/{BOTS_GROUP}"


def container_arguments(spec: SandboxSpec, host: EngineHost, command: tuple[str, ...]) -> dict[str, Any]:
    """Return the keyword arguments for docker-py's ``APIClient.create_container``.

    ``command`` is the image's command.
    """
    uid, gid = slot_owner(spec.slot, host.uid, host.gid)
    return {
        "image": spec.source,
        "name": spec.name,
        "hostname": "bot",
        "user": f"{uid}:{gid}",
        # This replaces the image's command too. It is a list, so no shell interprets it.
        "entrypoint": [f"{INIT_MOUNT}/{INIT_FILE}", str(spec.deadline_seconds), *command],
        # The image's other variables are kept. They affect only the bot: the init is statically linked, so it
        # ignores LD_PRELOAD and the like.
        "environment": {REFEREE_VARIABLE: f"unix://{SOCKET_MOUNT}/{SOCKET_NAME}", "HOME": _TMP},
        # With NetworkMode alone, the engine still creates an endpoint for every container, and engines before
        # 20.10.27 can deadlock if two containers end together (github.com/moby/moby/issues/46661).
        "network_disabled": True,
        "use_config_proxy": False,  # the operator's proxy settings may contain passwords
        "labels": dict(spec.labels),
        "healthcheck": {"test": ["NONE"]},
        "stop_signal": "SIGKILL",
        "host_config": _host_config(spec, host),
    }


_MIN_CPU_SHARES: Final = 2
"""The lowest weight that the kernel allows. Other bots have 1,024."""


def _host_config(spec: SandboxSpec, host: EngineHost) -> dict[str, Any]:
    limits = spec.limits
    memory = limits.memory_mib * _MIB
    seccomp = json.dumps(profile(own_kernel=host.gvisor), separators=(",", ":"))
    return {
        "Runtime": host.runtime,
        "NetworkMode": "none",
        "IpcMode": "none",
        "CgroupnsMode": "private",
        "ReadonlyRootfs": True,
        "Tmpfs": {_TMP: f"rw,noexec,nosuid,nodev,mode=1777,size={limits.tmp_mib}m,nr_inodes={TMP_FILES}"},
        "Mounts": [
            _bind(str(spec.socket_dir), SOCKET_MOUNT),
            # Mount only the file: bots could communicate through a folder that all containers share, because
            # the kernel caches failed lookups in it (negative dentries).
            _bind(host.init_file, f"{INIT_MOUNT}/{INIT_FILE}"),
        ],
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges", f"seccomp={seccomp}"],
        "MaskedPaths": [*MASKED],
        "CgroupParent": host.cgroup_parent,
        "CpusetCpus": host.cores,
        "NanoCpus": round(limits.cpus * 1e9),
        **({"CpuShares": _MIN_CPU_SHARES} if spec.low_priority else {}),
        "Memory": memory,
        "MemorySwap": memory,  # memory and swap together, so there is no swap
        "OomScoreAdj": 1000,  # if the host runs out of memory, the kernel kills bots first
        "PidsLimit": pids_limit(limits, host),
        **_disk_limits(host.disk),
        "Ulimits": [
            # With 0, some hosts would still start a program for each crash, as root.
            _ulimit("core", 1),
            _ulimit("fsize", limits.tmp_mib * _MIB),
            _ulimit("memlock", 0),  # whether a page is locked changes how long others take to lock it
            _ulimit("msgqueue", 0),  # /dev/mqueue is writable, whatever the IPC mode
            _ulimit("nofile", OPEN_FILES),
        ],
        # Nothing reads a log: the arena attaches to stderr. If a bot printed a lot, a log would cost the
        # engine more CPU time than the bot may use, and delay the container's removal.
        "LogConfig": {"Type": "none", "Config": {}},
        "Init": False,  # the arena's own init also enforces a deadline
        "AutoRemove": False,  # the arena reads a bot's exit code before it removes the container
    }


def _disk_limits(disk: str) -> dict[str, Any]:
    # Limit only reads: bots can't write to any disk.
    if not disk:
        return {}
    return {
        "BlkioDeviceReadBps": [{"Path": disk, "Rate": DISK_READ_BYTES_PER_SECOND}],
        "BlkioDeviceReadIOps": [{"Path": disk, "Rate": _DISK_READS_PER_SECOND}],
    }


def _bind(source: str, target: str) -> dict[str, Any]:
    # Under Mounts, not Binds: for Binds, the engine would create a missing source.
    return {"Type": "bind", "Source": source, "Target": target, "ReadOnly": True}


def pids_limit(limits: Limits, host: EngineHost) -> int:
    """Return the maximum number of processes and threads in a bot's container."""
    return max(limits.pids, _GVISOR_PROCESSES) if host.gvisor else limits.pids


def _ulimit(name: str, limit: int) -> dict[str, str | int]:
    return {"Name": name, "Soft": limit, "Hard": limit}


def describe_limits(spec: SandboxSpec, host: EngineHost, warnings: tuple[str, ...]) -> tuple[str, ...]:
    """Describe a bot's limits in words.

    ``warnings`` are the engine's warnings about the new container. They are the only sign of limits that the
    engine dropped because the host can't enforce them.
    """
    limits = spec.limits
    uid, _ = slot_owner(spec.slot, host.uid, host.gid)
    controls = {
        f"memory {limits.memory_mib} MiB without swap": ("memory", "swap"),
        f"{limits.cpus:g} CPU cores": ("cpu", "cfs"),
        f"{pids_limit(limits, host)} processes and threads": ("pids",),
        f"{_TMP} {limits.tmp_mib} MiB, everything else read-only": (),
        "no network": (),
        "no capabilities, no new privileges": ("privilege",),
        f"system calls {'handled by gVisor' if host.gvisor else 'limited to an allow-list'}": ("seccomp",),
        f"user {uid}": (),
    }
    return tuple(_with_warnings(words, keys, warnings) for words, keys in controls.items()) + tuple(
        f"warning from the engine: {warning}"
        for warning in warnings
        if not any(_mentions(warning, keys) for keys in controls.values())
    )


def _with_warnings(words: str, keys: tuple[str, ...], warnings: tuple[str, ...]) -> str:
    reasons = "; ".join(warning for warning in warnings if _mentions(warning, keys))
    return f"{words} (not enforced by this host: {reasons})" if reasons else words


def _mentions(warning: str, keys: tuple[str, ...]) -> bool:
    return any(key in warning.lower() for key in keys)
