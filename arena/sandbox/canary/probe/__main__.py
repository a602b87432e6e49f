"""The probe's entry point, ``python3 -m probe`` in the canary's image."""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, Final, NoReturn

from . import files, kernel
from .files import FOLDER, MIB, attempt, report

LOG_BYTES: Final = 3 * MIB
ATTEMPTS: Final = (
    kernel.network,
    files.writable,
    files.channel,
    files.tmp,
    kernel.rights,
    kernel.calls,
    files.host_files,
    kernel.futexes,
    kernel.page_cache,
    kernel.options,
    kernel.limits_of_process,
    kernel.surroundings,
)


def look(limits: dict[str, int]) -> None:
    """Try everything that leaves this process alive, then flood the log."""
    seen: dict[str, Any] = {"errors": {}}
    for part in ATTEMPTS:
        try:
            seen.update(part(limits))
        except Exception as error:  # noqa: BLE001 - one failed attempt must not hide the others
            seen["errors"][part.__name__] = repr(error)
    report(seen)
    line = "x" * (MIB // 16 - 1) + "\n"
    for _ in range(LOG_BYTES // len(line)):
        sys.stdout.write(line)
    sys.stdout.flush()


_STEP: Final = 8 * MIB


def memory(limits: dict[str, int]) -> None:
    """Allocate memory, in steps."""
    hoard: list[bytes] = []
    while len(hoard) * _STEP < 2 * limits["memory_bytes"]:
        hoard.append(b"x" * _STEP)
        report({"bytes": len(hoard) * _STEP})


def processes(limits: dict[str, int]) -> None:
    """Fork until the kernel refuses."""
    count = 1
    while count < 2 * limits["processes"] and attempt(_fork_a_sleeper) == "done":
        count += 1
        report({"processes": count})


def _fork_a_sleeper() -> None:
    if os.fork() == 0:
        signal.pause()


def cpu(_: dict[str, int]) -> NoReturn:
    """Compute forever, in as many processes as there are processors."""
    for _other in range(len(os.sched_getaffinity(0)) - 1):
        if os.fork() == 0:
            break
    while True:
        pass


def deadline(_: dict[str, int]) -> NoReturn:
    """Ignore every signal, in a child process too."""
    os.fork()
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
        attempt(signal.signal, number, signal.SIG_IGN)
    while True:
        time.sleep(60)


TASKS: Final = {
    "look": look,
    "memory": memory,
    "processes": processes,
    "cpu": cpu,
    "deadline": deadline,
}


def main() -> None:
    """Run the task."""
    task = json.loads(Path(FOLDER, "task").read_text())
    TASKS[task["name"]](task["limits"])


if __name__ == "__main__":
    main()
