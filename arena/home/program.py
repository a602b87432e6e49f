"""Runs a Python bot's file as a program: ``python -m arena.home.program FILE``.

The file needn't end with ``run(...)``, so what can be called in process can be played as a program too.
"""

import sys
from pathlib import Path

from arena.play.botfiles import load_bot
from arena.sdk import run

if __name__ == "__main__":
    run(load_bot(Path(sys.argv[1])))
