"""The probe's attacks on the kernel: rights, calls and their arguments, process limits, and the network."""

import ctypes
import fcntl
import mmap
import os
import resource
import signal
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from .files import LIBC, TMP, answer_of, attempt, empty_tmp, in_child

_UNROUTED: Final = ("192.0.2.1", 9)  # reserved (RFC 5737); connecting a datagram socket sends nothing
_PR_GET_NO_NEW_PRIVS: Final = 39

_ARM: Final = os.uname().machine == "aarch64"
_NUMBERS: Final = {
    # Names, and their numbers on x86-64 and on 64-bit ARM.
    "ptrace": (101, 117),
    "mount": (165, 40),
    "unshare": (272, 97),
    "setns": (308, 268),
    "add_key": (248, 217),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "io_uring_setup": (425, 425),
    "shmget": (29, 194),
}
_ARGUMENTS: Final = {"unshare": 0x1000_0000}  # creates a user namespace; all other arguments are zero
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
    """List the network interfaces, and try to reach an address outside."""
    return {"interfaces": _interfaces(), "route": attempt(_connect_outside)}


def _interfaces() -> list[str]:
    try:
        lines = Path("/proc/net/dev").read_text().splitlines()[2:]
    except PermissionError:
        # Files in /proc/net are unreadable, but its folders can be listed: this one has a file per interface.
        return [path.name for path in Path("/proc/net/dev_snmp6").glob("*")]
    return [line.partition(":")[0].strip() for line in lines]


def _connect_outside() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.connect(_UNROUTED)


def rights(_: dict[str, int]) -> dict[str, Any]:
    """Read the user, the groups, the capabilities, and whether new privileges can be gained."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    names = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
    return {
        "ids": [*os.getresuid(), *os.getresgid()],
        "groups": os.getgroups(),
        "capabilities": {name: int(status[name], 16) for name in names if name in status},
        "no_new_privileges": LIBC.prctl(_PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
    }


def calls(_: dict[str, int]) -> dict[str, Any]:
    """Make calls that no bot needs, in a child process, so that successful ones don't affect this process."""
    return {"kernel": os.uname().release, "calls": in_child(_all_calls)}


def _all_calls() -> dict[str, str]:
    answers = {name: _call(numbers[_ARM], _ARGUMENTS.get(name, 0)) for name, numbers in _NUMBERS.items()}
    return answers | {name: _open_socket(family) for name, family in _FAMILIES.items()}


def _call(number: int, *arguments: int) -> str:
    words = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    return answer_of(LIBC.syscall(ctypes.c_long(number), *map(ctypes.c_long, words)))


def _open_socket(family: int) -> str:
    answers = {attempt(_open_and_close, family, kind) for kind in _KINDS}
    return "done" if "done" in answers else min(answers)


def _open_and_close(family: int, kind: int) -> None:
    socket.socket(family, kind).close()


def limits_of_process(limits: dict[str, int]) -> dict[str, Any]:
    """Change the process's limits as far as possible, and open files, exceed the file size, and dump core."""
    for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE):
        maximum = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (maximum, maximum))
    LIBC.setrlimit(resource.RLIMIT_CORE, bytes(_RLIMIT_BYTES))  # Python raises ValueError if refused
    with Path(TMP, "long").open("wb") as file:
        beyond = attempt(os.ftruncate, file.fileno(), limits["file_bytes"] + 1)
    empty_tmp()
    return {
        "file_beyond": beyond,
        "open_files": in_child(lambda: _open_many(2 * limits["open_files"])),
        "core_limits": resource.getrlimit(resource.RLIMIT_CORE),
        "core_dumped": _core_dumped(),
    }


def _open_many(maximum: int) -> int:
    """Return the maximum number of open files, including those that a process starts with."""
    highest = 0
    while highest < maximum and attempt(os.open, "/dev/null", os.O_RDONLY) == "done":
        highest += 1
    return highest + 3


def _core_dumped() -> bool:
    """Crash a child in a writable folder; return whether the kernel wrote a core dump."""
    child = os.fork()
    if child == 0:
        os.chdir(TMP)
        os.abort()
    dumped = os.WCOREDUMP(os.waitpid(child, 0)[1])
    empty_tmp()
    return dumped


