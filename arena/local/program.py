"""Runs a Python bot's file as a program: ``python -P -m arena.local.program FILE``.

The file runs as on the ladder. It needn't call ``run(...)``, so bots that can be called in process also work
as programs.
"""

import sys
from importlib.util import decode_source
from pathlib import Path
from types import ModuleType

from arena.play.botfiles import bot_in
from arena.sdk import run

if __name__ == "__main__":
    file = Path(sys.argv[1]).absolute()
    sys.path.insert(0, str(file.parent))
    sys.argv = [str(file)]
    main = ModuleType("__main__")
    main.__file__ = str(file)
    # Pickle and multiprocessing look up the bot's classes and functions by this module name.
    sys.modules["__main__"] = main
    source = file.read_bytes()
    decode_source(source)  # a program must be valid; compile accepts any bytes in comments
    exec(compile(source, file, "exec"), vars(main))  # noqa: S102 - doesn't return if it calls run
    run(bot_in(main, file))
