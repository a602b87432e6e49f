"""What the attacks on the system got that they must not get, each in words; empty: nothing."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from arena.protocol.match import Limits
from arena.sandbox.docker.policy import MASKED
from tests.sandbox.hostile.attack import Outcome
from tests.sandbox.hostile.judge import BOUNDS

_LIMITS: Final = Limits()
_LOG_MIB: Final = 4
_GVISOR_TASKS: Final = 256
_RIGHT: Final = 0.9
"""Guessing 32 bits gets there once in a million times."""

_BOMBS: Final = ("processes", "threads")
_EMULATED: Final = {
    "ptrace: be traced",
    "unshare: users",
    "unshare: users and mounts",
    "clone: users",
    "io_uring_setup",
    "syslog: the kernel's messages",
    "AF_NETLINK",
}
"""What gVisor's own kernel grants: it concerns nothing outside of it."""

_CONSTANT: Final = {"/proc/cpuinfo", "/proc/loadavg", "/proc/meminfo", "/proc/stat", "/proc/uptime"}
"""What gVisor writes there itself: zeros, its own memory and its own age. It ignores masks of files."""


def tasks(outcome: Outcome) -> str:
    """Count processes and threads beyond the limit."""
    # gVisor's own threads are the host's tasks, and the bot's are not; the template allows for that.
    most = _GVISOR_TASKS if outcome.gvisor else _LIMITS.pids
    count = max(outcome.peak.tasks, *(0 if outcome.gvisor else outcome.told.get(what, 0) for what in _BOMBS))
    return f"{count:g} tasks" if count > most else ""


def heap(outcome: Outcome) -> str:
    """Tell of memory beyond the limit, or of an end for memory that the report leaves unexplained."""
    if outcome.verdict == "C" and not outcome.report.out_of_memory:
        return "an end that its report does not explain"
    taken: int = outcome.told["mebibytes"]
    return f"{taken} MiB" if taken > _LIMITS.memory_mib else ""


def tmp(outcome: Outcome) -> str:
    """Tell of bytes or files beyond the limits of /tmp."""
    written, files = outcome.told["mebibytes"], outcome.told["files"]
    if written > _LIMITS.tmp_mib:
        return f"{written} MiB in /tmp"
    # gVisor does not count files.
    return f"{files} files in /tmp" if files > 1024 and not outcome.gvisor else ""


def listed(name: str) -> Callable[[Outcome], str]:
    """Return what names the things in a list that the bot told."""
    return lambda outcome: ", ".join(map(str, outcome.told[name]))


def written(outcome: Outcome) -> str:
    """Name what was written to beside /tmp."""
    # This one is gVisor's own, and nothing outside of it heeds it.
    emulated = {"/proc/self/oom_score_adj"} if outcome.gvisor else set()
    return ", ".join(path for path in outcome.told["written"] if path not in emulated)


def calls(outcome: Outcome) -> str:
    """Name the calls that the kernel granted."""
    return ", ".join(name for name in outcome.told["done"] if not (outcome.gvisor and name in _EMULATED))


def disk(outcome: Outcome) -> str:
    """Tell of disk beyond the limit of the log, or of a report that keeps too much of it.

    Raises ValueError if too little was printed to show anything.
    """
    printed = outcome.told["mebibytes"]
    if printed < 2 * _LOG_MIB:
        raise ValueError(f"it printed no more than {printed} MiB")
    if len(outcome.report.stderr) > 64 * 1024:
        return "more of its stderr kept than 64 KiB"
    used = outcome.peak.disk / 1024 / 1024
    return f"{used:.1f} MiB of disk" if used > _LOG_MIB else ""


def counted(name: str) -> Callable[[Outcome], str]:
    """Return what tells how many the bot got, where it got any."""

    def tell(outcome: Outcome) -> str:
        count: int = outcome.told[name]
        return f"{count} {name}" if count else ""

    return tell


def terminals(outcome: Outcome) -> str:
    """Tell how many of the host's terminals the bot got."""
    # gVisor's are its own.
    count = 0 if outcome.gvisor else outcome.told["terminals"]
    return f"{count} terminals" if count else ""


def timers(outcome: Outcome) -> str:
    """Tell how many timers the bot got in the host's table."""
    # gVisor's are its own.
    count = 0 if outcome.gvisor else outcome.told["timers"]
    return f"{count} timers" if count else ""


def counters(outcome: Outcome) -> str:
    """Name the counters of the host that the bot read."""
    emulated = _CONSTANT if outcome.gvisor else set()
    return ", ".join(path for path in outcome.told["counters"] if path not in emulated)


def whispers(outcome: Outcome) -> str:
    """Tell how many bits arrived, where more of them are right than by chance.

    Raises ValueError if the accomplice said nothing.
    """
    heard, said = outcome.told["heard"], outcome.accomplice_told.get("said")
    if not said:
        raise ValueError("nobody said anything")
    right = sum(one == other for one, other in zip(heard, said, strict=True))
    return f"{right} of {len(said)} bits" if right >= _RIGHT * len(said) else ""


