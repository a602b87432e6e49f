"""The probe's attempts on files: write everywhere, fill /tmp, attack the socket."""

import os
import socket
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from .attempts import FOLDER, MIB, TMP, attempt

_SECOND: Final = 1
_STEERING: Final = ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/kernel/uevent_helper")
_ANYBODY: Final = 0o777


def writable(_: dict[str, int]) -> dict[str, Any]:
    """Try to make a file in every folder, to open what steers the kernel, and to dial every socket."""
    written, dialled = [], []
    for folder, special in _folders():
        path = Path(folder, "kaiten-canary")
        if attempt(_make, path) == "done":
            written.append(folder)
            path.unlink()
        sockets = [name for name in special if stat.S_ISSOCK(os.lstat(name).st_mode)]
        dialled += [name for name in sockets if _dial(name) == "done"]
    written += [path for path in _STEERING if attempt(_open_for_writing, path) == "done"]
    return {"written": written, "dialled": dialled}


def _make(path: Path) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))


def _open_for_writing(path: str) -> None:
    os.close(os.open(path, os.O_WRONLY))


def _folders() -> Iterator[tuple[str, list[str]]]:
    """Give every folder with its special files; of /proc and /sys only their tops, of FOLDER nothing."""
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
            pass  # it can't be read; perhaps it can be written
        yield folder, special
        if folder not in {"/proc", "/sys"}:
            waiting += below


def _dial(path: str) -> str:
    with socket.socket(socket.AF_UNIX) as channel:
        channel.settimeout(_SECOND)
        return attempt(channel.connect, path)


def channel(_: dict[str, int]) -> dict[str, Any]:
    """Use the referee's socket, dial the one beside it, which is another slot's, then attack its own."""
    own = Path(FOLDER, "referee.sock")
    seen = {"referee": _dial(str(own)), "foreign": _dial(f"{FOLDER}/other.sock")}
    with socket.socket(socket.AF_UNIX) as server:
        attacks = {
            "make": attempt(_make, Path(FOLDER, "new")),
            "bind": attempt(server.bind, f"{FOLDER}/new.sock"),
            "chmod": attempt(own.chmod, _ANYBODY),
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
    program.chmod(_ANYBODY)
    executed = attempt(_run, program)
    program.unlink()
    return {"tmp_bytes": size, "tmp_files": count, "tmp_executed": executed}


def _fill_with_bytes(most: int) -> int:
    size, block = 0, bytes(MIB // 4)
    try:
        while size < most:
            with Path(TMP, f"bytes{size}").open("wb", buffering=0) as file:
                size += file.write(block)
    except OSError:
        pass  # full
    return size


def _fill_with_files(most: int) -> int:
    count = 0
    while count < most and attempt(_make, Path(TMP, str(count))) == "done":
        count += 1
    return count


def _run(program: Path) -> None:
    subprocess.run([str(program)], check=False)  # noqa: S603 - the probe's own


def empty_tmp() -> None:
    """Remove what was put into /tmp."""
    for path in Path(TMP).iterdir():
        path.unlink()
