"""Bots that explore the system, and bots that try forbidden system calls. Run in a bot's container."""

import ctypes
import fcntl
import mmap
import os
import platform
import resource
import signal
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from tests.sandbox.hostile.bot import play, tell

_CALLS: Final = {
    # By name: the call's numbers on x86-64 and on 64-bit ARM.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "mount": (165, 40),
    "pivot_root": (155, 41),
    "unshare": (272, 97),
    "setns": (308, 268),
    "clone": (56, 220),
    "clone3": (435, 435),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "io_uring_setup": (425, 425),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "open_by_handle_at": (304, 265),
    "init_module": (175, 105),
    "fsopen": (430, 430),
    "personality": (135, 92),
    "quotactl": (179, 60),
    "syslog": (103, 116),
    "settimeofday": (164, 170),
    "kcmp": (312, 272),
    "name_to_handle_at": (303, 264),
    "get_mempolicy": (239, 236),
    "set_mempolicy": (238, 237),
    "signalfd4": (289, 74),
    "tee": (276, 77),
}
_NEW_USER: Final = 0x1000_0000
_NEW_MOUNTS: Final = 0x0002_0000
_NEW_NETWORK: Final = 0x4000_0000


def forbidden_calls() -> None:
    """Try tracing, namespaces, mounts, keys, io_uring, unusual sockets and the like."""
    tell(done=[name for name, attempt in _attempts() if _done(attempt)])
    play()


def _attempts() -> Iterator[tuple[str, Callable[[], bool]]]:
    libc = ctypes.CDLL(None, use_errno=True)
    column = 1 if platform.machine() == "aarch64" else 0

    def call(name: str, *arguments: object) -> Callable[[], bool]:
        words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
        number = ctypes.c_long(_CALLS[name][column])
        return lambda: bool(libc.syscall(number, *words, *[ctypes.c_long(0)] * (6 - len(words))) >= 0)

    room = ctypes.create_string_buffer(512)
    handle, mount = ctypes.create_string_buffer(struct.pack("I", 128), 256), ctypes.create_string_buffer(4)
    yield "ptrace: be traced", call("ptrace", 0)
    yield "ptrace: attach to the first process", call("ptrace", 16, 1)
    yield "process_vm_readv: read the parent's memory", call("process_vm_readv", os.getppid(), 0, 0, 0, 0)
    yield "mount a tmpfs", call("mount", b"none", b"/tmp", b"tmpfs", 0)
    yield "mount: remount the root", call("mount", b"none", b"/", None, 0x20 | 0x1000)
    yield "pivot_root", call("pivot_root", b"/tmp", b"/tmp")
    yield "unshare: users", call("unshare", _NEW_USER)
    yield "unshare: users and mounts", call("unshare", _NEW_USER | _NEW_MOUNTS)
    yield "unshare: users and network", call("unshare", _NEW_USER | _NEW_NETWORK)
    yield "clone: users", call("clone", _NEW_USER | signal.SIGCHLD)
    yield "setns: a child's user namespace", lambda: _enters(call("unshare", _NEW_USER), libc.setns)
    yield "keyctl: a session of keys", call("keyctl", 1, 0)
    yield "add_key", call("add_key", b"user", b"kaiten", b"x", 1, -4)
    yield "io_uring_setup", call("io_uring_setup", 1, room)
    yield "bpf: a map", call("bpf", 0, _bpf_map(), 72)
    yield "perf_event_open", call("perf_event_open", _perf_event(), 0, -1, -1, 0)
    yield "userfaultfd", call("userfaultfd", 1)
    yield "open_by_handle_at", call("open_by_handle_at", -100, room, 0)
    yield "init_module", call("init_module", room, 0, b"")
    yield "fsopen", call("fsopen", b"tmpfs", 0)
    yield "personality: no random addresses", call("personality", 0x0040000)
    yield "quotactl", call("quotactl", 0x800002 << 8, None, 0, 0)
    yield "syslog: the kernel's messages", call("syslog", 3, room, 512)
    yield "settimeofday", call("settimeofday", struct.pack("qq", 1, 0), None)
    yield "kcmp: own files", call("kcmp", os.getpid(), os.getpid(), 2, 0, 0)
    yield "name_to_handle_at", call("name_to_handle_at", -100, b"/tmp", handle, mount, 0)
    yield "get_mempolicy", call("get_mempolicy", None, None, 0, 0, 0)
    yield "set_mempolicy", call("set_mempolicy", 0, None, 0)
    yield "madvise: merge equal pages", _merges_pages
    yield "fcntl: size of a pipe", lambda: fcntl.fcntl(os.pipe()[1], fcntl.F_SETPIPE_SZ, 4096) > 0
    yield "signalfd4", call("signalfd4", -1, room, 8, 0)
    yield "splice", lambda: _copies(os.splice)
    yield "sendfile", lambda: os.sendfile(os.pipe()[1], os.open(__file__, os.O_RDONLY), 0, 1) == 1
    yield "tee", lambda: _copies(lambda source, target, count: call("tee", source, target, count, 0)())
    yield "MSG_OOB", _sends_out_of_band
    yield "setrlimit: core dumps", lambda: _lowers_core_limit(libc.setrlimit)
    yield "setuid: root", lambda: libc.setuid(0) == 0
    yield "AF_ALG", lambda: _makes("AF_ALG", socket.SOCK_SEQPACKET)
    yield "AF_VSOCK", lambda: _makes("AF_VSOCK", socket.SOCK_STREAM)
    yield "AF_NETLINK", lambda: _makes("AF_NETLINK", socket.SOCK_RAW)


