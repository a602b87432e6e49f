"""Tries to break out: run inside a container that was started as a bot's is.

Needs nothing but Python's standard library. ``/run/arena/task`` says what to try and how far: every
attempt stops at twice what should be possible. What was seen goes to stderr, in lines of JSON behind
``canary``; the last one counts. Nothing is judged here.
"""

import ctypes
import errno
import json
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

FOLDER: Final = "/run/arena"
TMP: Final = "/tmp"  # noqa: S108 - the container's
MIB: Final = 1024 * 1024
LOG_BYTES: Final = 3 * MIB
UNROUTED: Final = ("192.0.2.1", 9)  # RFC 5737: nobody's address; connecting a datagram socket sends nothing

LIBC: Final = ctypes.CDLL(None, use_errno=True)
CALLS: Final = {
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
    },
}
ARGUMENTS: Final = {"unshare": (0x1000_0000,)}  # a user namespace; all others: zeros
FAMILIES: Final = {
    "AF_INET": 2,
    "AF_INET6": 10,
    "AF_NETLINK": 16,
    "AF_PACKET": 17,
    "AF_ALG": 38,
    "AF_VSOCK": 40,
}
PR_GET_NO_NEW_PRIVS: Final = 39


def tell(seen: dict[str, Any]) -> None:
    """Print what was seen, in one write."""
    os.write(2, b"canary " + json.dumps(seen).encode() + b"\n")


def attempt(act: Callable[[], object]) -> str:
    """Return ``done``, or the name of the error that an attempt ended with."""
    try:
        act()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))
    return "done"


def in_child(act: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever it returns
    """Return what an act gives in a child process, whose state dies with it."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, json.dumps(act()).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text)


def status() -> dict[str, str]:
    """Return /proc/self/status."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def network(_: dict[str, int]) -> dict[str, Any]:
    """Look for interfaces and for a way out."""
    lines = Path("/proc/net/dev").read_text().splitlines()[2:]

    def connect() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            out.connect(UNROUTED)

    return {"interfaces": [line.partition(":")[0].strip() for line in lines], "route": attempt(connect)}


def folders(top: str = "/") -> Iterator[tuple[str, list[str]]]:
    """Give every folder with the special files in it; of /proc and /sys only their tops."""
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        special: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_symlink() or entry.is_file(follow_symlinks=False):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        special.append(entry.path)
        except OSError:
            pass
        if folder in {"/proc", "/sys"}:
            waiting = [path for path in waiting if not path.startswith(f"{folder}/")]
        yield folder, special


def files(_: dict[str, int]) -> dict[str, Any]:
    """Try to make a file in every folder, to open what steers the kernel, and to dial every socket."""
    written, dialled = [], []
    for folder, special in folders():
        path = f"{folder}/kaiten-canary"
        if attempt(lambda path=path: os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))) == "done":  # type: ignore[misc] # a closure over this turn's path
            written.append(folder)
            os.unlink(path)
        dialled += [
            path for path in special if stat.S_ISSOCK(os.lstat(path).st_mode) and dial(path) == "done"
        ]
    for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/kernel/uevent_helper"):
        if attempt(lambda path=path: os.close(os.open(path, os.O_WRONLY))) == "done":  # type: ignore[misc] # as above
            written.append(path)
    read_only = bool(os.statvfs("/").f_flag & os.ST_RDONLY)
    return {"written": written, "root_read_only": read_only, "dialled": dialled}


def dial(path: str) -> str:
    """Try to connect to a socket."""
    with socket.socket(socket.AF_UNIX) as channel:
        channel.settimeout(1)
        return attempt(lambda: channel.connect(path))


def channel(_: dict[str, int]) -> dict[str, Any]:
    """Use the referee's socket, then attack it; dial the one beside it, which is another slot's."""
    own = f"{FOLDER}/referee.sock"
    other = f"{FOLDER}/other.sock"
    return {
        "referee": dial(own),
        "foreign": dial(other),
        "attacks": {
            "make": attempt(lambda: Path(f"{FOLDER}/new").touch()),
            "bind": attempt(lambda: socket.socket(socket.AF_UNIX).bind(f"{FOLDER}/new.sock")),
            "chmod": attempt(lambda: os.chmod(own, 0o777)),
            "rename": attempt(lambda: os.rename(own, f"{own}.old")),
            "unlink": attempt(lambda: os.unlink(own)),
        },
    }


def empty_tmp() -> None:
    """Remove what was put into /tmp."""
    for path in Path(TMP).iterdir():
        path.unlink()


