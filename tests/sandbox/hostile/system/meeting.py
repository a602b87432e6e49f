"""Bots that look for objects of the kernel that two containers share. Run in a bot's container."""

import ctypes
import fcntl
import os
import platform
import resource
import secrets
import signal
import socket
import statistics
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from tests.sandbox.hostile.bot import play, tell

_BITS: Final = 32
_SECONDS: Final = 2.5
"""Duration of a message. Both seats get their request at the same time."""

_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_ARM: Final = platform.machine() == "aarch64"

_KEY: Final = 0x4B41_4954
_CREATE: Final = 0o1000
_REMOVE: Final = 0
_AT_ONCE: Final = 0o4000
_TYPE: Final = 1
_READ_ONLY: Final = 0o10000
_GET_ALL: Final = 13
_SET_ALL: Final = 17
_WRITTEN: Final = b"\1"
"""Marks the bits before it as written: new shared memory and semaphores contain only zeros."""

_QUEUE: Final = b"/kaiten-hostile"
_ROOM: Final = 8192
"""Maximum size of a POSIX message, which a reader's buffer must have."""

_ADDRESS: Final = "\0kaiten-hostile"
_OWN_FILE: Final = "/tmp/own"  # noqa: S108 - the container's
_FLOCK: Final = "hhxxxxqqixxxx"
_SHARED_FOLDER: Final = "/run/arena-init"
_NAMES: Final = 64
"""Names per bit."""

_SHARED_NAMESPACES: Final = ("/proc/self/ns/user", "/proc/self/ns/time")
_TIME_BITS: Final = 8
_UNUSED_BITS: Final = 6

_FANOTIFY_INIT: Final = 262 if _ARM else 300
_FAN_REPORT_FID: Final = 0x200
"""The kind of group that needs no privileges."""

_RT_TGSIGQUEUEINFO: Final = 240 if _ARM else 297
_SI_QUEUE: Final = -1
_SIGNAL_BITS: Final = 12
"""Numbers of signals below a host's usual limit."""


def hear_by_system_v() -> None:
    """Read a message from each System V object (queue, shared memory, semaphores) of another container."""
    play(_hear_by_system_v)


def say_by_system_v() -> None:
    """Create these objects, and put the same message into each."""
    play(_say_by_system_v)


def hear_by_posix_queue() -> None:
    """Read a message from a POSIX queue that another container created."""
    play(lambda: _hear(_from_posix_queue))


def say_by_posix_queue() -> None:
    """Create that queue, and put a message into it."""
    play(lambda: _say(_into_posix_queue))


def hear_by_abstract_socket() -> None:
    """Receive a message from another container on an abstract socket, which is in no folder."""
    play(lambda: _hear(_at_abstract_socket))


def say_by_abstract_socket() -> None:
    """Send a message to that socket."""
    play(lambda: _say(_to_abstract_socket))


def hear_by_locks() -> None:
    """Ask which bytes of an eventfd another container has locked: all eventfds share one inode."""
    play(lambda: _hear(_by_locks))


def say_by_locks() -> None:
    """Lock the bytes of the bits that are 1."""
    play(lambda: _say(_lock))


def _hear(listen: Callable[[float], bytes]) -> None:
    heard = bytes(_BITS)
    try:
        heard = listen(time.monotonic() + _SECONDS).ljust(_BITS, b"\0")
    except OSError as error:
        tell(refused=str(error))
    tell(heard=[*heard[:_BITS]])


def _say(speak: Callable[[bytes, float], object]) -> None:
    said = bytes(secrets.randbelow(2) for _ in range(_BITS))
    try:
        speak(said, time.monotonic() + _SECONDS - 0.5)
    except OSError as error:
        tell(refused=str(error))
    tell(said=[*said])


