"""Tests of ``arena analyse`` and ``arena replay verify`` with files.

tests/cli/test_bots_online.py covers analyses as JSON and a site's games.
"""

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

    heading, text = done.stdout.split("\n", 1)
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
    assert (done.returncode, done.stdout) == (2, "")
    assert "greater than or equal to 8" in done.stderr


GOLDEN = Path(__file__).parents[1] / "golden"
LINES = "".join(path.read_text() for path in sorted(GOLDEN.glob("*.jsonl")))


def test_true_games_are_counted(tmp_path: Path) -> None:
    """All golden games are valid and counted, from a file and from stdin."""
    (tmp_path / "g.jsonl").write_text(LINES)
    for args, text in ((("g.jsonl",), ""), (("-",), LINES)):
        done = arena("replay", "verify", *args, folder=tmp_path, text=text)
        assert (done.returncode, done.stdout, done.stderr) == (0, "40 games verified\n", "")


def test_a_single_document_may_have_many_lines(tmp_path: Path) -> None:
    """A replay may contain line breaks. Blank lines are skipped."""
    document = json.loads(LINES.splitlines()[0])
    done = arena("replay", "verify", "-", folder=tmp_path, text=json.dumps(document, indent=2))
    assert (done.returncode, done.stdout) == (0, "1 game verified\n")
    done = arena("replay", "verify", "-", folder=tmp_path, text=LINES.replace("\n", "\n\r\n"))
    assert (done.returncode, done.stdout) == (0, "40 games verified\n")


def test_the_first_difference_is_named_with_its_line(tmp_path: Path) -> None:
    """The message has line, game, path, and both values: the file's and the rules'. The exit code is 1."""
    lines = LINES.splitlines()
    document = json.loads(lines[2])
    total = document["totals"][1]
    document["totals"][1] += 1
    lines[2] = lines[5] = json.dumps(document)
    done = arena("replay", "verify", "-", folder=tmp_path, text="\n".join(lines))
    assert done.returncode == 1
    assert done.stderr == ""
    assert done.stdout == (
        f"line 3, game {document['game']}: totals[1]: is {total + 1}, but the rules give {total}\n"
    )
