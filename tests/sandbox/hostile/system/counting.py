"""Bots that read what the kernel counts across all containers. Run in a bot's container."""

import ctypes
import mmap
import os
import platform
import secrets
import signal
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from tests.sandbox.hostile.bot import play, tell

_BITS: Final = 32
_SECONDS: Final = 2.5
"""Duration of a message. Both seats get their request at the same time."""

_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_ARM: Final = platform.machine() == "aarch64"
_ENTRY_BYTES: Final = 8
_NOT_SHARED: Final = 1 << 56
"""Bit of an entry of pagemap: no other process has mapped the page."""

_FIRST_PAGE: Final = 16
_AT_A_TIME: Final = 1024
"""Inode numbers of shared memory that a core takes from the host's counter at a time."""

_FAR: Final = 3 * _AT_A_TIME
"""More numbers than the listener itself takes in a slot."""

_SLOT_SECONDS: Final = 0.2
_SLOTS_HEARD: Final = 36
_SLOTS_SAID: Final = 42
"""More than one pass over all bits. Each bit's last value counts, so the sender may start four slots late."""

_SO_COOKIE: Final = 57
_NO_USER: Final = 2_000_000_000
_NEAR: Final = 4
_SEARCHES: Final = 200
_WALK_RATIO: Final = 2
_CLONE: Final = 220 if _ARM else 56
_CLONE_PIDFD: Final = 0x1000


def hear_by_pages() -> None:
    """Check for each bit whether another container has mapped its page. If it ever has, the bit is 1."""
    play(_hear)


def say_by_pages() -> None:
    """Map the pages of the bits that are 1."""
    play(_say)


def _shared_file() -> Path:
    """Return a file in a common layer that no other program maps."""
    found = max(Path("/usr/lib").rglob("*.py"), key=lambda path: (path.stat().st_size, str(path)))
    if found.stat().st_size < (_FIRST_PAGE + _BITS) * mmap.PAGESIZE:
        raise ValueError(f"{found} is too short")
    return found


def _map(file: int, page: int) -> int:
    """Map a page, read it so that it is in memory, and return its address."""
    _LIBC.mmap.restype = ctypes.c_void_p
    start = int(
        _LIBC.mmap(
            None,
            ctypes.c_size_t(mmap.PAGESIZE),
            mmap.PROT_READ,
            mmap.MAP_SHARED,
            file,
            ctypes.c_long(page * mmap.PAGESIZE),
        )
    )
    ctypes.string_at(start, 1)
    return start


def _hear() -> None:
    file, heard = os.open(_shared_file(), os.O_RDONLY), [0] * _BITS
    starts = [_map(file, _FIRST_PAGE + bit) for bit in range(_BITS)]
    until = time.monotonic() + _SECONDS
    try:
        pagemap = os.open("/proc/self/pagemap", os.O_RDONLY)
    except OSError as error:
        tell(heard=heard, refused=str(error))
        return
    while time.monotonic() < until:
        for bit, start in enumerate(starts):
            place = start // mmap.PAGESIZE * _ENTRY_BYTES
            (entry,) = struct.unpack("Q", os.pread(pagemap, _ENTRY_BYTES, place))
            heard[bit] |= not entry & _NOT_SHARED
        time.sleep(0.02)
    tell(heard=heard)


def _say() -> None:
    file, said = os.open(_shared_file(), os.O_RDONLY), [secrets.randbelow(2) for _ in range(_BITS)]
    for bit, one in enumerate(said):
        if one:
            _map(file, _FIRST_PAGE + bit)
    time.sleep(_SECONDS - 0.5)
    tell(said=said)


def hear_by_numbers() -> None:
    """Check in each slot how far the inode numbers of shared memory have advanced. If far, the bit is 1."""
    play(_hear_by_numbers)


def say_by_numbers() -> None:
    """Take many inode numbers in the slots of the bits that are 1."""
    play(_say_by_numbers)


def _slots(count: int, phase: float) -> Iterator[int]:
    """Yield the bits of the next slots, timed by the common clock at this fraction of a slot."""
    first = int(time.monotonic() / _SLOT_SECONDS) + 1
    for slot in range(first, first + count):
        time.sleep(max(0.0, (slot + phase) * _SLOT_SECONDS - time.monotonic()))
        yield slot % _BITS


def _hear_by_numbers() -> None:
    heard = [0] * _BITS
    try:
        before = _newest_number()
        for bit in _slots(_SLOTS_HEARD, 0.75):
            now = max(before, _newest_number())
            heard[bit] = int(now - before > _FAR)
            before = now
    except OSError as error:
        tell(refused=str(error))
    tell(heard=heard)


