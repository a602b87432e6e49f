"""The probe's attacks on files (write everywhere, fill /tmp, attack the socket), and its output."""

import ctypes
import errno
import json
import os
import socket
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

FOLDER: Final = "/run/arena"
TMP: Final = "/tmp"  # noqa: S108 - in the container
MIB: Final = 1024 * 1024
LIBC: Final = ctypes.CDLL(None, use_errno=True)


def report(seen: dict[str, Any]) -> None:
    """Print the observations, in one write."""
    os.write(2, b"canary " + json.dumps(seen).encode() + b"\n")


def attempt(act: Callable[..., object], *arguments: object) -> str:
    """Call ``act``; return ``done``, or the name of the error that it raised."""
    try:
        act(*arguments)
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))
    return "done"


def answer_of(result: int) -> str:
    """Return ``done`` or the name of the error, given the result of a C library call."""
    return "done" if result >= 0 else errno.errorcode[ctypes.get_errno()]


def in_child(act: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever `act` returns
    """Call ``act`` in a child process, so that this process's state doesn't change; return its result."""
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


_SECOND: Final = 1
_SETTINGS: Final = ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/kernel/uevent_helper")
_ALL_PERMISSIONS: Final = 0o777
_MAX_FILES: Final = 20
"""Maximum number of files to try per folder in /proc or /sys."""

_LEAKING_FILES: Final = ("pagemap", "smaps", "smaps_rollup", "schedstat", "net/softnet_stat", "net/sockstat")
"""Files in a process's folder that disclose other containers' pages, or the host's load or packets."""


def writable(_: dict[str, int]) -> dict[str, Any]:
    """Try to create a file in every folder, to open kernel settings, and to connect to every socket."""
    written, reachable = [], []
    for folder, special in _folders():
        path = Path(folder, "kaiten-canary")
        if attempt(_create_file, path) == "done":
            written.append(folder)
            path.unlink()
        sockets = [name for name in special if stat.S_ISSOCK(os.lstat(name).st_mode)]
        reachable += [name for name in sockets if _connect(name) == "done"]
    written += [path for path in _SETTINGS if attempt(_open_for_writing, path) == "done"]
    return {"written": written, "reachable_sockets": reachable}


def _create_file(path: Path) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))


def _open_for_writing(path: str) -> None:
    os.close(os.open(path, os.O_WRONLY))


def _folders() -> Iterator[tuple[str, list[str]]]:
    """Yield every folder with its special files, except FOLDER and the folders in /proc and /sys."""
    waiting = ["/"]
    while waiting:
        folder = waiting.pop()
        below, special = [], []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        below += [entry.path] if entry.path != FOLDER else []
                    elif not (entry.is_symlink() or entry.is_file(follow_symlinks=False)):
                        special.append(entry.path)
        except OSError:
            pass  # a folder that can't be read may still be writable
        yield folder, special
        if folder not in {"/proc", "/sys"}:
            waiting += below


def host_files(_: dict[str, int]) -> dict[str, Any]:
    """Try to read files about the whole host, and to open a terminal.

    The files are _LEAKING_FILES, and those in /proc and /sys except the files of processes and control
    groups. One readable file per folder is enough.
    """
    found = [_readable(iter([f"/proc/self/{name}"])) for name in _LEAKING_FILES]
    for entry in sorted(os.scandir("/proc"), key=lambda entry: entry.name):
        if entry.name.isdigit() or entry.is_symlink():
            continue
        found.append(_readable(_files_below(entry.path) if entry.is_dir() else iter([entry.path])))
    found += [_readable(_files_below(str(folder))) for folder in sorted(Path("/sys").iterdir())]
    return {
        "host_files": [path for path in found if path],
        "terminal": attempt(os.open, "/dev/ptmx", os.O_RDWR | os.O_NOCTTY),
    }


def _readable(paths: Iterator[str]) -> str | None:
    return next((path for path in paths if attempt(_read, path) == "done"), None)


def _files_below(folder: str) -> Iterator[str]:
    for where, folders, names in os.walk(folder):
        if where == "/sys/fs":
            folders[:] = [name for name in folders if name != "cgroup"]
        yield from (f"{where}/{name}" for name in sorted(names)[:_MAX_FILES])


def _read(path: str) -> None:
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        if not os.read(file, 1):
            raise FileNotFoundError(errno.ENOENT, "it is empty", path)
    finally:
        os.close(file)


def _connect(path: str) -> str:
    with socket.socket(socket.AF_UNIX) as channel:
        channel.settimeout(_SECOND)
        return attempt(channel.connect, path)


def channel(_: dict[str, int]) -> dict[str, Any]:
    """Use the referee's socket, connect to another slot's socket, then try to change the socket folder."""
    own = Path(FOLDER, "referee.sock")
    seen = {"referee": _connect(str(own)), "foreign": _connect(f"{FOLDER}/other.sock")}
    with socket.socket(socket.AF_UNIX) as server:
        attacks = {
            "make": attempt(_create_file, Path(FOLDER, "new")),
            "bind": attempt(server.bind, f"{FOLDER}/new.sock"),
            "chmod": attempt(own.chmod, _ALL_PERMISSIONS),
            "rename": attempt(own.rename, f"{FOLDER}/old.sock"),
            "unlink": attempt(own.unlink),
        }
    return {**seen, "attacks": attacks}


def tmp(limits: dict[str, int]) -> dict[str, Any]:
    """Fill /tmp with bytes, then with files; run a program from it."""
    size = _fill_with_bytes(2 * limits["tmp_bytes"])
    empty_tmp()
    count = _fill_with_files(2 * limits["tmp_files"])
    empty_tmp()
    program = Path(TMP, "program")
    program.write_text("#!/bin/sh\n")
    program.chmod(_ALL_PERMISSIONS)
    executed = attempt(_run, program)
    program.unlink()
    return {"tmp_bytes": size, "tmp_files": count, "tmp_executed": executed}


def _fill_with_bytes(maximum: int) -> int:
    size, block = 0, bytes(MIB // 4)
    try:
        while size < maximum:
            with Path(TMP, f"bytes{size}").open("wb", buffering=0) as file:
                size += file.write(block)
    except OSError:
        pass  # full
    return size


def _fill_with_files(maximum: int) -> int:
    count = 0
    while count < maximum and attempt(_create_file, Path(TMP, str(count))) == "done":
        count += 1
    return count


def _run(program: Path) -> None:
    subprocess.run([str(program)], check=False)  # noqa: S603 - the probe's own program


def empty_tmp() -> None:
    """Remove the files in /tmp."""
    for path in Path(TMP).iterdir():
        path.unlink()
