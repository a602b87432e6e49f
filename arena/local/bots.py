"""Finds the bots given to a command: files, folders, house bots, and programs in any language."""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Final

from arena.languages.language import Language
from arena.languages.python import PYTHON
from arena.languages.registry import LANGUAGES, language_of
from arena.platform.names import HOUSE
from arena.play.botfiles import bot_names, samples

_SELF: Final = "local"
_IMPORT: Final = re.compile(
    r"(?:^|[:;])[ \t]*(?:from|import)\b(?:[^\n(\\]|\\[\s\S])*(?:\((?:#.*|[^)#])*)?", re.MULTILINE
)
_QUOTED: Final = re.compile(r"""(?<=["'`])[^"'`\n]+(?=["'`])""")
_SOURCES: Final = frozenset(suffix for language in LANGUAGES for suffix in language.suffixes) | {".cjs"}
_MODULES: Final = _SOURCES | {".json", ".node", ".pyd", ".so"}
"""Suffixes of files that an import may name without the suffix."""
_FOLDERS_MODULES: Final = frozenset({"__init__", "index"})
"""Modules that are loaded when their folder is imported."""
_LIBRARIES: Final = frozenset({"arena", "node_modules"})
"""Folders that contain no code of a bot's author."""


class UnusableBot(ValueError):
    """A bot can't be used. The message says why, and what to specify instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalBot:
    """A bot on this machine."""

    name: str  # unique within a run
    word: str  # how to specify it in a shell
    author: str  # `house` or `local`
    file: Path | None = None  # its source file, or None for a command
    # The command that starts it as a program. `ARENA_REFEREE` gives the program the referee's address.
    command: tuple[str, ...]
    language: Language | None = None  # of the file, or None for a command

    @property
    def in_process(self) -> bool:
        """True if its code can be called in one of the arena's processes."""
        return self.language is PYTHON


def find_bot(word: str) -> LocalBot:
    """Return the bot that a word specifies: a source file, a folder with one, a program, or a house bot.

    Raises UnusableBot if there is no such bot, it can't be read, or its language is unknown.
    """
    try:
        return _find_bot(word)
    except (OSError, RuntimeError) as error:  # for example, no permission, or ~ with an unknown user
        raise UnusableBot(f"can't read {word}: {error}") from error


def _find_bot(word: str) -> LocalBot:
    if not word:
        raise UnusableBot("a bot's name is empty")
    path = Path(word).expanduser()
    if path.is_file():
        return _bot_of_file(path, word)
    if "/" not in word and (language := _language_in(samples() / word)) is not None:
        return _source_file_bot(word, word, HOUSE, samples() / word / language.file, language)
    if path.is_dir():
        return _bot_of_folder(path, word)
    if path.suffix or "/" in word:
        raise UnusableBot(f"no such file or folder: {word}")
    names = bot_names(samples())
    near = get_close_matches(word, names, 1)
    meant = f" Did you mean {near[0]}?" if near else ""
    raise UnusableBot(
        f"there is no bot called {word!r}.{meant} House bots: {', '.join(names) or 'none installed'}. "
        "Specify your own bot by its file or folder, such as mybot.py or ./mybot"
    )


def bot_of_command(line: str) -> LocalBot:
    """Return the bot that a command line starts. Raises UnusableBot if there is no such program."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UnusableBot(f"the command {line!r} can't be parsed ({error}): check its quotes") from error
    if not words:
        raise UnusableBot("the command is empty: give one, such as './a.out'")
    # The folder that contains `arena` may not be in PATH.
    program = shutil.which(words[0]) or shutil.which(words[0], path=str(Path(sys.executable).parent))
    if program is None:
        raise UnusableBot(
            f"the program {words[0]!r} in the command {line!r} doesn't exist or isn't executable"
        )
    command = (str(Path(program).absolute()), *words[1:])
    named = f"--bot {shlex.quote(line)}"
    return LocalBot(name=_text(Path(words[-1]).stem), word=named, author=_SELF, command=command)


def with_distinct_names(bots: Sequence[LocalBot]) -> tuple[LocalBot, ...]:
    """Return the bots with distinct names: the second ``mybot`` becomes ``mybot#2``."""
    seen: dict[str, int] = {}
    distinct = []
    for bot in bots:
        seen[bot.name] = number = seen.get(bot.name, 0) + 1
        distinct.append(bot if number == 1 else replace(bot, name=f"{bot.name}#{number}"))
    return tuple(distinct)


def bots_in(folder: Path) -> tuple[LocalBot, ...]:
    """Return all bots in a folder, sorted by name: its source files, and its subfolders that contain a bot.

    Raises UnusableBot if it is not a folder, can't be read, or has two bots with the same name.
    """
    if not folder.is_dir():
        raise UnusableBot(f"no such folder: {folder}")
    try:
        bots = [bot for path in sorted(folder.iterdir()) if (bot := _bot_at(path)) is not None]
    except (OSError, RuntimeError) as error:  # for example, no permission, or a loop of symbolic links
        raise UnusableBot(f"can't read {folder}: {error}") from error
    names = [bot.name for bot in bots]
    duplicates = sorted({name for name in names if names.count(name) > 1})
    if duplicates:
        raise UnusableBot(f"two bots in {folder} are called {duplicates[0]}: rename one of them")
    return tuple(sorted(bots, key=lambda bot: bot.name))


