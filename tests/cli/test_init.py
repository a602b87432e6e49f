"""Tests that ``arena init`` creates bots that can play."""

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .command import ROOT, arena, environment


def test_a_bot_in_python_plays_and_passes_its_test(tmp_path: Path) -> None:
    """The commands in the bot's README work."""
    made = arena("init", "mybot", "--json", folder=tmp_path)
    assert made.returncode == 0, made.stderr
    files = json.loads(made.stdout)["files"]
    assert files == ["Dockerfile", "README.md", "bot.py", "test_bot.py"]
    assert sorted(path.name for path in (tmp_path / "mybot").iterdir()) == files
    assert arena("play", "./mybot", "greedy", "-n", "4", folder=tmp_path).returncode == 0
    done = subprocess.run(
        [sys.executable, "-m", "unittest"],
        cwd=tmp_path / "mybot",
        env=environment(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"Ran 2 tests" in done.stderr
    sample = (ROOT / "bots" / "greedy" / "Dockerfile").read_text()
    assert (tmp_path / "mybot" / "Dockerfile").read_text() == sample


def test_a_bot_in_javascript_passes_its_test(tmp_path: Path, node: str) -> None:
    """The bot needs the library in its ``node_modules``."""
    assert arena("init", "mybot", "--language", "javascript", folder=tmp_path).returncode == 0
    folder = tmp_path / "mybot"
    sample = (ROOT / "bots" / "greedy-js" / "Dockerfile").read_text()
    assert (folder / "Dockerfile").read_text() == sample
    library = ROOT / "arena" / "languages" / "javascript" / "kaiten"
    command = f"npm install --install-links {shlex.quote(str(library))} @grpc"
    assert command in (folder / "README.md").read_text()
    shutil.copytree(library, folder / "node_modules" / "kaiten")
    done = subprocess.run([node, "--test"], cwd=folder, capture_output=True, check=False)  # noqa: S603 - the bot's test
    assert done.returncode == 0, done.stdout
    assert b"pass 2" in done.stdout


def test_a_name_may_be_a_word_of_the_templates(tmp_path: Path) -> None:
    """A bot's name isn't replaced in the files, even if it is one of the templates' placeholders."""
    assert arena("init", "TEST-FILE", folder=tmp_path).returncode == 0
    text = (tmp_path / "TEST-FILE" / "README.md").read_text()
    assert text.startswith("# TEST-FILE\n")
    assert "arena submit bot.py --name TEST-FILE\n" in text


@pytest.mark.usefixtures("cpp_compiler")
def test_a_bot_in_cpp_builds_and_plays(tmp_path: Path) -> None:
    """As its README says, the bot passes its test, and plays through the bridge."""
    assert arena("init", "mybot", "--language", "cpp", folder=tmp_path).returncode == 0
    folder = tmp_path / "mybot"
    done = subprocess.run(
        ["make", "test", "CXXFLAGS=-O0 -Wall -Wextra"],  # noqa: S607 - the bot's test, built quickly
        cwd=folder,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(b"ok\n")
    assert done.stderr == b""
    played = arena("play", "greedy", "--bot", "arena bridge -- ./bot", "-n", "2", "--json", folder=folder)
    assert played.returncode == 0, played.stderr
    assert json.loads(played.stdout)["mistakes"] == []
    lines = (folder / "Dockerfile").read_text().splitlines()
    assert lines[1:] == ["COPY bot /bot/bot", 'ENTRYPOINT ["python3", "-m", "arena.sdk.bridge", "/bot/bot"]']


def test_an_unknown_language_names_the_known_ones(tmp_path: Path) -> None:
    """An unknown language is a usage error of the option."""
    done = arena("init", "mybot", "--language", "cobol", folder=tmp_path)
    assert done.returncode == 2
    assert "'python'" in done.stderr
    assert "'javascript'" in done.stderr
