"""The folders of bots: find one by name or path, and load it into this process.

A bot's folder holds ``bot.py``, which offers either ``choose(view)`` or a
class ``Bot`` with a method ``choose(self, view)``, made anew for every game.

::

    BotFileError(ValueError)
    ├── BotNotFound    no such bot; names those there are
    └── BotBroken      its bot.py can't be loaded, or offers nothing to call
"""

import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Final

from arena.rules import View
from arena.sdk.answer import Choice
from arena.shared import shared_folder

FILE: Final = "bot.py"

Chooser = Callable[[View], Choice]
"""Answers one decision."""

Factory = Callable[[], Chooser]
"""Makes the chooser of one game."""

_numbers = count()


class BotFileError(ValueError):
    """A bot's folder can't be used."""


class BotNotFound(BotFileError):
    """There is no such bot."""


class BotBroken(BotFileError):
    """The bot's file can't be loaded or offers nothing to call."""


def samples() -> Path:
    """Return the folder of the sample bots."""
    return shared_folder() / "bots"


def known(folder: Path) -> tuple[str, ...]:
    """Return the names of the bots in a folder, sorted."""
    return tuple(sorted(file.parent.name for file in folder.glob(f"*/{FILE}")))


def find(name_or_path: str, folder: Path | None = None) -> Path:
    """Return the folder of a bot.

    Args:
        name_or_path: The name of a sample bot, or, with a slash in it, the
            path of a bot's folder.
        folder: Where names are looked up; the sample bots' folder if None.

    Raises:
        BotNotFound: There is no such bot.
    """
    if "/" in name_or_path:
        path = Path(name_or_path).expanduser()
        if not (path / FILE).is_file():
            raise BotNotFound(f"no bot in {name_or_path}: there is no file {FILE} in it")
        return path.resolve()
    folder = folder or samples()
    names = known(folder)
    if name_or_path not in names:
        raise BotNotFound(
            f"no bot is called {name_or_path!r}; known are {', '.join(names) or 'none'}"
            f" (in {folder}). A folder of your own is written with a slash, such as ./mine"
        )
    return folder / name_or_path


def load(path: Path) -> Factory:
    """Run a bot's file in this process and return the factory of its choosers.

    Every call runs the file anew, so that two seats share nothing.

    Raises:
        BotBroken: The file raises, or offers neither ``choose`` nor ``Bot``.
    """
    module = _run(path / FILE)
    bot, choose = getattr(module, "Bot", None), getattr(module, "choose", None)
    if callable(bot):
        return lambda: bot().choose
    if callable(choose):
        return lambda: choose
    raise BotBroken(f"{path / FILE} offers neither a function choose(view) nor a class Bot")


def _run(file: Path) -> ModuleType:
    name = f"arena_bot_{next(_numbers)}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise BotBroken(f"{file} is no Python file")
    module = module_from_spec(spec)
    # Dataclasses and pickles of the bot look their module up by name.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise BotBroken(f"{file} can't be loaded: {type(error).__name__}: {error}") from error
    return module