def tmp(limits: dict[str, int]) -> dict[str, Any]:
    """Fill /tmp with bytes, then with files; run a program from it."""
    size, block, count = 0, bytes(MIB // 4), 0
    try:
        while size < 2 * limits["tmp_bytes"]:
            with open(f"{TMP}/bytes{size}", "wb", buffering=0) as file:
                size += file.write(block)
    except OSError:
        pass
    empty_tmp()
    try:
        while count < 2 * limits["tmp_files"]:
            os.close(os.open(f"{TMP}/{count}", os.O_CREAT | os.O_WRONLY))
            count += 1
    except OSError:
        pass
    empty_tmp()
    program = Path(TMP, "program")
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    executed = attempt(lambda: subprocess.run([str(program)], check=False))
    program.unlink()
    return {"tmp_bytes": size, "tmp_files": count, "tmp_executed": executed}


def rights(_: dict[str, int]) -> dict[str, Any]:
    """Look at user, groups, capabilities and the way to more of them."""
    names = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
    lines = status()
    return {
        "ids": [*os.getresuid(), *os.getresgid()],
        "groups": os.getgroups(),
        "capabilities": {name: int(lines[name], 16) for name in names if name in lines},
        "no_new_privileges": LIBC.prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
    }


def calls(_: dict[str, int]) -> dict[str, Any]:
    """Make calls that no bot needs, in a child: one that succeeds must not change this process."""

    def make(number: int, arguments: tuple[int, ...]) -> str:
        filled = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
        result = LIBC.syscall(ctypes.c_long(number), *map(ctypes.c_long, filled))
        return "done" if result >= 0 else errno.errorcode[ctypes.get_errno()]

    def all_of_them() -> dict[str, str]:
        numbers = CALLS[os.uname().machine]
        answers = {name: make(number, ARGUMENTS.get(name, ())) for name, number in numbers.items()}
        for name, family in FAMILIES.items():
            kinds = (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET)
            seen = {
                attempt(lambda kind=kind, family=family: socket.socket(family, kind).close())
                for kind in kinds
            }  # type: ignore[misc] # closures over this turn's values
            answers[name] = "done" if "done" in seen else min(seen)
        return answers

    return {"kernel": os.uname().release, "calls": in_child(all_of_them)}


def limits_of_process(limits: dict[str, int]) -> dict[str, Any]:
    """Open files, write beyond the largest file, dump core: with every soft limit at its hard one."""
    for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        most = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (most, most))
    path = Path(TMP, "long")
    with path.open("wb") as file:
        long = attempt(lambda: os.ftruncate(file.fileno(), limits["file_bytes"] + 1))
    path.unlink()
    return {
        "file_beyond": long,
        "open_files": in_child(lambda: open_many(limits["open_files"])),
        "core_limit": resource.getrlimit(resource.RLIMIT_CORE)[1],
        "core_dumped": core_dumped(),
    }


def open_many(most: int) -> int:
    """Return how many files can be open, up to twice as many as should be."""
    opened = 3
    try:
        while opened < 2 * most:
            os.open("/dev/null", os.O_RDONLY)
            opened += 1
    except OSError:
        pass
    return opened


def core_dumped() -> bool:
    """Crash a child where it can write, and tell whether the kernel dumped it."""
    child = os.fork()
    if child == 0:
        os.chdir(TMP)
        os.abort()
    dumped = os.WCOREDUMP(os.waitpid(child, 0)[1])
    empty_tmp()
    return dumped


def shared(limits: dict[str, int]) -> dict[str, Any]:
    """Ask for shared memory of System V, larger than /tmp."""
    made = LIBC.shmget(0, 2 * limits["tmp_bytes"], 0o1600)
    answer = "done" if made >= 0 else errno.errorcode[ctypes.get_errno()]
    if made >= 0:
        LIBC.shmctl(made, 0, None)
    return {"system_v": answer}


def surroundings(_: dict[str, int]) -> dict[str, Any]:
    """Look at the environment, the host name, and the limits that control groups show."""

    def number(path: str) -> int | None:
        try:
            text = Path(path).read_text().strip()
        except OSError:
            return None
        return -1 if text == "max" else int(text)

    top = "/sys/fs/cgroup"
    return {
        "environment": dict(os.environ),
        "hostname": socket.gethostname(),
        "v1_memory": number(f"{top}/memory/memory.limit_in_bytes"),
        "v1_memory_and_swap": number(f"{top}/memory/memory.memsw.limit_in_bytes"),
        "v2_swap": number(f"{top}/memory.swap.max"),
    }


LOOKS: Final = (network, files, channel, tmp, rights, calls, limits_of_process, shared, surroundings)


def look(limits: dict[str, int]) -> None:
    """Try everything that leaves this process alive, then flood the log."""
    seen: dict[str, Any] = {"errors": {}}
    for part in LOOKS:
        try:
            seen.update(part(limits))
        except Exception as error:  # noqa: BLE001 - one failed attempt must not hide the others
            seen["errors"][part.__name__] = repr(error)
    tell(seen)
    for _ in range(LOG_BYTES // (MIB // 16)):
        sys.stdout.write("x" * (MIB // 16 - 1) + "\n")
    sys.stdout.flush()


def memory(limits: dict[str, int]) -> None:
    """Take memory, page by page."""
    step = 8 * MIB
    hoard = []
    while len(hoard) * step < 2 * limits["memory_bytes"]:
        hoard.append(b"x" * step)
        tell({"bytes": len(hoard) * step})


def processes(limits: dict[str, int]) -> None:
    """Fork until it is refused."""
    count, answer = 1, "done"
    while count < 2 * limits["processes"] and answer == "done":
        try:
            if os.fork() == 0:
                signal.pause()
        except OSError as error:
            answer = errno.errorcode[error.errno or 0]
        else:
            count += 1
            tell({"processes": count})


def cpu(_: dict[str, int]) -> None:
    """Compute in as many processes as there are processors, and for ever."""
    for _ in range(len(os.sched_getaffinity(0)) - 1):
        if os.fork() == 0:
            break
    while True:
        pass


def deadline(_: dict[str, int]) -> None:
    """Stay, in a grandchild too, whatever signal comes."""
    os.fork()
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
        attempt(lambda number=number: signal.signal(number, signal.SIG_IGN))  # type: ignore[misc] # a closure over this turn's signal
    while True:
        time.sleep(60)


TASKS: Final = {"look": look, "memory": memory, "processes": processes, "cpu": cpu, "deadline": deadline}


def main() -> None:
    """Do what the task says."""
    task = json.loads(Path(FOLDER, "task").read_text())
    TASKS[task["name"]](task["limits"])


if __name__ == "__main__":
    main()
