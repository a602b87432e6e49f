"""``arena analyse`` with replays in files; tests/cli/test_bots_online.py asks for a site's game."""

import json
from pathlib import Path

import msgspec
import pytest

from arena.cli.analyse import annotated
from arena.play.analysis.analyst import analyse, house_bots
from arena.play.botfiles import samples
from arena.play.replay.document import encode
from arena.protocol.analysis import Analysis, Grade
from arena.rules import Rules
from tests.play.replay.games import replay_of

from .command import arena

GAME = replay_of(Rules(players=2))
SMALL = ("--playouts", "8", "--seed", "3")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder with a game."""
    (tmp_path / "g.jsonl").write_bytes(encode(GAME) + b"\n")
    return tmp_path


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    """Give what the analyst says in process: the house bots make an analysis take seconds."""
    return analyse(GAME, seed=3, playouts=8, bots=house_bots(samples()))


def test_the_tables_show_turns_mistakes_and_seats(folder: Path, analysis: Analysis) -> None:
    """A row a turn, a row a mistake, and the number of each grade by seat.

    The replay gets the analysis under a key of its own: the rest stays as it was, and verifies.
    """
    done = arena("analyse", "g.jsonl", *SMALL, "-o", "a.jsonl", folder=folder)
    assert done.returncode == 0, done.stderr
    heading, text = done.stdout.decode().split("\n", 1)
    assert heading.startswith("game game-1: ")
    turns, mistakes, seats = text.strip().split("\n\n")
    assert len(turns.splitlines()) == 1 + len(analysis.turns) + 1
    assert turns.count("turning point") == len(analysis.turning_points)
    assert len(mistakes.splitlines()) - 1 == sum(
        each.grade in {Grade.INACCURACY, Grade.BLUNDER} for each in analysis.decisions
    )
    for line, seat in zip(seats.splitlines()[1:], analysis.seats, strict=True):
        assert line.split()[3:7] == [str(seat.grades[grade]) for grade in Grade]

    document = json.loads((folder / "a.jsonl").read_bytes())
    assert msgspec.convert(document.pop("analysis"), Analysis) == analysis
    assert document == json.loads(encode(GAME))
    assert arena("replay", "verify", "a.jsonl", folder=folder).returncode == 0


def test_json_is_the_analysts(folder: Path, analysis: Analysis) -> None:
    """The same numbers as in process, and so the same each time, also of what was analysed before."""
    (folder / "a.jsonl").write_bytes(annotated(GAME, analysis) + b"\n")
    done = arena("analyse", "a.jsonl", *SMALL, "--json", "-o", "a.jsonl", folder=folder)
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["games"]
    assert msgspec.convert(found, Analysis) == analysis
    assert b"1 game analysed, --playouts 8 --seed 3" in done.stderr
    assert (folder / "a.jsonl").read_bytes() == annotated(GAME, analysis) + b"\n"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("none.jsonl",), "no such file: none.jsonl"),
        (("bad.jsonl",), "bad.jsonl, line 1: totals[0]: is "),
        (("empty.jsonl",), "empty.jsonl contains no replay"),
        (("g.jsonl", "--json", "-o", "-"), "--json and the replays can't both go to stdout"),
        (("g.jsonl", "--playouts", "7"), "greater than or equal to 8"),
        (("g.jsonl", *SMALL, "-o", "no/folder.jsonl"), "can't write no/folder.jsonl"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, args: tuple[str, ...], said: str) -> None:
    """Exit code 2, and nothing on stdout."""
    document = json.loads(encode(GAME))
    document["totals"][0] += 1
    (folder / "bad.jsonl").write_text(json.dumps(document))
    (folder / "empty.jsonl").write_text("")
    done = arena("analyse", *args, folder=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in done.stderr.decode()