def _done(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def _until(end: float) -> Iterator[None]:
    while time.monotonic() < end:
        yield
        time.sleep(0.02)


def _hear_by_system_v() -> None:
    readers = {"queue": _from_queue, "shared memory": _from_memory, "semaphores": _from_semaphores}
    heard = dict.fromkeys(readers, b"")
    for _ in _until(time.monotonic() + _SECONDS):
        for name, read in readers.items():
            heard[name] = heard[name] or read()
    tell(heard={name: [*(bits or bytes(_BITS))] for name, bits in heard.items()})


def _say_by_system_v() -> None:
    said = bytes(secrets.randbelow(2) for _ in range(_BITS))
    for write in (_into_queue, _into_memory, _into_semaphores):
        with suppress(OSError):
            write(said)
    time.sleep(_SECONDS - 0.5)
    _LIBC.msgctl(_LIBC.msgget(_KEY, 0), _REMOVE, None)
    _LIBC.shmctl(_LIBC.shmget(_KEY, 0, 0), _REMOVE, None)
    _LIBC.semctl(_LIBC.semget(_KEY, 0, 0), 0, _REMOVE)
    tell(said=[*said])


def _from_queue() -> bytes:
    room = ctypes.create_string_buffer(struct.calcsize("l") + _BITS)
    words = (ctypes.c_size_t(_BITS), ctypes.c_long(_TYPE), _AT_ONCE)
    got = _LIBC.msgrcv(_LIBC.msgget(_KEY, 0), room, *words)
    return room.raw[-_BITS:] if got == _BITS else b""


def _into_queue(said: bytes) -> None:
    queue = _done(_LIBC.msgget(_KEY, _CREATE | 0o666))
    message = struct.pack("l", _TYPE) + said
    _done(_LIBC.msgsnd(queue, message, ctypes.c_size_t(_BITS), _AT_ONCE))


def _from_memory() -> bytes:
    memory = _LIBC.shmget(_KEY, 0, 0)
    if memory < 0:
        return b""
    _LIBC.shmat.restype = ctypes.c_void_p
    start = _LIBC.shmat(memory, None, _READ_ONLY)
    *bits, written = ctypes.string_at(start, _BITS + 1)
    _LIBC.shmdt(ctypes.c_void_p(start))
    return bytes(bits) if written else b""


def _into_memory(said: bytes) -> None:
    memory = _done(_LIBC.shmget(_KEY, ctypes.c_size_t(_BITS + 1), _CREATE | 0o666))
    _LIBC.shmat.restype = ctypes.c_void_p
    ctypes.memmove(_LIBC.shmat(memory, None, 0), said + _WRITTEN, _BITS + 1)


def _from_semaphores() -> bytes:
    values = (ctypes.c_ushort * (_BITS + 1))()
    _LIBC.semctl(_LIBC.semget(_KEY, 0, 0), 0, _GET_ALL, values)
    *bits, written = values
    return bytes(bits) if written else b""


def _into_semaphores(said: bytes) -> None:
    semaphores = _done(_LIBC.semget(_KEY, _BITS + 1, _CREATE | 0o666))
    values = (ctypes.c_ushort * (_BITS + 1))(*said, *_WRITTEN)
    _done(_LIBC.semctl(semaphores, 0, _SET_ALL, values))


def _from_posix_queue(end: float) -> bytes:
    room = ctypes.create_string_buffer(_ROOM)
    for _ in _until(end):
        queue = _LIBC.mq_open(_QUEUE, os.O_RDONLY | os.O_NONBLOCK)
        if queue >= 0 and _LIBC.mq_receive(queue, room, ctypes.c_size_t(_ROOM), None) == _BITS:
            return room.raw[:_BITS]
    return b""


def _into_posix_queue(said: bytes, end: float) -> None:
    queue = _done(_LIBC.mq_open(_QUEUE, os.O_CREAT | os.O_WRONLY | os.O_NONBLOCK, 0o644, None))
    _done(_LIBC.mq_send(queue, said, ctypes.c_size_t(_BITS), 0))
    time.sleep(max(0.0, end - time.monotonic()))
    _LIBC.mq_unlink(_QUEUE)


def _at_abstract_socket(end: float) -> bytes:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.bind(_ADDRESS)
        channel.settimeout(max(0.01, end - time.monotonic()))
        return channel.recv(_BITS)


def _to_abstract_socket(said: bytes, end: float) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        for _ in _until(end):
            with suppress(OSError):
                channel.sendto(said, _ADDRESS)
                return


@contextmanager
def _common_file() -> Iterator[int]:
    file = os.eventfd(0)
    try:
        yield file
    finally:
        os.close(file)


def _by_locks(end: float) -> bytes:
    heard = bytearray(_BITS)
    with _common_file() as file:
        for _ in _until(end):
            for bit in range(_BITS):
                answer = fcntl.fcntl(file, fcntl.F_OFD_GETLK, _byte(fcntl.F_WRLCK, bit))
                heard[bit] |= struct.unpack(_FLOCK, answer)[0] != fcntl.F_UNLCK
    return bytes(heard)


def _lock(said: bytes, end: float) -> None:
    with _common_file() as file:
        for bit, one in enumerate(said):
            if one:
                fcntl.fcntl(file, fcntl.F_OFD_SETLK, _byte(fcntl.F_RDLCK, bit))
        time.sleep(max(0.0, end - time.monotonic()))


def _byte(kind: int, bit: int) -> bytes:
    return struct.pack(_FLOCK, kind, os.SEEK_SET, bit, 1, 0)


def lock_whole_files() -> None:
    """Lock an eventfd, a namespace and a file of a common layer as a whole, which needs only reading."""
    locked = []
    with _common_file() as file:
        paths = {"a namespace": "/proc/self/ns/user", "a file of a layer": os.path.realpath(os.__file__)}
        files = {"an eventfd": file, **{name: os.open(path, os.O_RDONLY) for name, path in paths.items()}}
        for name, each in files.items():
            with suppress(OSError):
                fcntl.flock(each, fcntl.LOCK_EX | fcntl.LOCK_NB)
                locked.append(name)
    tell(locked=locked)
    play()


def hear_by_missing_names() -> None:
    """Look up each bit's names in the init's folder. If the kernel knows they are missing, the bit is 1."""
    play(lambda: _hear(_by_missing_names))


def say_by_missing_names() -> None:
    """Look up the names of the bits that are 1."""
    play(lambda: _say(_look_up))


def _by_missing_names(end: float) -> bytes:
    time.sleep(max(0.0, end - time.monotonic() - 0.5))
    # The time for names that nobody has looked up, and then for the same names again.
    new, known = _nanoseconds("nobody"), _nanoseconds("nobody")
    return bytes(_nanoseconds(str(bit)) < (new + known) / 2 for bit in range(_BITS))


def _look_up(said: bytes, end: float) -> None:
    for bit, one in enumerate(said):
        if one:
            _nanoseconds(str(bit))
    time.sleep(max(0.0, end - time.monotonic()))


def _nanoseconds(what: str) -> float:
    """Return the median time to look up missing names, which both seats derive from their match's folder."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    match = next(Path(line.split()[3]).parent.name for line in lines if line.split()[4] == "/run/arena")
    times = []
    for number in range(_NAMES):
        path = f"{_SHARED_FOLDER}/{match}-{what}-{number}"
        begun = time.perf_counter_ns()
        os.access(path, os.F_OK)
        times.append(time.perf_counter_ns() - begun)
    return statistics.median(times)


def list_sockets() -> None:
    """Read the paths of all sockets of the host."""
    names: list[str] = []
    with suppress(OSError):
        lines = Path("/proc/net/unix").read_text().splitlines()[1:]
        names += [path for line in lines for path in line.split()[7:8]]
    tell(sockets=names[:20])
    play()


def watch_files() -> None:
    """Ask for leases on files and for notices of what others do with them."""
    Path(_OWN_FILE).touch()
    asked = {
        "lease": (_OWN_FILE, fcntl.F_SETLEASE, fcntl.F_RDLCK),
        "notices of a folder": ("/usr/lib", fcntl.F_NOTIFY, fcntl.DN_DELETE),
        "a chosen signal": (_OWN_FILE, fcntl.F_SETSIG, signal.SIGWINCH),
    }
    granted = []
    for name, (path, command, argument) in asked.items():
        file = os.open(path, os.O_RDONLY)
        with suppress(OSError):
            fcntl.fcntl(file, command, argument)
            granted.append(name)
        os.close(file)
    notices = _LIBC.syscall(_FANOTIFY_INIT, _FAN_REPORT_FID, os.O_RDONLY)
    tell(granted=granted + ["fanotify"] * (notices >= 0))
    play()


def hear_by_times() -> None:
    """Read the change times of namespaces that all containers share. Some of their bits are the message."""
    play(_hear_by_times)


def say_by_times() -> None:
    """Update these times until some of their bits are the message."""
    play(_say_by_times)


def _hear_by_times() -> None:
    time.sleep(_SECONDS)
    tell(heard=[bit for path in _SHARED_NAMESPACES for bit in _time_bits(path)])


def _say_by_times() -> None:
    said, until = list[int](), time.monotonic() + _SECONDS - 0.5
    for path in _SHARED_NAMESPACES:
        bits = [secrets.randbelow(2) for _ in range(_TIME_BITS)]
        while time.monotonic() < until and _time_bits(path) != bits:
            Path(_OWN_FILE).touch()
            Path(_OWN_FILE).stat()  # from Linux 6.13 on, this makes the time of the next change exact
            with suppress(OSError):
                os.chown(path, -1, -1)  # keeps the owner and the group, but sets the time
        said += bits
    tell(said=said)


def _time_bits(path: str) -> list[int]:
    try:
        changed = Path(path).stat().st_ctime_ns
    except FileNotFoundError:  # under gVisor
        changed = 0
    return [changed >> _UNUSED_BITS + bit & 1 for bit in range(_TIME_BITS)]


def hear_by_pending_signals() -> None:
    """Ask how many signals are pending for all processes of this user, wherever they are."""
    play(_hear_by_pending_signals)


def say_by_pending_signals() -> None:
    """Queue a number of signals for itself."""
    play(_say_by_pending_signals)


def _hear_by_pending_signals() -> None:
    most = 0
    for _ in _until(time.monotonic() + _SECONDS):
        most = max(most, _pending_signals())
    tell(heard=_bits(most))


def _pending_signals() -> int:
    """Return how many signals are pending for this user, by the lowest limit that allows one more."""
    _, hard = resource.getrlimit(resource.RLIMIT_SIGPENDING)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
    low, high = 0, 2 << _SIGNAL_BITS
    if hard != resource.RLIM_INFINITY:
        high = min(high, hard)  # gVisor's is 0
    while low < high:
        limit = (low + high) // 2
        resource.setrlimit(resource.RLIMIT_SIGPENDING, (limit, hard))
        if _queue_signal():
            signal.sigtimedwait({signal.SIGRTMIN}, 0)
            high = limit
        else:
            low = limit + 1
    return low - 1


def _say_by_pending_signals() -> None:
    # The first three bits are 1, so that silence is no message.
    said = (7 << _SIGNAL_BITS - 3) + secrets.randbelow(1 << _SIGNAL_BITS - 3)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
    for _ in range(said):
        _queue_signal()
    time.sleep(_SECONDS - 0.5)
    tell(said=_bits(said))


def _queue_signal() -> bool:
    # For this thread, since the others don't block it.
    info = struct.pack("iii", signal.SIGRTMIN, 0, _SI_QUEUE).ljust(128, b"\0")
    words = (os.getpid(), threading.get_native_id(), signal.SIGRTMIN, info)
    return bool(_LIBC.syscall(_RT_TGSIGQUEUEINFO, *words) == 0)


def _bits(number: int) -> list[int]:
    return [number >> place & 1 for place in reversed(range(_SIGNAL_BITS))]
