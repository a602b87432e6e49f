"""Tests of ``arena analyse`` with files. tests/cli/test_bots_online.py covers JSON and a site's games."""

import json
from pathlib import Path

import msgspec

from arena.play.replay.document import encode
from arena.protocol.analysis import COSTLY, Analysis, Grade
from arena.rules import Rules
from tests.play.replay.games import replay_of

from .command import arena

GAME = replay_of(Rules(players=2))


def test_the_tables_show_turns_mistakes_and_seats(tmp_path: Path) -> None:
    """There is a row per turn, a row per mistake, and the number of each grade by seat.

    The analysis is added to the replay under its own key. The rest of the replay is unchanged and still
    valid.
    """
    (tmp_path / "g.jsonl").write_bytes(encode(GAME) + b"\n")
    done = arena("analyse", "g.jsonl", "--playouts", "8", "-o", "a.jsonl", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    written = (tmp_path / "a.jsonl").read_bytes()
    document = json.loads(written)
    analysis = msgspec.convert(document.pop("analysis"), Analysis)
    assert document == json.loads(encode(GAME))
    assert arena("replay", "verify", "a.jsonl", folder=tmp_path).returncode == 0

    heading, text = done.stdout.decode().split("\n", 1)
    assert heading.startswith("game game-1: ")
    turns, mistakes, seats = text.strip().split("\n\n")
    assert len(turns.splitlines()) == 1 + len(analysis.turns) + 1
    assert turns.count("turning point") == len(analysis.turning_points)
    assert len(mistakes.splitlines()) - 1 == sum(each.grade in COSTLY for each in analysis.decisions)
    for line, seat in zip(seats.splitlines()[1:], analysis.seats, strict=True):
        assert line.split()[3:7] == [str(seat.grades[grade]) for grade in Grade]


def test_too_few_playouts_are_wrong_usage(tmp_path: Path) -> None:
    """Results of too few playouts would be meaningless."""
    done = arena("analyse", "g.jsonl", "--playouts", "7", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"greater than or equal to 8" in done.stderr
