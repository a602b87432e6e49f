"""Tests that the tutorial's commands and programs have the results that it describes."""

import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from arena.sdk import play
from tests.docs.documents import DOCS, ROOT, blocks, code_lines
from tests.soak import many

TUTORIAL = DOCS / "first-bot.md"
PAGES = pytest.mark.parametrize("page", [TUTORIAL, ROOT / "README.md"], ids=["tutorial", "readme"])


def write_bot(folder: Path, page: Path) -> Path:
    """Write the first Python block of a page as mybot/bot.py."""
    file = folder / "mybot" / "bot.py"
    file.parent.mkdir()
    file.write_text(blocks(page, "python")[0])
    return file


def run(command: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run a command line of the tutorial, using this Python installation's programs."""
    program, *arguments = shlex.split(command)
    return subprocess.run(  # noqa: S603 - a line from our documentation
        [Path(sys.executable).parent / Path(program).name, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def command(page: Path, start: str) -> str:
    """Return the page's first command line that starts with this text."""
    return next(line for line in code_lines(page) if line.startswith(start))


@PAGES
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_bot_plays_legally(page: Path, players: int, tmp_path: Path) -> None:
    """The bot on the page plays complete games at every table size."""
    choose = runpy.run_path(str(write_bot(tmp_path, page)))["choose"]
    for seed in range(many(5, 20)):
        assert play([choose] * players, seed=seed).over


def standings(text: str) -> list[list[str]]:
    """Return the rows of a printed standings table, without the times."""
    table = [line.split() for line in text.splitlines() if re.search(r"\d ± \d", line)]
    return [words[:-2] for words in table]


def test_the_games_end_as_the_tutorial_says(tmp_path: Path) -> None:
    """The page has the actual wins, places, points and faults."""
    write_bot(tmp_path, TUTORIAL)
    played = run(command(TUTORIAL, ".venv/bin/arena play"), tmp_path)
    assert played.returncode == 0, played.stderr
    said = standings(TUTORIAL.read_text())
    assert len(said) == 3
    assert standings(played.stdout) == said


def test_a_bot_that_is_started_by_hand_explains_itself(tmp_path: Path) -> None:
    """A bot started by hand prints the text in step 3."""
    write_bot(tmp_path, TUTORIAL)
    ended = run(command(TUTORIAL, ".venv/bin/python mybot/bot.py"), tmp_path)
    assert ended.returncode == 2
    said = "ARENA_REFEREE is not set: this bot is meant to be started by the arena"
    assert said in ended.stderr
    assert said in TUTORIAL.read_text()


def test_the_dockerfile_is_that_of_the_sample_bots() -> None:
    """The page's Dockerfile works, since it is the sample bots', which other tests build."""
    assert blocks(TUTORIAL, "dockerfile") == [(ROOT / "bots" / "greedy" / "Dockerfile").read_text()]


@pytest.mark.parametrize("page", [TUTORIAL, ROOT / "bots" / "README.md"], ids=["tutorial", "bots"])
def test_every_sample_bot_is_listed(page: Path) -> None:
    """The page has links to all bots with a README."""
    for readme in ROOT.glob("bots/*/README.md"):
        if (readme.parent / "bot.py").exists():
            assert f"{readme.parent.name}/README.md" in page.read_text()
