"""The probe's attempts on the kernel: rights, calls, limits of a process, ways out."""

import ctypes
import os
import resource
import socket
from pathlib import Path
from typing import Any, Final

from .attempts import LIBC, TMP, answer_of, attempt, in_child
from .files import empty_tmp

_UNROUTED: Final = ("192.0.2.1", 9)  # RFC 5737: nobody's address; connecting a datagram socket sends nothing
_PR_GET_NO_NEW_PRIVS: Final = 39

_NUMBERS: Final = {
    "x86_64": {
        "ptrace": 101,
        "mount": 165,
        "unshare": 272,
        "setns": 308,
        "add_key": 248,
        "keyctl": 250,
        "bpf": 321,
        "userfaultfd": 323,
        "perf_event_open": 298,
        "io_uring_setup": 425,
        "shmget": 29,
    },
    "aarch64": {
        "ptrace": 117,
        "mount": 40,
        "unshare": 97,
        "setns": 268,
        "add_key": 217,
        "keyctl": 219,
        "bpf": 280,
        "userfaultfd": 282,
        "perf_event_open": 241,
        "io_uring_setup": 425,
        "shmget": 194,
    },
}
_ARGUMENTS: Final = {"unshare": 0x1000_0000}  # a user namespace; all others: zeros
_FAMILIES: Final = {
    "AF_INET": 2,
    "AF_INET6": 10,
    "AF_NETLINK": 16,
    "AF_PACKET": 17,
    "AF_ALG": 38,
    "AF_VSOCK": 40,
}
_KINDS: Final = (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET)


def network(_: dict[str, int]) -> dict[str, Any]:
    """Look for interfaces and for a way out."""
    lines = Path("/proc/net/dev").read_text().splitlines()[2:]
    return {"interfaces": [line.partition(":")[0].strip() for line in lines], "route": attempt(_go_out)}


def _go_out() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.connect(_UNROUTED)


def rights(_: dict[str, int]) -> dict[str, Any]:
    """Look at user, groups, capabilities and the way to more of them."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    names = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
    return {
        "ids": [*os.getresuid(), *os.getresgid()],
        "groups": os.getgroups(),
        "capabilities": {name: int(status[name], 16) for name in names if name in status},
        "no_new_privileges": LIBC.prctl(_PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
    }


def calls(_: dict[str, int]) -> dict[str, Any]:
    """Make calls that no bot needs, in a child: one that succeeds must not change this process."""
    return {"kernel": os.uname().release, "calls": in_child(_all_calls)}


def _all_calls() -> dict[str, str]:
    numbers = _NUMBERS[os.uname().machine]
    answers = {name: _call(number, _ARGUMENTS.get(name, 0)) for name, number in numbers.items()}
    return answers | {name: _open_socket(family) for name, family in _FAMILIES.items()}


def _call(number: int, first: int) -> str:
    return answer_of(LIBC.syscall(*map(ctypes.c_long, (number, first, 0, 0, 0, 0, 0))))


def _open_socket(family: int) -> str:
    answers = {attempt(_open_and_close, family, kind) for kind in _KINDS}
    return "done" if "done" in answers else min(answers)


def _open_and_close(family: int, kind: int) -> None:
    socket.socket(family, kind).close()


def limits_of_process(limits: dict[str, int]) -> dict[str, Any]:
    """Open files, write beyond the largest file, dump core: with every soft limit at its hard one."""
    for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        most = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (most, most))
    with Path(TMP, "long").open("wb") as file:
        beyond = attempt(os.ftruncate, file.fileno(), limits["file_bytes"] + 1)
    empty_tmp()
    return {
        "file_beyond": beyond,
        "open_files": in_child(lambda: _open_many(2 * limits["open_files"])),
        "core_limit": resource.getrlimit(resource.RLIMIT_CORE)[1],
        "core_dumped": _core_dumped(),
    }


def _open_many(most: int) -> int:
    """Return how many files can be open, those that a process begins with included."""
    highest = 0
    while highest < most and attempt(os.open, "/dev/null", os.O_RDONLY) == "done":
        highest += 1
    return highest + 3


def _core_dumped() -> bool:
    """Crash a child where it can write, and tell whether the kernel dumped it."""
    child = os.fork()
    if child == 0:
        os.chdir(TMP)
        os.abort()
    dumped = os.WCOREDUMP(os.waitpid(child, 0)[1])
    empty_tmp()
    return dumped


def surroundings(_: dict[str, int]) -> dict[str, Any]:
    """Look at the environment, and at the limits that control groups show: of v1, of v2, or none."""
    top = Path("/sys/fs/cgroup")
    return {
        "environment": dict(os.environ),
        "v1_memory": _number(top / "memory" / "memory.limit_in_bytes"),
        "v1_memory_and_swap": _number(top / "memory" / "memory.memsw.limit_in_bytes"),
        "v2_swap": _number(top / "memory.swap.max"),
        "quota": _quota(top),
    }


def _quota(top: Path) -> float | None:
    """Return the share of the processor that the control groups allow, in cores; -1 for no limit."""
    v1 = [_number(top / "cpu" / f"cpu.cfs_{name}_us") for name in ("quota", "period")]
    if v1[0] is not None and v1[1] is not None:
        return v1[0] / v1[1] if v1[0] > 0 else -1
    try:
        quota, period = (top / "cpu.max").read_text().split()
    except OSError:
        return None
    return -1 if quota == "max" else int(quota) / int(period)


def _number(path: Path) -> int | None:
    """Return what a control group's file says; -1 for no limit, None where there is no such file."""
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return -1 if text == "max" else int(text)