def _bpf_map() -> bytes:
    return struct.pack("IIII", 2, 4, 4, 1).ljust(72, b"\0")


def _perf_event() -> bytes:
    # A software event: this process's clock, only in user space.
    return struct.pack("IIQ", 1, 112, 1).ljust(40, b"\0") + struct.pack("Q", 0x60).ljust(72, b"\0")


def _copies(copy: Callable[[int, int, int], int]) -> bool:
    """Copy a byte from one pipe to another."""
    (source, writer), (_, target) = os.pipe(), os.pipe()
    os.write(writer, b"x")
    return copy(source, target, 1) == 1


def _sends_out_of_band() -> bool:
    one, other = socket.socketpair()
    with one, other:
        return one.send(b"x", socket.MSG_OOB) == 1


def _lowers_core_limit(setrlimit: Callable[[int, bytes], int]) -> bool:
    """Lower the limit on core dumps to 0. The call may return success without an effect."""
    setrlimit(resource.RLIMIT_CORE, bytes(16))
    return resource.getrlimit(resource.RLIMIT_CORE) == (0, 0)


def _merges_pages() -> bool:
    with mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as pages:
        pages.madvise(mmap.MADV_MERGEABLE)
    return True


def _enters(unshare: Callable[[], bool], setns: Callable[[int, int], int]) -> bool:
    """Enter the user namespace of a child. The kernel lets the child's creator do so."""
    created, create = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(create, b"1" if unshare() else b"0")
        signal.pause()
    try:
        if os.read(created, 1) == b"0":
            return False
        with open(f"/proc/{child}/ns/user", "rb") as file:  # noqa: PTH123 - its descriptor
            return setns(file.fileno(), 0) == 0
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _makes(family: str, kind: int) -> bool:
    socket.socket(getattr(socket, family), kind).close()
    return True


def _done(attempt: Callable[[], bool]) -> bool:
    """Try it in a child process, which it may change or break."""
    child = os.fork()
    if child == 0:
        done = False
        with suppress(OSError):
            done = attempt()
        os._exit(0 if done else 1)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


def harvest() -> None:
    """Read everything that may reveal something about the host, the arena and other bots."""
    mounts = [line.split() for line in _lines("/proc/self/mountinfo")]
    tell(
        environment=sorted(os.environ),
        processes=sorted(set(_commands())),
        mounts=[words[4] for words in mounts],
        mounted_folders=sorted({words[3] for words in mounts}),
        # After the dash: the type of the file system, its source and its options.
        mounted=sorted({" ".join(words[words.index("-") + 1 :]) for words in mounts}),
        groups=sorted({line.split(":", 2)[2] for line in _lines("/proc/self/cgroup")}),
        host=[socket.gethostname(), *Path("/etc/hostname").read_text().split()],
        interfaces=[line.split(":")[0].strip() for line in _lines("/proc/net/dev") if ":" in line],
        sockets=[path for line in _lines("/proc/net/unix")[1:] for path in line.split()[7:8]],
        descriptors=sorted(set(_descriptors())),
        kernel=sorted(_kernel()),
        system=sorted(_system()),
    )
    # This runs during the game, because all other bots have started by then.
    play(lambda: tell(other_environments=sorted(set(_other_environments()))))


def identify() -> None:
    """Report what identifies the host, the container and the seat, at the start and later in the game."""
    tell(first=_identity())
    play(lambda: tell(later=_identity()))


def _identity() -> dict[str, object]:
    mounts = [line.split() for line in _lines("/proc/self/mountinfo")]
    return {
        "user": os.getuid(),
        "parent": os.getppid(),
        "host": socket.gethostname(),
        "machine": _lines("/etc/machine-id"),
        "boot": _lines("/proc/sys/kernel/random/boot_id"),
        "container": sorted({word for line in mounts for word in line[3].split("/") if len(word) == 64}),
        "layers": [words[-1] for words in mounts if words[4] == "/"],
        "mounts": sorted(int(words[0]) for words in mounts),
        "devices": {words[4]: words[2] for words in mounts},
        # By path: the mount's own options. Those of its file system name the container's own folders.
        "options": {words[4]: words[5] for words in mounts},
        "inodes": {path: Path(path).stat().st_ino for path in ("/", "/bin", os.__file__)},
    }


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(errors="replace").splitlines()
    except OSError:
        return []


def _other_environments() -> Iterator[str]:
    """Yield the commands of other processes whose environment can be read."""
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if int(path.parent.name) != os.getpid() and path.read_bytes():
                yield path.with_name("cmdline").read_text(errors="replace").split("\0")[0]


def _commands() -> Iterator[str]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield path.read_text(errors="replace").split("\0")[0]


def _descriptors() -> Iterator[str]:
    """Yield the kinds of files that this process has open."""
    for path in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            yield str(path.readlink()).partition(":")[0]


def _kernel() -> Iterator[str]:
    for path in Path("/proc").iterdir():
        if not path.name.isdigit() and not path.is_symlink() and not path.is_dir() and _gives(str(path)):
            yield path.name


def _system() -> Iterator[str]:
    """Yield the folders of /sys, two deep, in which any file can be read."""
    for folder in Path("/sys").glob("*/*"):
        if any(_gives(f"{where}/{name}") for where, _, names in os.walk(folder) for name in names):
            yield str(folder.relative_to("/sys"))


def _gives(path: str) -> bool:
    """Return whether at least one byte can be read from a file."""
    with suppress(OSError):
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            return bool(os.read(file, 1))
        finally:
            os.close(file)
    return False
