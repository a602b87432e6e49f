"""A student who follows the tutorial gets what it says."""

import json
import re
import runpy
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from arena.sdk import play
from tests.docs.documents import DOCS, ROOT, blocks, code_lines

TUTORIAL = DOCS / "first-bot.md"
PAGES = pytest.mark.parametrize("page", [TUTORIAL, ROOT / "README.md"], ids=["tutorial", "readme"])


def write_bot(folder: Path, page: Path) -> Path:
    """Write the first Python block of a page as mybot/bot.py."""
    file = folder / "mybot" / "bot.py"
    file.parent.mkdir()
    file.write_text(blocks(page, "python")[0])
    return file


def run(command: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run a command line of the tutorial with this Python's programs."""
    program, *arguments = shlex.split(command)
    return subprocess.run(  # noqa: S603 - a line of our own documentation
        [Path(sys.executable).parent / Path(program).name, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def command(page: Path, start: str) -> str:
    """Return the page's command line with that beginning."""
    return next(line for line in code_lines(page) if line.startswith(start))


@PAGES
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_bot_plays_legally(page: Path, players: int, tmp_path: Path) -> None:
    """The bot as printed plays whole games at every number of players."""
    choose = runpy.run_path(str(write_bot(tmp_path, page)))["choose"]
    for seed in range(20):
        assert play([choose] * players, seed=seed).over


def test_the_commands_do_what_the_tutorial_says(tmp_path: Path) -> None:
    """Simulating, verifying and counting give the numbers in the text."""
    write_bot(tmp_path, TUTORIAL)
    simulated = run(command(TUTORIAL, ".venv/bin/arena simulate"), tmp_path)
    assert simulated.returncode == 0, simulated.stderr
    verified = run(command(TUTORIAL, ".venv/bin/arena replay verify"), tmp_path)
    assert verified.stdout.strip() == "200 games verified"
    wins: Counter[str] = Counter()
    for line in (tmp_path / "games.jsonl").read_text().splitlines():
        game = json.loads(line)
        wins.update(
            seat["bot"] for seat, place in zip(game["seats"], game["places"], strict=True) if place == 1
        )
    said = re.search(
        r"counts (\d+) wins of 200 for `mybot`, (\d+) for `greedy` and (\d+) for `random`",
        TUTORIAL.read_text(),
    )
    assert said is not None
    assert wins == dict(zip(["mybot", "greedy", "random"], map(int, said.groups()), strict=True))


def test_a_bot_that_is_started_by_hand_explains_itself(tmp_path: Path) -> None:
    """As in step 1."""
    write_bot(tmp_path, TUTORIAL)
    ended = run(command(TUTORIAL, ".venv/bin/python mybot/bot.py"), tmp_path)
    assert ended.returncode == 2
    said = "ARENA_REFEREE is not set: this bot is meant to be started by the arena"
    assert said in ended.stderr
    assert said in TUTORIAL.read_text()


def test_the_dockerfile_is_that_of_the_sample_bots() -> None:
    """What builds for them builds for a student."""
    assert blocks(TUTORIAL, "dockerfile") == [(ROOT / "bots" / "greedy" / "Dockerfile").read_text()]


@pytest.mark.parametrize("page", [TUTORIAL, ROOT / "bots" / "README.md"], ids=["tutorial", "bots"])
def test_every_sample_bot_is_listed(page: Path) -> None:
    """Each bot with a README is linked."""
    for readme in ROOT.glob("bots/*/README.md"):
        if (readme.parent / "bot.py").exists():
            assert f"{readme.parent.name}/README.md" in page.read_text()
