"""Run ``arena`` as a user does."""

import os
import subprocess
import sys
from pathlib import Path

from tests.cli import forked

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "from arena.cli.main import main; main()"]


def environment() -> dict[str, str]:
    """Return an environment in which the command finds the package from any folder."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def arena(
    *args: str | Path, folder: Path, text: str = "", **settings: str
) -> "subprocess.CompletedProcess[str]":
    """Run a command to its end in a folder, with these settings in its environment."""
    return forked.run([*map(str, args)], folder, environment() | settings, text=text)


def bot(folder: Path, name: str, text: str) -> str:
    """Write a bot's folder, and return the path to give to commands."""
    (folder / name).mkdir()
    (folder / name / "bot.py").write_text(text)
    return f"./{name}"


DICE = """
import random

def choose(view):
    moves = view.legal_moves()
    return moves[int(random.random() * len(moves))]
"""
"""A bot that plays at random."""

FIRST = """
class Bot:
    def choose(self, view):
        print("thinking")
        return view.legal_moves()[0]
"""
"""A bot that chooses the first move, and prints something."""

LOOP = """
import time

def choose(view):
    while True:
        time.sleep(1)
"""
"""A bot that never answers. It uses no processor time; tests/local has bots that do."""
