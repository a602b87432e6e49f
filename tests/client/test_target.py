"""Tests of what an author can send: existing files and folders, and images."""

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from arena.client.sending import repository, target_of
from arena.client.sites import CannotSend


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with several kinds of files, and return that folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "likes-maki").mkdir()
    (tmp_path / "likes-maki" / "Dockerfile").write_text("FROM scratch")
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "bot.py").write_text("pass")
    (tmp_path / "empty").mkdir()
    for name in ("mine.py", "mine.JS", "mine.mjs"):
        (tmp_path / name).write_text("pass")
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("manifest.json"))
    for name in ("saved.tar", "saved", "v1.2.tar"):
        (tmp_path / name).write_bytes(content.getvalue())
    for name in ("packed.tar.gz", "packed.tgz"):
        (tmp_path / name).write_bytes(gzip.compress(content.getvalue()))
    (tmp_path / "notes.txt").write_text("no bot")
    return tmp_path


@pytest.mark.parametrize(
    ("named", "language", "name"),
    [
        ("mine.py", "python", "mine"),
        ("./mine.JS", "javascript", "mine"),
        ("mine.mjs", "javascript", "mine"),
        ("likes-maki", None, "likes-maki"),
        ("bare/../likes-maki/", None, "likes-maki"),
        ("saved.tar", None, "saved"),
        ("saved", None, "saved"),
        ("v1.2.tar", None, "v1.2"),
        ("packed.tar.gz", None, "packed"),
        ("packed.tgz", None, "packed"),
        ("mybot", None, "mybot"),
        ("registry.example:5000/team/mybot:2", None, "mybot"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_the_kind_of_a_target_is_detected(named: str, language: str | None, name: str) -> None:
    """The bot gets the target's name, without tag, path or extension."""
    target = target_of(named)
    assert (target.language and target.language.name, target.name) == (language, name)
    assert target.path == (Path(named) if Path(named).exists() else None)


def test_the_current_folder_has_a_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a dot, the bot gets the current folder's name."""
    monkeypatch.chdir(folder / "likes-maki")
    assert target_of(".").name == "likes-maki"


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("bare", r"no Dockerfile: add one, or give its source file \(bare/bot\.py\)"),
        ("empty", "no Dockerfile: add one, or give a source file"),
        ("notes.txt", r"neither a source file \(\.py"),
        ("./nothing", "no such file or folder: ./nothing"),
        ("nothing.py", "no such file or folder: nothing.py"),
        ("nothing.tar.gz", "no such file or folder"),
        ("", "nor a valid image name"),
        ("two words", "nor a valid image name"),
        ("long" * 999, "can't be read"),
        ("nul\0", "nor a valid image name"),
        ("-", "nor a valid image name"),
        ("/dev/null", "not a regular file or folder"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_anything_else_is_refused_with_what_to_do(named: str, words: str) -> None:
    """Anything else is refused before an engine or a site is contacted."""
    with pytest.raises(CannotSend, match=words):
        target_of(named)


@pytest.mark.parametrize(
    "image", ["mybot", "mybot:2", "team/mybot", "localhost:5000/a/mybot:latest", "mybot@sha256:" + "0" * 64]
)
def test_an_images_repository_is_its_last_component(image: str) -> None:
    """Registry, path, tag and digest are dropped."""
    assert repository(image) == "mybot"
