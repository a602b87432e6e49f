"""Bots that try to signal to each other through what their containers share. Run in a bot's container."""

import ctypes
import errno
import mmap
import os
import platform
import secrets
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from tests.sandbox.hostile.bot import play, tell

_BITS: Final = 32
_SECONDS: Final = 2.5
"""Duration of a message. Both seats get their request at the same time."""

_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_ARM: Final = platform.machine() == "aarch64"
_FUTEX: Final = 98 if _ARM else 202
_SET_TID_ADDRESS: Final = 96 if _ARM else 218
_PIDFD_OPEN: Final = 434
_PIDFD_SELF: Final = -10_000
"""Stands for a descriptor of the calling process, from Linux 6.15 on."""

_FUTEX_WAITV: Final = 449
_FUTEX_WAKE: Final = 454
_FUTEX_WAIT: Final = 455
_FUTEX_REQUEUE: Final = 456

_WAIT: Final = 0
_WAKE: Final = 1
_SIZE_U32: Final = 2
_ANY: Final = 0xFFFF_FFFF
_WORD: Final = 4


def hear_by_futexes() -> None:
    """Wait on a word of a shared file for each bit, with each call in turn.

    If the other bot wakes the word, the bit is 1.
    """
    play(_hear_by_futexes)


def say_by_futexes() -> None:
    """Wake the words of the bits that are 1, with each call."""
    play(_say_by_futexes)


def hear_by_futex() -> None:
    """Wait on a word of a shared file for each bit. If the kernel wakes it, the bit is 1."""
    play(lambda: tell(heard=_heard(_wait, _words(), time.monotonic() + _SECONDS)))


def say_by_ends_of_threads() -> None:
    """End threads, so that the kernel itself wakes the words of the bits that are 1."""
    play(lambda: tell(said=_said({_end_a_thread: _words()})))


def _hear_by_futexes() -> None:
    begun, heard = time.monotonic(), {}
    for turn, (name, (wait, _)) in enumerate(_CALLS.items()):
        until = begun + _SECONDS * (turn + 1) / len(_CALLS)
        heard[name] = _heard(wait, _words(turn), until)
    tell(heard=heard)


def _say_by_futexes() -> None:
    tell(said=_said({wake: _words(turn) for turn, (_, wake) in enumerate(_CALLS.values())}))


def _wait(word: ctypes.c_void_p, until: float) -> int:
    timeout = _time(max(0.0, until - time.monotonic()))
    return int(_LIBC.syscall(_FUTEX, word, _WAIT, _value(word), timeout, None, 0))


def _wake(word: ctypes.c_void_p) -> None:
    _LIBC.syscall(_FUTEX, word, _WAKE, 1, None, None, 0)


def _wait_newer(word: ctypes.c_void_p, until: float) -> int:
    value, mask = ctypes.c_long(_value(word)), ctypes.c_long(_ANY)
    return int(_LIBC.syscall(_FUTEX_WAIT, word, value, mask, _SIZE_U32, _time(until), time.CLOCK_MONOTONIC))


def _wake_newer(word: ctypes.c_void_p) -> None:
    _LIBC.syscall(_FUTEX_WAKE, word, ctypes.c_long(_ANY), 1, _SIZE_U32)


def _wait_for_any(word: ctypes.c_void_p, until: float) -> int:
    return int(_LIBC.syscall(_FUTEX_WAITV, _waiters(word), 1, 0, _time(until), time.CLOCK_MONOTONIC))


def _requeue(word: ctypes.c_void_p) -> None:
    # This wakes one waiter, and moves none to the second word.
    own = ctypes.c_int()
    words = _waiters(word, ctypes.c_void_p(ctypes.addressof(own)))
    _LIBC.syscall(_FUTEX_REQUEUE, words, 0, 1, 0)


_CALLS: Final = {
    "futex": (_wait, _wake),
    "futex_wait": (_wait_newer, _wake_newer),
    "futex_waitv": (_wait_for_any, _requeue),
}


def _time(seconds: float) -> ctypes.Array[ctypes.c_long]:
    return (ctypes.c_long * 2)(int(seconds), int(seconds % 1 * 1e9))


def _waiters(*words: ctypes.c_void_p) -> bytes:
    """Return the kernel's ``struct futex_waitv`` for each word."""
    return b"".join(struct.pack("QQII", _value(word), word.value, _SIZE_U32, 0) for word in words)


def _value(word: ctypes.c_void_p) -> int:
    return ctypes.c_uint.from_address(word.value or 0).value


