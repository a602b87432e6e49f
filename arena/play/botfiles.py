"""Loads bots' files into this process.

A bot's folder contains ``bot.py``, which defines either a function ``choose(view)``, or a class ``Bot`` with
a method ``choose(self, view)``. The class is instantiated for every game.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Final

from arena.platform.files import shared_folder
from arena.sdk.bot import Bot, is_class

FILE: Final = "bot.py"

_CALL_RUN_LATER: Final = '. If it calls run(), it must do so inside an `if __name__ == "__main__":` block'

_numbers = count()


class BotBroken(ValueError):
    """A bot's file can't be loaded, or has neither ``choose`` nor ``Bot``."""


def samples() -> Path:
    """Return the folder that contains the sample bots."""
    return shared_folder() / "bots"


def bot_names(folder: Path) -> tuple[str, ...]:
    """Return the names of the bots in a folder, sorted."""
    return tuple(sorted(file.parent.name for file in folder.glob(f"*/{FILE}")))


def load_bot(file: Path) -> Bot:
    """Run a bot's file in this process, and return its ``Bot`` or, if it has none, its ``choose``.

    The file can import modules in its folder. Every call runs the file and these modules again. Raises
    BotBroken if the file has neither, or can't be loaded. An exception that the file raised is the cause.
    """
    file = file.absolute()  # modules are recognised by their absolute paths
    module = _run(file)
    bot: Bot | None = getattr(module, "Bot", None)
    if callable(bot):
        try:
            is_class(bot)
        except TypeError as error:
            raise BotBroken(f"{file} has no bot: {error}") from None
        return bot
    choose: Bot | None = getattr(module, "choose", None)
    if callable(choose):
        return choose
    raise BotBroken(f"{file} has neither a function choose(view) nor a class Bot: define one of them")


def _run(file: Path) -> ModuleType:
    name = f"arena_bot_{next(_numbers)}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise BotBroken(f"{file} is not a Python file")
    module = module_from_spec(spec)
    # The bot's dataclasses and pickles look up their module by name.
    sys.modules[name] = module
    folder = str(file.parent)
    sys.path.insert(0, folder)
    before = set(sys.modules)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        hint = _CALL_RUN_LATER if isinstance(error, SystemExit) else ""
        raise BotBroken(f"{file} can't be loaded: {type(error).__name__}: {error}{hint}") from error
    finally:
        sys.path.remove(folder)
        # At the end of the path, so that functions can import modules later without shadowing libraries.
        sys.path.append(folder)
        _forget_modules(set(sys.modules) - before, file.parent)
    return module


def _forget_modules(names: set[str], folder: Path) -> None:
    """Forget a bot's modules, because those of the next bot may have the same names."""
    for name in names:
        origin = Path(getattr(sys.modules[name], "__file__", None) or "/")
        ours = name.partition(".")[0] == "arena" or "site-packages" in origin.parts
        if folder in origin.parents and not ours:
            del sys.modules[name]
