"""Bots that fill what is finite: memory, /tmp, the disk, the log. Run in a bot's container."""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from tests.sandbox.hostile.bot import play, tell

_MIB: Final = 1024 * 1024
_MOST_MEMORY: Final = 400
_MOST_TMP: Final = 32
_MAX_FILES: Final = 2_000
_MOST_OUTPUT: Final = 24
_LEAST_OUTPUT: Final = 10
_OUTPUT_SECONDS: Final = 1.5
_SLOW_SECONDS: Final = 4.0
"""For less than ``_LEAST_OUTPUT``: on a busy host the engine may read slowly."""

_TMP: Final = Path("/tmp")  # noqa: S108 - the container's

_KERNEL_FILES: Final = (
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/hostname",
    "/proc/sys/net/ipv4/ip_forward",
    "/proc/sys/vm/overcommit_memory",
    "/proc/sysrq-trigger",
    "/proc/bus/pci/00/00.0",
    "/proc/irq/0/smp_affinity",
    "/sys/kernel/uevent_helper",
    "/sys/power/state",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    "/sys/fs/cgroup/pids/pids.max",
    "/sys/fs/cgroup/devices/devices.allow",
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/cgroup.procs",
)


def heap_bomb() -> None:
    """Take memory until none is left."""
    play(_heap_bomb)


def _heap_bomb() -> None:
    hoard = []
    for taken in range(0, _MOST_MEMORY, 10):
        hoard.append(b"x" * (10 * _MIB))
        tell(mebibytes=taken + 10)
    hoard.clear()


def fill_tmp() -> None:
    """Fill /tmp with bytes, then with files."""
    play(_fill_tmp)


def _fill_tmp() -> None:
    written = files = 0
    with suppress(OSError):
        for number in range(_MOST_TMP // 4):
            with (_TMP / f"large-{number}").open("wb", buffering=0) as file:
                for _ in range(4):
                    written += file.write(b"x" * _MIB)
    with suppress(OSError):
        for number in range(_MAX_FILES):
            (_TMP / f"small-{number}").touch(exist_ok=False)
            files += 1
    tell(mebibytes=written / _MIB, files=files)


def write_everywhere() -> None:
    """Create a file in every folder, and open every file and kernel setting for writing."""
    tell(written=[*_new_files(), *_overwritten(), *_turned()])
    play()


def _folders() -> Iterator[tuple[str, list[str]]]:
    for folder, names, files in os.walk("/"):
        if folder == "/":
            names[:] = [name for name in names if name not in {"proc", "sys", "tmp"}]
        names[:] = [name for name in names if not os.path.islink(f"{folder}/{name}")]  # noqa: PTH114 - thousands
        yield folder, files


def _new_files() -> Iterator[str]:
    for folder, _ in _folders():
        with suppress(OSError), open(f"{folder}/kaiten-was-here", "xb") as file:  # noqa: PTH123 - as above
            file.write(b"x" * 1024)
            yield folder


def _overwritten() -> Iterator[str]:
    for folder, files in _folders():
        for name in files:
            path = f"{folder}/{name}"
            if os.path.isfile(path) and not path.endswith("kaiten-was-here"):  # noqa: PTH113 - as above
                with suppress(OSError):
                    os.close(os.open(path, os.O_RDWR))
                    yield path


def _turned() -> Iterator[str]:
    for name in _KERNEL_FILES:
        with suppress(OSError):
            os.close(os.open(name, os.O_WRONLY))
            yield name
    try:
        Path("/proc/self/oom_score_adj").write_text("-1000")
    except OSError as error:
        if error.errno not in {errno.EACCES, errno.EPERM}:
            raise
    else:
        yield "/proc/self/oom_score_adj"


def flood_output() -> None:
    """Print as much as time allows."""
    play(_flood_output)


def _flood_output() -> None:
    begun = time.monotonic()
    printed = 0
    while printed < _MOST_OUTPUT * _MIB and time.monotonic() - begun < (
        _SLOW_SECONDS if printed < _LEAST_OUTPUT * _MIB else _OUTPUT_SECONDS
    ):
        for stream in (1, 1, 1, 2):
            printed += os.write(stream, b"x" * 65_535 + b"\n")
    tell(mebibytes=printed / _MIB)