def unpunished(what: str) -> Callable[[Outcome], str]:
    """Return what says that the bot did it without a fault."""
    return lambda outcome: "" if outcome.faults else f"{what} without a fault"


def survivors(outcome: Outcome) -> str:
    """Name the daemons that are still there.

    Raises ValueError if there never were any.
    """
    if outcome.told["daemons"] < 1:
        raise ValueError("it left no daemons")
    return ", ".join(
        what
        for what in outcome.left
        if "hostile-daemon" in what or (outcome.gvisor and what.startswith("process"))
    )


def network(outcome: Outcome) -> str:
    """Name sockets of strange families, interfaces, and who answered."""
    told = outcome.told
    # gVisor has a network of its own, which leads nowhere.
    made = [] if outcome.gvisor else told["made"]
    return ", ".join([*made, *told["answered"], *(set(told["interfaces"]) - {"lo"})])


def cores(outcome: Outcome) -> str:
    """Tell of processor time beyond the share.

    How much that is depends on what else the machine does; that nothing held it back does not. Where other
    programs leave it less than its share, the kernel has no reason to hold it back: then the share counts.
    """
    if outcome.peak.cores > BOUNDS.cores:
        return f"{outcome.peak.cores:.2f} cores"
    share, throttled = outcome.quota
    held = throttled or outcome.peak.cores < share <= _LIMITS.cpus
    return "" if held else "all the processor time that there was"


_DEVICES: Final = "/dev(/pts|/mqueue|/null)?"
_MASKS: Final = "|".join(map(re.escape, MASKED))
_PROC: Final = "/proc(/(bus|fs|irq|sys))?"
_SYS: Final = r"/sys(/fs/cgroup(/[\w,]+)?)?"
_MOUNTS: Final = "/|/tmp|/run/arena|/run/arena-init/kaiten-init|/etc/hostname"

_FOLDER: Final = r"(/[\w.-]+)+"
_FOLDERS: Final = (
    "/|/null|/bus|/fs|/irq|/sys",
    # The socket's: a random name for each match, and the seat, which the protocol tells a bot too.
    rf"{_FOLDER}/\w{{8}}/\d",
    rf"{_FOLDER}/volumes/kaiten-init-[0-9a-f]{{12}}/_data/kaiten-init",
    # The container's number is random.
    rf"{_FOLDER}/containers/[0-9a-f]{{64}}/hostname",
)
# The engine's own storage, or containerd's, whose numbers count the host's containers.
_LAYER: Final = rf"{_FOLDER}/(overlay2/l/[A-Z0-9]{{26}}|snapshots/\d+/fs)"
_WRITTEN: Final = rf"{_FOLDER}/(overlay2/[0-9a-f]{{64}}/(diff|work)|snapshots/\d+/(fs|work))"
_FILE_SYSTEMS: Final = (
    r"(tmpfs|proc|sysfs|mqueue|devpts|cgroup2?) \S+ r[ow]\S*",
    # The disk of the engine's folders and of the socket's.
    r"\w+ /dev/[\w/-]+ r[ow]\S*",
    rf"overlay overlay rw,lowerdir={_LAYER}(:{_LAYER})*,upperdir={_WRITTEN},workdir={_WRITTEN}\S*",
)

_OF_THE_KERNEL: Final = ("kernel", "system", "mounted_folders", "mounted")

_ALLOWED: Final[Mapping[str, str]] = {
    "environment": r"ARENA_REFEREE|HOME|HOSTNAME|PATH|LANG|GPG_KEY|PYTHON\w+|OPENBLAS_NUM_THREADS",
    "other_environments": r"(?!)",
    "processes": r"/run/arena-init/kaiten-init|python3",
    "mounts": rf"{_MOUNTS}|{_DEVICES}|{_PROC}|{_SYS}|{_MASKS}",
    "mounted_folders": "|".join(_FOLDERS),
    "mounted": "|".join(_FILE_SYSTEMS),
    "groups": r"/",
    "host": r"bot",
    "interfaces": r"lo",
    "sockets": r"(?!)",
    "descriptors": r"/dev/null|pipe|host",
    "kernel": "cgroups",
    "system": r"fs/cgroup",
}
"""What a bot may see of the machine: patterns for each kind of fact that ``probing.harvest`` tells.

The rule for /proc and /sys: what is the process's own, what the processor can do, and the container's own
limits. A sandbox with a kernel of its own may show more of both, since that is nobody else's.
"""


def beyond_allowed(outcome: Outcome) -> str:
    """Name what was seen beyond that."""
    told = outcome.told
    return ", ".join(
        f"{what}: {seen}"
        for what, pattern in _ALLOWED.items()
        for seen in told[what]
        if not (outcome.gvisor and what in _OF_THE_KERNEL)
        if not re.fullmatch(pattern, seen)
    )