def surroundings(_: dict[str, int]) -> dict[str, Any]:
    """Read the environment, and the limits in control groups v1 or v2, if any."""
    top = Path("/sys/fs/cgroup")
    return {
        "environment": dict(os.environ),
        "v1_memory": _number(top / "memory" / "memory.limit_in_bytes"),
        "v1_memory_and_swap": _number(top / "memory" / "memory.memsw.limit_in_bytes"),
        "v2_swap": _number(top / "memory.swap.max"),
        "quota": _quota(top),
    }


def _quota(top: Path) -> float | None:
    """Return the processor limit of the control groups, in cores; -1 for no limit, None if unknown."""
    v1 = [_number(top / "cpu" / f"cpu.cfs_{name}_us") for name in ("quota", "period")]
    if v1[0] is not None and v1[1] is not None:
        return v1[0] / v1[1] if v1[0] > 0 else -1
    try:
        quota, period = (top / "cpu.max").read_text().split()
    except OSError:
        return None
    return -1 if quota == "max" else int(quota) / int(period)


def _number(path: Path) -> int | None:
    """Return the value in a control group's file; -1 for no limit, None if the file doesn't exist."""
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return -1 if text == "max" else int(text)


_FUTEX: Final = 98 if _ARM else 202
_FUTEX_WAKE: Final = 1
_FUTEX2_WAKE: Final = 454
_FUTEX2_U32: Final = 2
_RWF_NOWAIT: Final = 8
_SO_ATTACH_FILTER: Final = 26
_SO_COOKIE: Final = 57
_BPF_RETURN: Final = struct.pack("HBBI", 0x06, 0, 0, 0)
_RLIMIT_BYTES: Final = 16
_STATFS_BYTES: Final = 256
_TIMER_CREATE: Final = 107 if _ARM else 222
_CLOCK_MONOTONIC: Final = 1
_LANDLOCK_CREATE_RULESET: Final = 444
_LANDLOCK_ASK_VERSION: Final = 1
_CLONE: Final = 220 if _ARM else 56
_CLONE_PIDFD: Final = 0x1000
_FDATASYNC: Final = 83 if _ARM else 75
_FSYNC: Final = 82 if _ARM else 74
_MMAP: Final = 222 if _ARM else 9
_MEMBARRIER: Final = 283 if _ARM else 324
_MEMBARRIER_GLOBAL: Final = 1
_SYSINFO_BYTES: Final = 128
_MAP_HUGETLB: Final = 0x4_0000
_MAP_DROPPABLE: Final = 8
_PRIVATE: Final = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
_SENDFILE: Final = 71 if _ARM else 40
_SPLICE: Final = 76 if _ARM else 275
_TEE: Final = 77 if _ARM else 276
_TIMERFD_SETTIME: Final = 86 if _ARM else 286
_ITIMERSPEC_BYTES: Final = 32
_SIGNAL_SET_BYTES: Final = 128
_PR_GET_KEEPCAPS: Final = 7
_PR_SET_TIMERSLACK: Final = 29
_PR_SET_THP_DISABLE: Final = 41
_FIOASYNC: Final = 0x5452
_LOCK: Final = struct.pack("hhxxxxqqixxxx", fcntl.F_WRLCK, os.SEEK_SET, 0, 1, 0)

_CACHE_CALLS: Final = {
    # Names and numbers, as above.
    "mincore": (27, 232),
    "cachestat": (451, 451),
    "preadv2": (327, 286),
    "fadvise64": (221, 223),
    "readahead": (187, 213),
    "sync_file_range": (277, 84),
    "madvise": (28, 233),
    "mlock": (149, 228),
    "process_madvise": (440, 440),
}
_MADV_PAGEOUT: Final = 21
_FADV_DONTNEED: Final = 4


