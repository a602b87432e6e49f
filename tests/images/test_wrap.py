"""Wrapping a source file adds a layer to a base image, without running the file."""

import io
import re
import tarfile
from pathlib import Path

import pytest

from arena.images.image import BotImage, Command, Platform, Rejected
from arena.images.intake import language_for, wrap
from arena.languages.javascript import JAVASCRIPT
from arena.languages.language import MAX_SOURCE_BYTES, Language, source_problem
from arena.languages.python import PYTHON
from arena.languages.registry import LANGUAGES
from tests.images.builders import layer

BASE = BotImage(
    platform=Platform("linux", "arm64"),
    command=Command(cmd=("python3",), env=("PYTHONUNBUFFERED=1",), working_dir="/elsewhere"),
    layers=(layer(b"one"), layer(b"two")),
)
SOURCE = b"import pathlib\npathlib.Path('trace').touch()\nraise SystemExit('it ran')\n"


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_the_image_is_the_base_and_one_more_layer(language: Language) -> None:
    """The image runs the language's command, and has the base's variables and platform."""
    image, top = wrap(SOURCE, language, BASE)
    assert image.layers == (*BASE.layers, layer(top))
    assert image.platform == BASE.platform
    assert image.command == Command(
        entrypoint=language.command, env=("PYTHONUNBUFFERED=1",), working_dir="/bot"
    )


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_the_layer_contains_only_the_file_and_its_folder(language: Language) -> None:
    """The file and its folder belong to root, are readable by all users, and have the time 0."""
    _, top = wrap(SOURCE, language, BASE)
    with tarfile.open(fileobj=io.BytesIO(top)) as tar:
        folder, file = tar.getmembers()
        content = tar.extractfile(file)
        assert content is not None
        assert content.read() == SOURCE
    assert (folder.name, folder.isdir(), folder.mode) == ("bot", True, 0o755)
    assert (f"/{file.name}", file.isfile(), file.mode) == (language.path, True, 0o644)
    for member in (folder, file):
        assert (member.uid, member.gid, member.mtime, member.uname, member.gname) == (0, 0, 0, "", "")


def test_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrapping never runs the source, which may even be invalid Python."""
    monkeypatch.chdir(tmp_path)
    wrap(SOURCE, PYTHON, BASE)
    wrap(b"def (", PYTHON, BASE)
    assert list(tmp_path.iterdir()) == []


def test_wrapping_is_reproducible() -> None:
    """The same input gives the same image; another file, base or language gives another image."""
    image = wrap(SOURCE, PYTHON, BASE)[0]
    assert wrap(SOURCE, PYTHON, BASE)[0].id == image.id
    others = [
        wrap(SOURCE + b" ", PYTHON, BASE)[0],
        wrap(SOURCE, JAVASCRIPT, BASE)[0],
        wrap(SOURCE, PYTHON, image)[0],
    ]
    assert len({image.id, *(other.id for other in others)}) == 4


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (b"", "is empty"),
        (b" \n\t", "is empty"),
        (b"print(1)\0", "NUL"),
        (b"# caf\xe9", r"not UTF-8 \(byte 5\)"),
        (b"\xff\xfep\0", "NUL"),
        (b"#" * (MAX_SOURCE_BYTES + 1), "the limit of 1 MiB"),
    ],
    ids=["empty", "blank", "nul", "latin-1", "utf-16", "long"],
)
def test_an_invalid_source_file_is_rejected(source: bytes, words: str) -> None:
    """The error says why a source file is invalid."""
    assert re.search(words, str(source_problem(source)))


def test_the_longest_source_is_accepted() -> None:
    """A source file of exactly the maximum size is accepted."""
    assert source_problem(b"#" * MAX_SOURCE_BYTES) is None


@pytest.mark.parametrize("name", ["bot.rb", "bot", ".py", "bot.py.zip"])
def test_other_languages_are_sent_as_images(name: str) -> None:
    """The error lists the supported languages, and says how to send other bots."""
    with pytest.raises(Rejected, match=r"\.py \(Python\), \.js \(JavaScript\), \.mjs .*docker save"):
        language_for(name)
