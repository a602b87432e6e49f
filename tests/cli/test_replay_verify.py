"""Tests of ``arena replay verify``."""

import json
from pathlib import Path

from .command import arena

GOLDEN = Path(__file__).parents[1] / "golden"
LINES = b"".join(path.read_bytes() for path in sorted(GOLDEN.glob("*.jsonl")))


def test_true_games_are_counted(tmp_path: Path) -> None:
    """All golden games are valid and counted, from a file and from stdin."""
    (tmp_path / "g.jsonl").write_bytes(LINES)
    for args, text in ((("g.jsonl",), b""), (("-",), LINES)):
        done = arena("replay", "verify", *args, folder=tmp_path, text=text)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"40 games verified\n", b"")


def test_a_single_document_may_have_many_lines(tmp_path: Path) -> None:
    """A replay may contain line breaks. Blank lines are skipped."""
    document = json.loads(LINES.splitlines()[0])
    done = arena("replay", "verify", "-", folder=tmp_path, text=json.dumps(document, indent=2).encode())
    assert (done.returncode, done.stdout) == (0, b"1 game verified\n")
    done = arena("replay", "verify", "-", folder=tmp_path, text=LINES.replace(b"\n", b"\n\r\n"))
    assert (done.returncode, done.stdout) == (0, b"40 games verified\n")


def test_the_first_difference_is_named_with_its_line(tmp_path: Path) -> None:
    """The message has line, game, path, and both values: the file's and the rules'. The exit code is 1."""
    lines = LINES.splitlines()
    document = json.loads(lines[2])
    total = document["totals"][1]
    document["totals"][1] += 1
    lines[2] = lines[5] = json.dumps(document).encode()
    done = arena("replay", "verify", "-", folder=tmp_path, text=b"\n".join(lines))
    assert done.returncode == 1
    assert done.stderr == b""
    assert done.stdout.decode() == (
        f"line 3, game {document['game']}: totals[1]: is {total + 1}, but the rules give {total}\n"
    )
