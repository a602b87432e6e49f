"""The launch template: from a sandbox's spec to the arguments of the engine's create call.

Pure. Every control of a container stands here and nowhere else, under the engine's
own names. Whatever is left out is the engine's default: its AppArmor profile, its masked
and read-only paths of /proc and /sys.
"""

from dataclasses import dataclass
from typing import Any, Final

from arena.match import Limits
from arena.sandbox.init_image import INIT_FILE
from arena.sandbox.runtime import REFEREE_VARIABLE, SOCKET_NAME, SandboxSpec
from arena.sandbox.seccomp import profile_json

FIRST_UID: Final = 64_000
"""The uid of slot 0; slot k has the k-th after it."""

SOCKET_MOUNT: Final = "/run/arena"
"""Where a bot finds its socket directory, which it can't write to."""

INIT_MOUNT: Final = "/run/arena-init"
"""Where a container has its init, which starts the bot."""

BOTS_GROUP: Final = "kaiten"
"""Of the control groups of all installations of this host."""

_GVISOR_PROCESSES: Final = 256
"""The least that gVisor's own kernel, a process of many threads, needs; it counts together with the bot."""

_TMP: Final = "/tmp"  # noqa: S108 - the container's, not ours
_MIB: Final = 1024 * 1024
OPEN_FILES: Final = 256
TMP_FILES: Final = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What the template needs to know of the engine and of whoever calls it.

    Attributes:
        runtime: The engine's name of what runs containers, such as ``runc``.
        gvisor: Whether that is gVisor.
        cgroup_parent: Of all bots together, as the engine's driver wants it: see :func:`cgroup_parent`.
        init_volume: Name of the volume that holds the containers' init.
        uid: The caller's.
        gid: The caller's.
        cores: Those that bots may use, such as ``1-3``; empty for all.
    """

    runtime: str
    gvisor: bool = False
    cgroup_parent: str
    init_volume: str
    uid: int
    gid: int
    cores: str = ""


def slot_owner(slot: int, uid: int, gid: int) -> tuple[int, int]:
    """Return uid and gid of a slot's bot, which must own its socket.

    Args:
        slot: From 0.
        uid: The caller's. Only root can give a socket away, so everyone else's bots run as himself.
        gid: The caller's.
    """
    if uid != 0:
        return uid, gid
    return FIRST_UID + slot, FIRST_UID + slot


def cgroup_parent(driver: str, install: str = "") -> str:
    """Return the control group of an installation's bots together, in the form for the engine.

    Args:
        driver: The engine's, ``cgroupfs`` or ``systemd``. systemd knows only slices; one whose name
            begins with another's and a dash lies in that.
        install: The installation's id, so that each has a limit of its own; without it, the group of all.
    """
    if driver == "systemd":
        return f"{BOTS_GROUP}-{install}.slice" if install else f"{BOTS_GROUP}.slice"
    return f"/{BOTS_GROUP}/{install}" if install else f"/{BOTS_GROUP}"


def container_arguments(spec: SandboxSpec, host: Host, command: tuple[str, ...]) -> dict[str, Any]:
    """Return the keyword arguments of docker-py's ``APIClient.create_container``.

    Args:
        spec: The bot's.
        host: Where it runs.
        command: What its image starts.
    """
    uid, gid = slot_owner(spec.slot, host.uid, host.gid)
    return {
        "image": spec.source,
        "name": spec.name,
        "hostname": "bot",
        "user": f"{uid}:{gid}",
        # It replaces the image's own command too. Words and no shell: nothing of them is interpreted.
        "entrypoint": [f"{INIT_MOUNT}/{INIT_FILE}", str(spec.deadline_seconds), *command],
        # The image's own variables stay, except these. They can hurt nobody but the bot: what starts it is
        # static, and so reads none of LD_PRELOAD and the like.
        "environment": {REFEREE_VARIABLE: f"unix://{SOCKET_MOUNT}/{SOCKET_NAME}", "HOME": _TMP},
        # With the mode alone the engine still keeps an endpoint for every container, and engines before
        # 20.10.27 can deadlock when two of them end at a time (github.com/moby/moby/issues/46661).
        "network_disabled": True,
        "use_config_proxy": False,  # the operator's proxy settings hold passwords
        "labels": dict(spec.labels),
        "healthcheck": {"test": ["NONE"]},
        "stop_signal": "SIGKILL",
        "host_config": _host_config(spec, host),
    }


def _host_config(spec: SandboxSpec, host: Host) -> dict[str, Any]:
    limits = spec.limits
    memory = limits.memory_mib * _MIB
    return {
        "Runtime": host.runtime,
        "NetworkMode": "none",
        "IpcMode": "none",
        "CgroupnsMode": "private",
        "ReadonlyRootfs": True,
        "Tmpfs": {_TMP: f"rw,noexec,nosuid,nodev,mode=1777,size={limits.tmp_mib}m,nr_inodes={TMP_FILES}"},
        "Mounts": [_socket_mount(spec), _init_mount(host)],
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges", f"seccomp={profile_json()}"],
        "CgroupParent": host.cgroup_parent,
        "CpusetCpus": host.cores,
        "NanoCpus": round(limits.cpus * 1e9),
        "Memory": memory,
        "MemorySwap": memory,  # both together: so no swap at all
        "PidsLimit": pids_limit(limits, host),
        "Ulimits": [
            _ulimit("core", 0),
            _ulimit("fsize", limits.tmp_mib * _MIB),
            _ulimit("msgqueue", 0),  # /dev/mqueue is there and can be written, whatever the mode of IPC
            _ulimit("nofile", OPEN_FILES),
        ],
        # Nobody reads it: stderr is heard while it is said. To keep a log costs the engine more of the
        # processor than the bot that prints has, outside of its share, and holds its removal up.
        "LogConfig": {"Type": "none", "Config": {}},
        "Init": False,  # ours keeps a deadline too
        "AutoRemove": False,  # how a bot ended is read before it goes
    }


def _socket_mount(spec: SandboxSpec) -> dict[str, Any]:
    # As a mount and not as a bind: the engine would make a missing source itself.
    return {"Type": "bind", "Source": str(spec.socket_dir), "Target": SOCKET_MOUNT, "ReadOnly": True}


def _init_mount(host: Host) -> dict[str, Any]:
    # NoCopy: what an image has at that place must not get into a volume that all containers share.
    return {
        "Type": "volume",
        "Source": host.init_volume,
        "Target": INIT_MOUNT,
        "ReadOnly": True,
        "VolumeOptions": {"NoCopy": True},
    }


def pids_limit(limits: Limits, host: Host) -> int:
    """Return how many processes and threads a bot's container may have."""
    return max(limits.pids, _GVISOR_PROCESSES) if host.gvisor else limits.pids