def _newest_number() -> int:
    """Return the highest inode number, after taking enough that the core gets new ones."""
    highest = 0
    for _ in range(2):
        _take_numbers(_AT_A_TIME * 5 // 8)
        with mmap.mmap(-1, mmap.PAGESIZE):
            lines = Path("/proc/self/maps").read_text().splitlines()
            highest = max(highest, *(int(line.split()[4]) for line in lines if "/dev/zero" in line))
    return highest


def _take_numbers(count: int) -> None:
    for _ in range(count):
        mmap.mmap(-1, mmap.PAGESIZE).close()


def _say_by_numbers() -> None:
    said = [secrets.randbelow(2) for _ in range(_BITS)]
    try:
        for bit in _slots(_SLOTS_SAID, 0.0):
            if said[bit]:
                _take_numbers(_FAR + _AT_A_TIME)
    except OSError as error:
        tell(refused=str(error))
    tell(said=said)


def ask_the_host() -> None:
    """Try each call whose result depends on other activity on the host, or that lets a bot watch it."""
    room = ctypes.create_string_buffer(512)
    room[0] = b"\x01"
    asked = {
        "sysinfo": (179 if _ARM else 99, room),
        "inotify": (26 if _ARM else 294, 0),
        "memfd_create": (279 if _ARM else 319, b"kaiten", 0),
        "pidfd_open": (434, os.getpid(), 0),
        "membarrier of all processes": (283 if _ARM else 324, 1, 0, 0),
        "sched_setaffinity": (122 if _ARM else 203, 0, 128, room),
    }
    counted = [name for name, words in asked.items() if _LIBC.syscall(*words) >= 0]
    tell(counted=counted + ["clone with a descriptor"] * _clone_with_descriptor())
    play()


def ask_the_disk() -> None:
    """Ask how full the host's disk is, which visitors can change, by path and by an open file."""
    room = ctypes.create_string_buffer(256)
    asked: dict[str, Callable[[int], int]] = {
        "statfs": lambda _: int(_LIBC.statfs(b"/", room)),
        "fstatfs": lambda file: int(_LIBC.fstatfs(file, room)),
    }
    file = os.open("/", os.O_RDONLY)
    disk = [name for name, ask in asked.items() if ask(file) == 0]
    os.close(file)
    tell(disk=disk)
    play()


def ask_for_numbers() -> None:
    """Ask for numbers that depend on the whole host on older kernels."""
    with socket.socket(socket.AF_UNIX) as named, socket.socket(socket.AF_UNIX) as passing:
        asked: dict[str, Callable[[], object]] = {
            "a name for a socket": lambda: named.bind(""),
            "a name by SO_PASSCRED": lambda: passing.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1),
            "a socket's cookie": lambda: named.getsockopt(socket.SOL_SOCKET, _SO_COOKIE, 8),
            "a time slice": lambda: os.sched_rr_get_interval(0),
        }
        numbers = []
        for name, ask in asked.items():
            with suppress(OSError):
                ask()
                numbers.append(name)
    tell(numbers=numbers)
    play()


def find_users() -> None:
    """Look for users with processes among the users of the seats near this one.

    If a user exists, the kernel walks over all threads of the host to find its processes.
    """
    users = []
    with suppress(PermissionError):
        never = _walk_seconds(_NO_USER)
        near = (user for user in range(os.getuid() - _NEAR, os.getuid() + _NEAR + 1) if user != os.getuid())
        users = [user for user in near if _walk_seconds(user) > _WALK_RATIO * never]
    tell(users=users)
    play()


def _walk_seconds(user: int) -> float:
    """Return the shortest time of several searches for a user."""
    times = []
    for _ in range(_SEARCHES):
        begin = time.perf_counter()
        with suppress(ProcessLookupError):
            os.getpriority(os.PRIO_USER, user)
        times.append(time.perf_counter() - begin)
    return min(times)


def _clone_with_descriptor() -> bool:
    """Try to start a process with a pidfd, whose inode number counts all processes of the host."""
    descriptor = ctypes.c_int(-1)
    child = _LIBC.syscall(_CLONE, _CLONE_PIDFD | signal.SIGCHLD, None, ctypes.byref(descriptor), None, None)
    if child == 0:
        os._exit(0)
    if child > 0:
        os.waitpid(child, 0)
    return descriptor.value >= 0
