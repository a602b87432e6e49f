"""Functions that describe what attacks on the system got that they mustn't get, or return an empty string."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

from arena.protocol.match import Limits
from arena.sandbox.docker.policy import MASKED
from tests.sandbox.hostile.attack import Outcome
from tests.sandbox.hostile.judge import BOUNDS

_LIMITS: Final = Limits()
_LOG_MIB: Final = 4
_GVISOR_TASKS: Final = 256
_RIGHT: Final = 0.9
"""Random guesses of 32 bits get this share right about once in a million times."""

_BOMBS: Final = ("processes", "threads")
EMULATED_CALLS: Final = {
    "ptrace: be traced",
    "unshare: users",
    "unshare: users and mounts",
    "clone: users",
    "io_uring_setup",
    "syslog: the kernel's messages",
    "get_mempolicy",
    "set_mempolicy",
    "madvise: merge equal pages",
    "fcntl: size of a pipe",
    "splice",
    "sendfile",
    "tee",
    "MSG_OOB",
    "setrlimit: core dumps",
    "AF_NETLINK",
}
"""Calls that gVisor's own kernel grants, which affect nothing outside it."""

EMULATED_COUNTERS: Final = {"/proc/cpuinfo", "/proc/loadavg", "/proc/meminfo", "/proc/stat", "/proc/uptime"}
"""Files that gVisor fills with zeros, its own memory and its own uptime. It ignores masks of files."""

EMULATED_FILES: Final = {"/proc/self/oom_score_adj"}
"""Files outside /tmp that a bot can write to under gVisor. They are gVisor's, and don't affect the host."""


def tasks(outcome: Outcome) -> str:
    """Return the number of processes and threads if it exceeds the limit."""
    # The host counts gVisor's own threads instead of the bot's; the template allows for them.
    most = _GVISOR_TASKS if outcome.gvisor else _LIMITS.pids
    count = max(outcome.peak.tasks, *(0 if outcome.gvisor else outcome.told.get(what, 0) for what in _BOMBS))
    return f"{count:g} tasks" if count > most else ""


def heap(outcome: Outcome) -> str:
    """Report memory beyond the limit, or a crash that the seat's report doesn't attribute to memory."""
    if outcome.verdict == "C" and not outcome.report.out_of_memory:
        return "a crash that its report does not attribute to memory"
    taken: int = outcome.told["mebibytes"]
    return f"{taken} MiB" if taken > _LIMITS.memory_mib else ""


def tmp(outcome: Outcome) -> str:
    """Report bytes or files beyond the limits of /tmp."""
    written, files = outcome.told["mebibytes"], outcome.told["files"]
    if written > _LIMITS.tmp_mib:
        return f"{written} MiB in /tmp"
    # gVisor does not count files.
    return f"{files} files in /tmp" if files > 1024 and not outcome.gvisor else ""


def listed(name: str, *, emulated: Collection[str] = ()) -> Callable[[Outcome], str]:
    """Return a function that names the items in a list that the bot reported.

    Under gVisor, it leaves out those that are ``emulated``.
    """

    def tell(outcome: Outcome) -> str:
        own = emulated if outcome.gvisor else ()
        return ", ".join(str(item) for item in outcome.told[name] if item not in own)

    return tell


def disk(outcome: Outcome) -> str:
    """Report disk use beyond the log's limit, or a seat's report with too much stderr.

    Raises ValueError if the bot printed too little to show anything.
    """
    printed = outcome.told["mebibytes"]
    if printed < 2 * _LOG_MIB:
        raise ValueError(f"it printed only {printed} MiB")
    if len(outcome.report.stderr) > 64 * 1024:
        return "more than 64 KiB of its stderr stored"
    used = outcome.peak.disk / 1024 / 1024
    return f"{used:.1f} MiB of disk" if used > _LOG_MIB else ""


def counted(name: str, *, emulated: bool = False) -> Callable[[Outcome], str]:
    """Return a function that says how many of these the bot got, if any.

    If they are ``emulated``, gVisor has its own, which don't count.
    """

    def tell(outcome: Outcome) -> str:
        count: int = 0 if emulated and outcome.gvisor else outcome.told[name]
        return f"{count} {name}" if count else ""

    return tell


def whispers(outcome: Outcome) -> str:
    """Say how many bits arrived, if more of them are right than chance explains.

    Raises ValueError if the accomplice sent nothing.
    """
    return _arrived(outcome.told["heard"], _said(outcome))


def whispers_by_way(outcome: Outcome) -> str:
    """For each way of sending the bits, say how many arrived, if more are right than chance explains."""
    heard, said = outcome.told["heard"], _said(outcome)
    return ", ".join(f"{way}: {got}" for way, bits in heard.items() if (got := _arrived(bits, said)))


def _said(outcome: Outcome) -> Sequence[int]:
    said: Sequence[int] | None = outcome.accomplice_told.get("said")
    if not said:
        raise ValueError("the accomplice sent nothing")
    return said


def _arrived(heard: Sequence[int], said: Sequence[int]) -> str:
    right = sum(one == other for one, other in zip(heard, said, strict=True))
    return f"{right} of {len(said)} bits" if right >= _RIGHT * len(said) else ""