def _heard(
    wait: Callable[[ctypes.c_void_p, float], int], words: Sequence[ctypes.c_void_p], until: float
) -> list[int]:
    """Return the bits whose words are woken before ``until``, a time of the monotonic clock."""
    heard = [0] * _BITS

    def listen(bit: int) -> None:
        while time.monotonic() < until:
            if wait(words[bit], until) == 0:
                heard[bit] = 1
                return
            if ctypes.get_errno() != errno.EINTR:
                time.sleep(0.01)

    threads = [threading.Thread(target=listen, args=(bit,)) for bit in range(_BITS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return heard


def _said(ways: Mapping[Callable[[ctypes.c_void_p], object], Sequence[ctypes.c_void_p]]) -> list[int]:
    """Wake the words of the bits that are 1 with each call, and return the bits."""
    said = [secrets.randbelow(2) for _ in range(_BITS)]
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until:
        for wake, words in ways.items():
            for word, one in zip(words, said, strict=True):
                if one:
                    wake(word)
        time.sleep(0.02)
    return said


def _end_a_thread(word: ctypes.c_void_p) -> None:
    ended = threading.Event()

    def end() -> None:
        _LIBC.syscall(_SET_TID_ADDRESS, word)
        ended.set()

    threading.Thread(target=end, daemon=True).start()
    ended.wait()


def _words(page: int = 0) -> Sequence[ctypes.c_void_p]:
    """Map the C library, which is in a layer that all bots share, and return a word of it for each bit.

    ``page`` selects the page of the library that contains the words.
    """
    start = _map(_library()) + mmap.PAGESIZE * (1 + page)
    return [ctypes.c_void_p(start + _WORD * bit) for bit in range(_BITS)]


def _library() -> Path:
    lines = Path("/proc/self/maps").read_text().splitlines()
    return next(Path(line.split()[5]) for line in lines if "/libc.so" in line)


def _map(path: Path) -> int:
    _LIBC.mmap.restype = ctypes.c_void_p
    file = os.open(path, os.O_RDONLY)
    start = _LIBC.mmap(
        None, ctypes.c_size_t(path.stat().st_size), mmap.PROT_READ, mmap.MAP_SHARED, file, ctypes.c_long(0)
    )
    os.close(file)
    return int(start)


def ask_the_page_cache() -> None:
    """Query and change which pages of a shared file are cached, with every call for that."""
    library = _library()
    size = ctypes.c_size_t(library.stat().st_size)
    start = ctypes.c_void_p(_map(library))
    file = os.open(library, os.O_RDONLY)
    asked = {name: _LIBC.syscall(*words) for name, *words in _questions(file, start, size)}
    tell(answered=[name for name, answer in asked.items() if answer >= 0])
    play()


def lock_pages() -> None:
    """Lock a page of a shared file in memory, in every way that the kernel offers."""
    library = _library()
    start, size = ctypes.c_void_p(_map(library)), ctypes.c_size_t(mmap.PAGESIZE)
    granted = {"mlock": _LIBC.mlock(start, size) == 0, "mlock2": _LIBC.mlock2(start, size, 1) == 0}
    # gVisor permits this call, but then refuses to map anything.
    granted["mlockall"] = _LIBC.mlockall(_MCL_FUTURE) == 0 and _can_map(library)
    _LIBC.munlockall()
    granted["mmap"] = _can_map(library, _MAP_LOCKED)
    tell(locked=[name for name, done in granted.items() if done])
    play()


def _can_map(path: Path, flags: int = 0) -> bool:
    with path.open("rb") as file, suppress(OSError):
        mmap.mmap(file.fileno(), mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | flags, prot=mmap.PROT_READ).close()
        return True
    return False


_MCL_FUTURE: Final = 2
_MAP_LOCKED: Final = 0x2000


def read_counters() -> None:
    """Read counters of the whole host, which change with others' work."""
    named = [Path(folder, name) for folder, names in _COUNTERS.items() for name in names.split()]
    told = []
    for path in named:
        with suppress(OSError):
            if path.read_bytes():
                told.append(str(path))
    tell(counters=told)
    play()


_COUNTERS: Final = {
    "/proc": (
        "buddyinfo cpuinfo diskstats interrupts key-users keys loadavg locks meminfo schedstat softirqs stat "
        "uptime vmstat zoneinfo"
    ),
    "/proc/pressure": "cpu io memory",
    "/proc/self": "schedstat net/softnet_stat net/sockstat",
    "/proc/sys/fs": "dentry-state file-nr inode-nr inode-state",
    "/proc/sys/kernel": "ns_last_pid pty/nr random/boot_id random/entropy_avail",
    "/sys/fs/cgroup": "cpu.pressure cpu.stat memory.current memory.pressure memory.stat",  # cgroup v2
    "/sys/fs/cgroup/cpuacct": "cpuacct.usage",
    "/sys/fs/cgroup/memory": "memory.stat memory.usage_in_bytes",
    "/sys/kernel/mm": "transparent_hugepage/enabled ksm/pages_shared",
    "/sys/class/net/lo/statistics": "rx_bytes",
    "/sys/devices/system/node": "node0/vmstat node0/numastat",
    "/sys/block": "vda/stat sda/stat nvme0n1/stat",
}


def _questions(
    file: int, start: ctypes.c_void_p, size: ctypes.c_size_t
) -> Iterator[tuple[str, *tuple[object, ...]]]:
    room, zero = ctypes.create_string_buffer(1 << 20), ctypes.c_long(0)
    vector = (ctypes.c_size_t * 2)(ctypes.addressof(room), mmap.PAGESIZE)
    yield "mincore", 232 if _ARM else 27, start, size, room
    yield "cachestat", 451, file, (ctypes.c_ulong * 2)(0, 0), room, 0
    yield "preadv2 without waiting", 286 if _ARM else 327, file, vector, ctypes.c_long(1), zero, zero, 8
    yield "fadvise: drop", 223 if _ARM else 221, file, zero, zero, 4
    yield "readahead", 213 if _ARM else 187, file, zero, size
    yield "sync_file_range", 84 if _ARM else 277, file, zero, zero, 0
    pages = (ctypes.c_size_t * 2)(start.value or 0, size.value)
    opened = _LIBC.syscall(_PIDFD_OPEN, os.getpid(), 0)
    itself = ctypes.c_long(opened if opened >= 0 else _PIDFD_SELF)
    yield "process_madvise: page out", 440, itself, pages, ctypes.c_long(1), 21, ctypes.c_long(0)
    for name, advice in {"read ahead": 3, "cold": 20, "page out": 21, "populate": 22}.items():
        yield f"madvise: {name}", 233 if _ARM else 28, start, size, advice