def _path_of_library() -> str:
    """Return the path of a file that all bots share. Only a container's first process may look it up."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return next(line.split()[5] for line in lines if "/libc.so" in line)


@contextmanager
def _library() -> Iterator[tuple[int, int, int]]:
    """Yield a file that all bots share: its descriptor, mapped address and length."""
    size = mmap.PAGESIZE
    file = os.open(_path_of_library(), os.O_RDONLY)
    LIBC.mmap.restype = ctypes.c_void_p
    shared = (mmap.PROT_READ, mmap.MAP_SHARED, file, ctypes.c_long(0))
    start = int(LIBC.mmap(None, ctypes.c_size_t(size), *shared))
    try:
        yield file, start, size
    finally:
        LIBC.munmap(ctypes.c_void_p(start), ctypes.c_size_t(size))
        os.close(file)


def futexes(_: dict[str, int]) -> dict[str, Any]:
    """Try to wake the waiters on a word in a shared file. They could be bots in other containers."""
    with _library() as (_file, start, _size):
        return {
            "futexes": {
                "futex": _call(_FUTEX, start, _FUTEX_WAKE, 1),
                "futex_wake": _call(_FUTEX2_WAKE, start, 1, 1, _FUTEX2_U32),
            }
        }


def page_cache(_: dict[str, int]) -> dict[str, Any]:
    """Try to query and change the cached pages of a shared file, and to lock one in memory."""
    buffer = ctypes.create_string_buffer(4096)
    into = ctypes.addressof(buffer)
    with _library() as (file, start, size):
        vector = (ctypes.c_size_t * 2)(into, 1)
        calls: dict[str, tuple[int, ...]] = {
            "mincore": (start, size, into),
            "cachestat": (file, ctypes.addressof((ctypes.c_ulong * 2)(0, 0)), into, 0),
            "preadv2": (file, ctypes.addressof(vector), 1, 0, 0, _RWF_NOWAIT),
            "fadvise64": (file, 0, 0, _FADV_DONTNEED),
            "readahead": (file, 0, size),
            "sync_file_range": (file, 0, 0, 0),
            "madvise": (start, size, _MADV_PAGEOUT),
            "mlock": (start, size),
        }
        answers = {name: _call(_CACHE_CALLS[name][_ARM], *words) for name, words in calls.items()}
        pages = (ctypes.c_size_t * 2)(start, size)
        words = (-1, ctypes.addressof(pages), 1, _MADV_PAGEOUT, 0)
        answers["process_madvise"] = _without_a_file(_CACHE_CALLS["process_madvise"][_ARM], *words)
        return {"page_cache": answers}


def _map_zero() -> None:
    with Path("/dev/zero").open("r+b", buffering=0) as file:
        mmap.mmap(file.fileno(), mmap.PAGESIZE).close()


def _free() -> None:
    with mmap.mmap(-1, mmap.PAGESIZE, flags=_PRIVATE) as pages:
        pages.madvise(mmap.MADV_FREE)


def _send_out_of_band() -> None:
    one, other = socket.socketpair()
    with one, other:
        one.send(b"x", socket.MSG_OOB)


def _set_priority(kind: int, process: int) -> None:
    os.setpriority(kind, process, os.getpriority(kind, 0))


def options(_: dict[str, int]) -> dict[str, Any]:
    """Try rare options of calls that every bot needs."""
    read, write = os.pipe()
    with socket.socket(socket.AF_UNIX) as channel:
        program = ctypes.create_string_buffer(_BPF_RETURN)
        attached = struct.pack("H6xQ", 1, ctypes.addressof(program))
        seen = {
            "setsockopt": attempt(channel.setsockopt, socket.SOL_SOCKET, _SO_ATTACH_FILTER, attached),
            "getsockopt": attempt(channel.getsockopt, socket.SOL_SOCKET, _SO_COOKIE, 8),
            "fcntl": attempt(fcntl.fcntl, write, fcntl.F_SETOWN, os.getpid()),
            "a lock": attempt(fcntl.fcntl, read, fcntl.F_OFD_GETLK, _LOCK),
            "flock": attempt(fcntl.flock, read, fcntl.LOCK_SH),
            "chown": attempt(os.chown, "/tmp", -1, -1),  # noqa: S108 - the container's
            "fchown": attempt(os.fchown, read, -1, -1),
            "ioctl": attempt(fcntl.ioctl, write, _FIOASYNC, struct.pack("i", 1)),
            "prctl": answer_of(LIBC.prctl(_PR_GET_KEEPCAPS, 0, 0, 0, 0)),
            "timer slack": answer_of(LIBC.prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)),
            "huge pages": answer_of(LIBC.prctl(_PR_SET_THP_DISABLE, 1, 0, 0, 0)),
            "socket": attempt(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).close()),
            "mmap": attempt(lambda: mmap.mmap(-1, mmap.PAGESIZE).close()),
            "mmap of /dev/zero": attempt(_map_zero),
            "MADV_FREE": attempt(_free),
            "MSG_OOB": attempt(_send_out_of_band),
            "bind without a name": attempt(channel.bind, ""),
            "SO_PASSCRED": attempt(channel.setsockopt, socket.SOL_SOCKET, socket.SO_PASSCRED, 1),
            "sched_rr_get_interval": attempt(os.sched_rr_get_interval, 0),
            "getpriority by user": attempt(os.getpriority, os.PRIO_USER, 0),
            "setpriority by id": attempt(_set_priority, os.PRIO_PROCESS, os.getpid()),
            "setpriority of a group": attempt(_set_priority, os.PRIO_PGRP, 0),
            "statfs": answer_of(LIBC.statfs(b"/", ctypes.create_string_buffer(_STATFS_BYTES))),
            "fstatfs": answer_of(LIBC.fstatfs(read, ctypes.create_string_buffer(_STATFS_BYTES))),
            "landlock_create_ruleset": _call(_LANDLOCK_CREATE_RULESET, 0, 0, _LANDLOCK_ASK_VERSION),
            "timer_create": _call(_TIMER_CREATE, _CLOCK_MONOTONIC, 0, ctypes.addressof(ctypes.c_int())),
        }
    os.close(read)
    os.close(write)
    library = _path_of_library()
    # In a child process, whose descriptors don't count towards the limit of this process.
    return {"options": seen | in_child(lambda: _host_wide_calls(library))}


def _host_wide_calls(library: str) -> dict[str, str]:
    """Make calls that disclose or disturb what other programs on the host are doing."""
    flags = mmap.MAP_PRIVATE | _MAP_HUGETLB
    never = ctypes.create_string_buffer(_ITIMERSPEC_BYTES)
    return {
        "sysinfo": answer_of(LIBC.sysinfo(ctypes.create_string_buffer(_SYSINFO_BYTES))),
        "memfd_create": attempt(os.memfd_create, "kaiten"),
        "pidfd_open": attempt(os.pidfd_open, os.getpid()),
        "inotify_init": answer_of(LIBC.inotify_init1(0)),
        "clone with CLONE_PIDFD": _clone_with_a_descriptor(),
        "membarrier": _call(_MEMBARRIER, _MEMBARRIER_GLOBAL),
        "sched_setaffinity": attempt(os.sched_setaffinity, 0, os.sched_getaffinity(0)),
        "O_DIRECT": attempt(os.open, library, os.O_RDONLY | os.O_DIRECT),
        "MAP_HUGETLB": _without_a_file(_MMAP, 0, mmap.PAGESIZE, mmap.PROT_READ, flags, -1, 0),
        "MAP_DROPPABLE": _without_a_file(_MMAP, 0, mmap.PAGESIZE, mmap.PROT_READ, _MAP_DROPPABLE, -1, 0),
        "signalfd": answer_of(LIBC.signalfd(-1, ctypes.create_string_buffer(_SIGNAL_SET_BYTES), 0)),
        "timerfd_settime": _without_a_file(_TIMERFD_SETTIME, -1, 0, ctypes.addressof(never), 0),
        "sendfile": _without_a_file(_SENDFILE, -1, -1, 0, 1),
        "splice": _without_a_file(_SPLICE, -1, 0, -1, 0, 1, 0),
        "tee": _without_a_file(_TEE, -1, -1, 1, 0),
        "fsync": _without_a_file(_FSYNC, -1),
        "fdatasync": _without_a_file(_FDATASYNC, -1),
    }


def _without_a_file(number: int, *arguments: int) -> str:
    """Make a call with a file descriptor that doesn't exist. Only the kernel notices that.

    With a valid descriptor, the filter and the kernel might give the same answer: the filter may answer with
    success, and the kernel may lack huge pages.
    """
    answer = _call(number, *arguments)
    return "done" if answer == "EBADF" else f"answered with {answer}"


def _clone_with_a_descriptor() -> str:
    words = (signal.SIGCHLD | _CLONE_PIDFD, 0, ctypes.addressof(ctypes.c_int()), 0, 0)
    child = LIBC.syscall(ctypes.c_long(_CLONE), *map(ctypes.c_long, words))
    if child == 0:
        os._exit(0)
    return answer_of(child)
