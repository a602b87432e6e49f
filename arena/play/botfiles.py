"""Loads bots' files into this process.

A bot's folder contains ``bot.py``, which defines either a function ``choose(view)``, or a class ``Bot`` with
a method ``choose(self, view)``. The class is instantiated for every game.
"""

import os
import sys
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from importlib.util import decode_source
from itertools import count
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Final, TypeVar

from arena.platform.files import shared_folder
from arena.rules import View
from arena.sdk.bot import Answer, Bot, Choice, is_class, new_chooser

FILE: Final = "bot.py"

_CALL_RUN_LATER: Final = '. If it calls run(), it must do so inside an `if __name__ == "__main__":` block'

_STANDARD: Final = f"{Path(os.__file__).parent}/"
_INSTALLED: Final = frozenset({"dist-packages", "site-packages"})

_numbers = count()
_lock = RLock()  # held while a bot's code runs: a process has one sys.modules and one sys.path

T = TypeVar("T")


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

    The file and its functions can import modules in its folder. Every call runs the file and these modules
    again. If several threads call bots, the bots take turns. Raises BotBroken if the file has neither, or
    can't be loaded. An exception that the file raised is the cause.
    """
    file = file.absolute()
    modules = _BotModules(file.parent)
    with modules:
        bot = bot_in(_run(file), file)
    return _with_modules(bot, modules)


def bot_in(module: ModuleType, file: Path) -> Bot:
    """Return the ``Bot`` or ``choose`` of a module that was run from a file. Raises BotBroken."""
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
    module = ModuleType(name)
    module.__file__ = str(file)
    # The bot's dataclasses and pickles look up their module by name.
    sys.modules[name] = module
    try:
        decode_source(file.read_bytes())  # fails as for a program; a module may have any bytes in comments
        SourceFileLoader(name, str(file)).exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        hint = _CALL_RUN_LATER if isinstance(error, SystemExit) else ""
        raise BotBroken(f"{file} can't be loaded: {type(error).__name__}: {error}{hint}") from error
    return module


class _BotModules:
    """``sys.path``, and the modules that a bot imports from its folder.

    These modules are in ``sys.modules`` only within the context, because another bot's modules, or the
    caller's, may have the same names. All of the bot's code must run within it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = f"{folder}/"
        files = (*folder.glob("*"), *folder.glob("*/*"))  # the bot may add subfolders to sys.path
        self._files = {path.name.partition(".")[0] for path in files}
        self._size = 0
        self._names: set[str] = set()
        # What to exchange for the contents of sys.path and sys.modules.
        self._path = [str(folder), *sys.path]
        self._aside: dict[str, ModuleType] = {}

    def __enter__(self) -> None:
        _lock.acquire()
        self._exchange()

    def __exit__(self, *_: object) -> None:
        self._exchange()
        _lock.release()

    def _exchange(self) -> None:
        if len(sys.modules) != self._size:  # something was imported
            modules = list(sys.modules.items())  # looking at a lazy module imports it
            self._names.update([name for name, module in modules if self._is_private(name, module)])
        taken = {name: sys.modules.pop(name) for name in self._names & sys.modules.keys()}
        sys.modules.update(self._aside)
        self._aside = taken
        sys.path[:], self._path = self._path, sys.path[:]
        self._size = len(sys.modules)

    def _is_private(self, name: str, module: ModuleType) -> bool:
        """Return True if a module is the bot's own, or has the name of one of its files."""
        top = name.partition(".")[0]
        if top in {"__main__", "arena"}:
            return False
        places = (getattr(module, "__file__", None), *getattr(module, "__path__", ()))
        place = str(next(filter(None, places), _STANDARD))  # built-in modules have none
        if top not in self._files and not place.startswith(self._folder):
            return False
        # All bots share libraries.
        return not place.startswith(_STANDARD) and _INSTALLED.isdisjoint(Path(place).parts)


def _with_modules(bot: Bot, modules: _BotModules) -> Bot:
    """Return a bot that has these modules whenever it is called."""

    def bound(function: Callable[..., T]) -> Callable[..., T]:
        def call(*arguments: object) -> T:
            with modules:
                return function(*arguments)

        return call

    if not isinstance(bot, type):
        return bound(_without_iterators(bot))

    class Player:
        def __init__(self) -> None:
            chooser = bound(new_chooser)(bot)
            self._choose = bound(_without_iterators(chooser.choose))
            self.game_over = None if chooser.game_over is None else bound(chooser.game_over)

        def choose(self, view: View) -> Choice:
            return self._choose(view)

    return Player


def _without_iterators(choose: Callable[[View], Choice]) -> Callable[[View], Choice]:
    """Return a function that returns tuples instead of iterators, such as generators, which run more code."""

    def call(view: View) -> Choice:
        answer = choose(view)
        if isinstance(answer, Answer) and isinstance(answer.cards, Iterator):
            return answer._replace(cards=tuple(answer.cards))
        return tuple(answer) if isinstance(answer, Iterator) else answer

    return call
