"""Test of files that an operator can't add as bots."""

from pathlib import Path

import pytest

from arena.protocol.sandbox_controls import CONTROL_NAMES
from tests.databases import sqlite_store
from tests.demo.running import Place

pytestmark = pytest.mark.docker

ACCEPTED = {"ARENA_ACCEPT_MISSING": ",".join(CONTROL_NAMES)}
"""This test is about files. Other tests check the host's controls."""


def test_what_is_refused(arena: Place, tmp_path: Path) -> None:
    """The message has the reason and no traceback, and nothing is added or stored."""
    folder = tmp_path / "mybot"
    folder.mkdir()
    (folder / "Dockerfile").write_text("FROM scratch")
    source = tmp_path / "mine.py"
    source.write_text("pass")

    def refusal(name: str, file: Path, author: str = "ann", **more: str) -> str:
        ended = arena.run("admin", "add-bot", name, str(file), "--author", author, **ACCEPTED, **more)
        assert ended.returncode in {1, 2}
        assert "Traceback" not in ended.stderr
        assert ended.stdout == ""
        return ended.stderr

    assert "no arena in" in refusal("mine", source)
    arena.data.mkdir()
    sqlite_store(arena.data / "arena.sqlite3").close()
    assert "docker build -t mybot" in refusal("mine", folder)
    assert "docker save mybot -o mybot.tar" in refusal("mine", folder)
    assert "only in containers" in refusal("mine", source, ARENA_SANDBOX="process")
    assert "untrusted bots are refused" in refusal("mine", source)
    assert "is not a valid bot name" in refusal("na\N{RIGHT-TO-LEFT OVERRIDE}me", source)
    assert "the name house is reserved for the arena" in refusal("mine", source, author="house")
    assert arena.board() == []
    assert list((arena.data / "images").rglob("*")) == []
