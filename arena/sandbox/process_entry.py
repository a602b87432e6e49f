"""Runs a bot's file, and ends with whoever started it or at its deadline. A script for a bot's own process.

Usage: process_entry.py LIFELINE SECONDS FILE, where LIFELINE is the read end of a pipe that
the launcher holds open for as long as it lives.

The kernel's own signal for a parent's death comes when the parent's *thread* ends,
which would kill the bots of a launcher that uses threads at the wrong moment.
"""

import os
import runpy
import select
import signal
import sys
import threading
from pathlib import Path


def _end_with(lifeline: int, seconds: int) -> None:
    # Nobody writes: it can be read when the other end is closed.
    if not select.select([lifeline], [], [], seconds)[0]:
        print(f"arena: ended by the hard deadline of {seconds} s", file=sys.stderr, flush=True)  # noqa: T201 - for the bot's author
    os.killpg(os.getpgrp(), signal.SIGKILL)


def main() -> None:
    """Run the file as ``__main__``, with its folder first on the path, as Python itself does."""
    lifeline, seconds, file = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    threading.Thread(target=_end_with, args=(lifeline, seconds), name="lifeline", daemon=True).start()
    sys.argv = [file]
    sys.path[0] = str(Path(file).parent)
    runpy.run_path(file, run_name="__main__")


if __name__ == "__main__":
    main()
