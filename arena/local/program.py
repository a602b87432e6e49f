"""Runs a Python bot's file as a program: ``python -m arena.local.program FILE``.

The file needn't end with ``run(...)``, so bots that can be called in process also work as programs.
"""

import sys
from pathlib import Path

from arena.play.botfiles import load_bot
from arena.sdk import run

if __name__ == "__main__":
    run(load_bot(Path(sys.argv[1])))
