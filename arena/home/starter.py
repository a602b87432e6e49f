"""Files of a new bot."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from arena.languages.registry import STARTERS, StarterLanguage
from arena.platform.names import check_name


class FolderTaken(ValueError):
    """The new bot's folder already exists."""


def starter_files(name: str, language: StarterLanguage) -> Mapping[str, str]:
    """Return the text of each file of a new bot. Raises WrongName."""
    check_name(name, "bot")
    starter = STARTERS[language]
    words = {"NAME": name, **starter.words}
    files = sorted(path for path in starter.folder.iterdir() if path.is_file())
    return {file.name: _fill_in(file.read_text(encoding="utf-8"), words) for file in files}


def write_starter(folder: Path, files: Mapping[str, str]) -> None:
    """Write files into a new folder, all or none. Raises FolderTaken or OSError."""
    try:
        folder.mkdir()
    except FileExistsError as error:
        raise FolderTaken(f"{folder} already exists: remove it, or choose another name") from error
    try:
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _fill_in(text: str, words: Mapping[str, str]) -> str:
    """Replace words in one pass, because the bot's name may contain one of them."""
    return re.sub("|".join(words), lambda word: words[word[0]], text)
