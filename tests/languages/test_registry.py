"""Tests of bots' languages: how the arena recognises them and starts their bots."""

import pytest

from arena.languages.javascript import JAVASCRIPT
from arena.languages.language import Language
from arena.languages.python import PYTHON
from arena.languages.registry import LANGUAGES, UploadKind, language_of


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("bot.py", PYTHON),
        ("my.strategy.PY", PYTHON),
        ("greedy.js", JAVASCRIPT),
        ("greedy.mjs", JAVASCRIPT),
        ("folder/greedy.mjs", JAVASCRIPT),
        ("bot.cjs", None),
        ("bot.ts", None),
        ("py", None),
        (".py", None),
        ("", None),
    ],
)
def test_a_files_suffix_determines_its_language(name: str, language: Language | None) -> None:
    """Only the last suffix counts, whatever its case. A name without a suffix has no language."""
    assert language_of(name) is language


def test_a_bots_file_is_started_by_its_path() -> None:
    """Each language's command and image are those of its Dockerfiles."""
    assert PYTHON.command == ("python3", "/bot/bot.py")
    assert JAVASCRIPT.command == ("node", "/bot/bot.js")
    assert PYTHON.base_image == "kaiten/bot-base-python:latest"
    assert JAVASCRIPT.base_image == "kaiten/bot-base-javascript:latest"


def test_languages_have_different_names_files_and_suffixes() -> None:
    """Each name, file and suffix identifies one language."""
    names = [language.name for language in LANGUAGES]
    files = [language.file for language in LANGUAGES]
    suffixes = [suffix for language in LANGUAGES for suffix in language.suffixes]
    for told in (names, files, suffixes):
        assert len(set(told)) == len(told)


def test_each_language_can_be_uploaded() -> None:
    """The kinds of files are the languages, with their titles and suffixes, and images."""
    kinds = {kind.value: (kind.label, kind.suffix) for kind in UploadKind}
    languages = {language.name: (language.title, language.suffixes[0]) for language in LANGUAGES}
    assert kinds == {"image": ("Image", ".tar")} | languages