def recognised(outcome: Outcome) -> str:
    """Name what tells the bot which host it is on, what it shares with its accomplice, and what changed.

    Raises ValueError if the accomplice reported nothing.
    """
    first, later, its = outcome.told["first"], outcome.told["later"], outcome.accomplice_told.get("first")
    if its is None:
        raise ValueError("the accomplice reported nothing")
    found = [f"{name} changed" for name in first if later[name] != first[name]]
    found += [f"the host's {name} id" for name, path in _HOST_IDS.items() if _is(first[name], path)]
    found += [f"the same {name}" for name in ("user", "container") if first[name] == its[name] != []]
    found += [f"another {name}" for name, value in _SAME.items() if {first[name], its[name]} != {value}]
    # gVisor numbers each bot's mounts itself.
    if not outcome.gvisor and {*first["mounts"]} & {*its["mounts"]}:
        found.append("the same mounts")
    if first["options"] != its["options"]:
        found.append("other options of mounts")
    return ", ".join(found)


_HOST_IDS: Final = {"machine": Path("/etc/machine-id"), "boot": Path("/proc/sys/kernel/random/boot_id")}
_SAME: Final = {"host": "bot", "parent": 1}


def _is(lines: Sequence[str], path: Path) -> bool:
    return bool(lines) and path.exists() and path.read_text().splitlines() == lines


def unpunished(what: str) -> Callable[[Outcome], str]:
    """Return a function that says if the bot did this without a fault."""
    return lambda outcome: "" if outcome.faults else f"{what} without a fault"


def survivors(outcome: Outcome) -> str:
    """Name the daemons that are still running.

    Raises ValueError if the bot started none.
    """
    if outcome.told["daemons"] < 1:
        raise ValueError("it started no daemons")
    return ", ".join(
        what
        for what in outcome.left
        if "hostile-daemon" in what or (outcome.gvisor and what.startswith("process"))
    )


def network(outcome: Outcome) -> str:
    """Name the other socket families, the interfaces, and the addresses that responded."""
    told = outcome.told
    # gVisor has its own network, which leads nowhere.
    made = [] if outcome.gvisor else told["made"]
    return ", ".join([*made, *told["answered"], *(set(told["interfaces"]) - {"lo"})])


def cores(outcome: Outcome) -> str:
    """Report processor time beyond the share, or a share that the kernel doesn't enforce.

    How much time a bot without a limit gets depends on the host's other work, so throttling is checked too.
    If other programs leave the bot less than its share, the kernel has no reason to throttle it; then only
    the share is checked.
    """
    if outcome.peak.cores > BOUNDS.cores:
        return f"{outcome.peak.cores:.2f} cores"
    share, throttled = outcome.quota
    limited = throttled or outcome.peak.cores < share <= _LIMITS.cpus
    return "" if limited else "processor time without a limit"


_DEVICES: Final = "/dev(/pts|/mqueue|/null)?"
_MASKS: Final = "|".join(map(re.escape, MASKED))
_PROC: Final = "/proc(/(bus|fs|irq|sys))?"
_SYS: Final = r"/sys(/fs/cgroup(/[\w,]+)?)?"
_MOUNTS: Final = "/|/tmp|/run/arena|/run/arena-init/kaiten-init|/etc/hostname"

_FOLDER: Final = r"(/[\w.-]+)+"
_FOLDERS: Final = (
    "/|/null|/bus|/fs|/irq|/sys",
    # The socket's folder: a random name for each match, and the seat, which the protocol also tells the bot.
    rf"{_FOLDER}/\w{{8}}/\d",
    rf"{_FOLDER}/volumes/kaiten-init-[0-9a-f]{{12}}/_data/kaiten-init",
    # The container's id is random.
    rf"{_FOLDER}/containers/[0-9a-f]{{64}}/hostname",
)
# The engine's own storage, or containerd's, whose numbers count the host's containers.
_LAYER: Final = rf"{_FOLDER}/(overlay2/l/[A-Z0-9]{{26}}|snapshots/\d+/fs)"
_WRITTEN: Final = rf"{_FOLDER}/(overlay2/[0-9a-f]{{64}}/(diff|work)|snapshots/\d+/(fs|work))"
_FILE_SYSTEMS: Final = (
    r"(tmpfs|proc|sysfs|mqueue|devpts|cgroup2?) \S+ r[ow]\S*",
    # The disk with the engine's folders and the socket's.
    r"\w+ /dev/[\w/-]+ r[ow]\S*",
    rf"overlay overlay rw,lowerdir={_LAYER}(:{_LAYER})*,upperdir={_WRITTEN},workdir={_WRITTEN}\S*",
)

_OF_THE_KERNEL: Final = ("kernel", "system", "mounted_folders", "mounted")

_ALLOWED: Final[Mapping[str, str]] = {
    "environment": r"ARENA_REFEREE|HOME|HOSTNAME|PATH|LANG|GPG_KEY|PYTHON\w+|OPENBLAS_NUM_THREADS",
    # The init has the same environment as the bot. Only under gVisor can a bot read it.
    "other_environments": r"/run/arena-init/kaiten-init",
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
"""What a bot may see of the host: a pattern for each kind of fact that ``probing.harvest`` reports.

In /proc and /sys, a bot may see its own process, the processor's features and its container's limits. A
sandbox with its own kernel may show more there, since nothing else uses that kernel.
"""


def beyond_allowed(outcome: Outcome) -> str:
    """Name what the bot saw beyond what it may see."""
    told = outcome.told
    return ", ".join(
        f"{what}: {seen}"
        for what, pattern in _ALLOWED.items()
        for seen in told[what]
        if not (outcome.gvisor and what in _OF_THE_KERNEL)
        if not re.fullmatch(pattern, seen)
    )
