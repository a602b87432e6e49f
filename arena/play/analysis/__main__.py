"""The analyst's process: reads a replay as a line of JSON, and writes the analysis as JSON.

It runs only when the host's CPUs are otherwise idle, and exits when its stdin is closed.
"""

import argparse
import os
import sys
import threading

import msgspec

from arena.play.analysis.analyst import analyse, house_bots
from arena.play.botfiles import samples
from arena.play.replay.document import parse


def _end_with_stdin() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


def main() -> None:
    """Analyse one game."""
    parser = argparse.ArgumentParser(
        prog="python -m arena.play.analysis",
        description="Analyse a replay: read a line of JSON from stdin, and write the analysis to stdout.",
    )
    parser.add_argument("--playouts", type=int, required=True, help="playouts per position and option")
    given = parser.parse_args()
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    replay = parse(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    sys.stdout.buffer.write(
        msgspec.json.encode(analyse(replay, playouts=given.playouts, bots=house_bots(samples())))
    )
    sys.stdout.flush()
    os._exit(0)  # the other thread is still reading stdin


if __name__ == "__main__":
    main()
