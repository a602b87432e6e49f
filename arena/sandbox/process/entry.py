"""Runs a bot until its launcher exits or its deadline passes. This script runs in the bot's process.

Usage: entry.py LIFELINE SECONDS FILE, or entry.py LIFELINE SECONDS -- COMMAND..., where LIFELINE is the read
end of a pipe that the launcher keeps open while it is running.

PR_SET_PDEATHSIG is unsuitable: it signals when the parent *thread* ends, which is too early if the launcher
has other threads.
"""

import os
import runpy
import select
import signal
import sys
import threading
from pathlib import Path


def _kill_group_at_end(lifeline: int, seconds: int) -> None:
    # Nothing is ever written to the pipe, so it becomes readable only when the other end is closed.
    if not select.select([lifeline], [], [], seconds)[0]:
        print(f"arena: ended by the hard deadline of {seconds} s", file=sys.stderr, flush=True)  # noqa: T201 - for the bot's author
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _exec_with_deadline(command: list[str], lifeline: int, seconds: int) -> None:
    """Replace this process with the command.

    A child, whose CPU time isn't measured, enforces the deadline.
    """
    if os.fork():
        try:
            os.execvp(command[0], command)  # noqa: S606 - the command is the author's own
        except OSError as error:
            what = f"{error.strerror} (check the file, and the interpreter that its first line names)"
            sys.exit(f"arena: can't run {command[0]}: {what}")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, sys.stderr.fileno())  # this process must not keep the command's stderr open
    _kill_group_at_end(lifeline, seconds)


def main() -> None:
    """Run the command, or run the file as ``python FILE`` does."""
    lifeline, seconds, file = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    if file == "--":
        _exec_with_deadline(sys.argv[4:], lifeline, seconds)
    threading.Thread(
        target=_kill_group_at_end, args=(lifeline, seconds), name="lifeline", daemon=True
    ).start()
    sys.argv = [file]
    sys.path[0] = str(Path(file).parent)
    runpy.run_path(file, run_name="__main__")


if __name__ == "__main__":
    main()