def _ulimit(name: str, most: int) -> dict[str, str | int]:
    return {"Name": name, "Soft": most, "Hard": most}


def limits_in_words(spec: SandboxSpec, host: Host, warnings: tuple[str, ...]) -> tuple[str, ...]:
    """Return what holds a bot, for people.

    Args:
        spec: The bot's.
        host: Where it runs.
        warnings: What the engine said when it made the container. It drops limits that the
            host can't hold, and this is all it says about it.
    """
    limits = spec.limits
    uid, _ = slot_owner(spec.slot, host.uid, host.gid)
    controls = {
        f"memory {limits.memory_mib} MiB without swap": ("memory", "swap"),
        f"{limits.cpus:g} CPU cores": ("cpu", "cfs"),
        f"{pids_limit(limits, host)} processes and threads": ("pids",),
        f"{_TMP} {limits.tmp_mib} MiB, all else read-only": (),
        "no network": (),
        "no capabilities, no new privileges": ("privilege",),
        "system calls by allow-list" if not host.gvisor else "system calls answered by gVisor": ("seccomp",),
        f"user {uid}": (),
    }
    return tuple(_with_warnings(words, keys, warnings) for words, keys in controls.items()) + tuple(
        f"warning of the engine: {warning}"
        for warning in warnings
        if not any(_concerns(warning, keys) for keys in controls.values())
    )


def _with_warnings(words: str, keys: tuple[str, ...], warnings: tuple[str, ...]) -> str:
    said = "; ".join(warning for warning in warnings if _concerns(warning, keys))
    return f"{words} (not held by this host: {said})" if said else words


def _concerns(warning: str, keys: tuple[str, ...]) -> bool:
    return any(key in warning.lower() for key in keys)
