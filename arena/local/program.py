"""Runs a Python bot's file as a program: ``python -m arena.local.program FILE``.

The file needn't end with ``run(...)``, so bots that can be called in process also work as programs.
"""

import sys
from pathlib import Path

from arena.play.botfiles import bot_of
from arena.sdk import run

if __name__ == "__main__":
    file = Path(sys.argv[1]).absolute()
    sys.path.insert(0, str(file.parent))
    run(bot_of(file))
