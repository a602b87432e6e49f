"""Bots that take resources that none of their limits covers. Run in a bot's container."""

import ctypes
import errno
import fcntl
import mmap
import os
import platform
import socket
import struct
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Final

from tests.sandbox.hostile.bot import play, tell

_MOST: Final = 20
"""An attack that nothing stops ends here."""

_ATTACH_FILTER: Final = 26
_RETURN: Final = struct.pack("HBBI", 0x06, 0, 0, 0)
_INSTRUCTIONS: Final = 1_000

_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_ARM: Final = platform.machine() == "aarch64"
_TIMER_CREATE: Final = 107 if _ARM else 222
_SECCOMP: Final = 277 if _ARM else 317
_SET_MODE_FILTER: Final = 1
_PR_SET_SECCOMP: Final = 22
_SECCOMP_MODE_FILTER: Final = 2
_ALLOW: Final = struct.pack("HBBI", 0x06, 0, 0, 0x7FFF_0000)
_CLOCK_MONOTONIC: Final = 1
_SIGEV_NONE: Final = 1

_OWN: Final = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
_MAP_HUGETLB: Final = 0x4_0000
_HUGE: Final = 2 * 1024 * 1024


def filters() -> None:
    """Attach filters to sockets: they take kernel memory that no limit covers."""
    program = ctypes.create_string_buffer(_RETURN * _INSTRUCTIONS)
    attached = 0
    with ExitStack() as stack:
        for _ in range(_MOST):
            channel = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
            with suppress(OSError):
                words = struct.pack("HxxxxxxQ", _INSTRUCTIONS, ctypes.addressof(program))
                channel.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, words)
                attached += 1
    tell(filters=attached)
    play()


def filters_of_calls() -> None:
    """Install filters of system calls, in each way to do that: they take memory like those of sockets."""
    program = ctypes.create_string_buffer(_ALLOW * _INSTRUCTIONS)
    room = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", _INSTRUCTIONS, ctypes.addressof(program)))
    ways: dict[str, Callable[[], int]] = {
        "seccomp": lambda: int(_LIBC.syscall(_SECCOMP, _SET_MODE_FILTER, 0, room)),
        "prctl": lambda: int(_LIBC.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, room)),
    }
    tell(installed=[name for name, install in ways.items() if install() == 0])
    play()


def terminals() -> None:
    """Open pseudo-terminals, of which the whole host has a few thousand."""
    opened = []
    with suppress(OSError):
        opened += [os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY) for _ in range(_MOST)]
    for terminal in opened:
        os.close(terminal)
    tell(terminals=len(opened))
    play()


def direct() -> None:
    """Read a shared file from the disk itself, in each way to ask for that."""
    path = os.path.realpath(os.__file__)
    with ExitStack() as stack:
        room = stack.enter_context(mmap.mmap(-1, mmap.PAGESIZE, flags=_OWN))
        read = 0
        with suppress(OSError):
            file = os.open(path, os.O_RDONLY | os.O_DIRECT)
            stack.callback(os.close, file)
            read += os.readv(file, [room]) > 0
        with suppress(OSError):
            file = os.open(path, os.O_RDONLY)
            stack.callback(os.close, file)
            fcntl.fcntl(file, fcntl.F_SETFL, os.O_DIRECT)
            read += os.readv(file, [room]) > 0
    tell(direct=read)
    play()


def huge_pages() -> None:
    """Take huge pages that the host has reserved, which the memory limit doesn't cover."""
    with ExitStack() as stack:
        taken = 0
        with suppress(OSError):
            for _ in range(_MOST):
                stack.enter_context(mmap.mmap(-1, _HUGE, flags=_OWN | _MAP_HUGETLB))[0] = 1
                taken += 1
    tell(huge=taken)
    play()


def timers() -> None:
    """Create timers in the kernel's only table, which takes longer to search the more timers it holds."""
    made = 0
    # SIGEV_NONE: no signal when the timer expires. The kernel writes the timer's id to `number`.
    event, number = struct.pack("QiiQ", 0, 0, _SIGEV_NONE, 0).ljust(64, b"\0"), ctypes.c_int()
    while made < _MOST and _LIBC.syscall(_TIMER_CREATE, _CLOCK_MONOTONIC, event, ctypes.byref(number)) == 0:
        made += 1
    tell(timers=made)
    play()


def flushes() -> None:
    """Make the host's disk flush its cache.

    The kernel refuses to flush a pipe, so EINVAL shows that the call reached it. Some gVisor versions refuse
    every flush with EPERM, although the rule asks for success.
    """
    read, _ = os.pipe()
    reached = []
    for call in (os.fsync, os.fdatasync):
        for path in ("/", "/etc/hostname"):
            file = os.open(path, os.O_RDONLY)
            with suppress(PermissionError):
                call(file)
            os.close(file)
        try:
            call(read)
        except OSError as error:
            if error.errno == errno.EINVAL:
                reached.append(call.__name__)
    tell(flushes=reached)
    play()