def digest_of(bot: LocalBot) -> str:
    """Return a hash of a bot's code, which docs/at-home.md defines in "Compare two bots".

    Raises UnusableBot if a file can't be read.
    """
    hashed = sha256(repr(bot.command).encode() if bot.file is None else b"")
    try:
        for main in _main_files(bot):
            for file in sorted(_code(main)):
                hashed.update(os.fsencode(file.relative_to(main.parent)) + b"\0")
                with file.open("rb") as content:
                    hashed.update(file_digest(content, "sha256").digest())
    except OSError as error:
        raise UnusableBot(f"can't read {bot.name}: {error}") from error
    return hashed.hexdigest()[:16]


def _main_files(bot: LocalBot) -> Iterator[Path]:
    if bot.file is not None:
        yield bot.file
    else:
        yield from (path for path in map(Path, bot.command) if path.is_file())


def _code(main: Path) -> set[Path]:
    """Return a file and, if it is source code, the files in its folder that it needs, directly or not."""
    code: set[Path] = set()
    names: set[str] = set()
    found = {main}
    while found:
        code |= found
        for file in found:
            if file.suffix.lower() in _SOURCES:
                text = file.read_text("utf-8", "surrogateescape")
                names |= _FOLDERS_MODULES
                for part in (*_IMPORT.findall(text), *_QUOTED.findall(text)):
                    names.update(part.split("/"), re.findall(r"\w+", part))
        # A program's folder may have thousands of files, or be unreadable.
        found = set(_named_in(main.parent, names)) - code if names else set()
    return code


def _named_in(folder: Path, names: set[str]) -> Iterator[Path]:
    """Yield the named files in a folder and in its named subfolders."""
    for path in folder.iterdir():
        if path.name in _LIBRARIES or path.name.startswith("."):
            continue
        called = {path.name}
        if path.suffix.lower() in _MODULES:
            called |= {path.stem, path.name.partition(".")[0]}  # fast.cpython-311-x86_64-linux-gnu.so is fast
        if not called.isdisjoint(names):
            if path.is_file():
                yield path
            elif path.is_dir():
                yield from _named_in(path, names)


def _bot_at(path: Path) -> LocalBot | None:
    if path.name.startswith((".", "_")):
        return None
    if path.is_dir():
        language = _language_in(path)
        return None if language is None else _folder_bot(path, str(path), language)
    return _bot_of_file(path, str(path)) if language_of(path.name) is not None else None


def _language_in(folder: Path) -> Language | None:
    """Return the language of a folder's source file, or None if there is no such file."""
    return next((language for language in LANGUAGES if (folder / language.file).is_file()), None)


def _bot_of_folder(path: Path, word: str) -> LocalBot:
    language = _language_in(path)
    if language is None:
        raise UnusableBot(
            f"{word} has no {' or '.join(language.file for language in LANGUAGES)}. For a bot in another "
            "language, give the program that you built, or a command, such as --bot 'java -jar mybot.jar'"
        )
    return _folder_bot(path, word, language)


def _folder_bot(folder: Path, word: str, language: Language) -> LocalBot:
    return _source_file_bot(folder.resolve().name, word, _SELF, folder / language.file, language)


def _bot_of_file(path: Path, word: str) -> LocalBot:
    language = language_of(path.name)
    if language is None and os.access(path, os.X_OK):
        command = (str(path.absolute()),)
        return LocalBot(name=_text(path.stem), word=shlex.quote(word), author=_SELF, command=command)
    if language is None:
        known = " or ".join(f"{known.title} ({known.suffixes[0]})" for known in LANGUAGES)
        raise UnusableBot(
            f"{path} is neither a program nor a source file in {known}. For a bot in another language, give "
            "the program that you built, or a command, such as --bot 'java -jar mybot.jar'"
        )
    name = path.resolve().parent.name if path.name == language.file else path.stem
    return _source_file_bot(name, word, _SELF, path, language)


def _source_file_bot(name: str, word: str, author: str, file: Path, language: Language) -> LocalBot:
    file = file.resolve()
    # -P: files in the current folder must not replace modules.
    as_program = (sys.executable, "-P", "-m", "arena.local.program")
    runner = as_program if language is PYTHON else language.interpreter
    command = (*runner, str(file))
    return LocalBot(
        name=_text(name), word=shlex.quote(word), author=author, file=file, command=command, language=language
    )


def _text(name: str) -> str:
    """Escape the bytes of a file's name that are not UTF-8. Otherwise JSON could not contain the name."""
    return os.fsencode(name).decode(errors="backslashreplace")
