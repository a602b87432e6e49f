"""Writes a new bot's files."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from arena.languages.registry import STARTERS, StarterLanguage
from arena.platform.names import check_name


class FolderTaken(ValueError):
    """The new bot's folder already exists."""


def write_starter(folder: Path, name: str, language: StarterLanguage) -> list[str]:
    """Write a new bot's files to a new folder, all or none, and return their names.

    Raises WrongName, FolderTaken or OSError.
    """
    check_name(name, "bot")
    starter = STARTERS[language]
    words = {"NAME": name, **starter.words}
    files = sorted(path for path in starter.folder.iterdir() if path.is_file())
    try:
        folder.mkdir()
    except FileExistsError as error:
        raise FolderTaken(f"{folder} already exists: remove it, or choose another name") from error
    try:
        for file in files:
            text = _fill_in(file.read_text(encoding="utf-8"), words)
            (folder / file.name).write_text(text, encoding="utf-8")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return [file.name for file in files]


def _fill_in(text: str, words: Mapping[str, str]) -> str:
    """Replace words in one pass, because the bot's name may contain one of them."""
    return re.sub("|".join(words), lambda word: words[word[0]], text)
