"""``arena replay verify``."""

import json
from pathlib import Path

import pytest

from .command import arena

GOLDEN = Path(__file__).parents[1] / "golden"
LINES = b"".join(path.read_bytes() for path in sorted(GOLDEN.glob("*.jsonl")))


def test_true_games_are_counted(tmp_path: Path) -> None:
    """The golden games of every combination, from a file and from stdin."""
    (tmp_path / "g.jsonl").write_bytes(LINES)
    for args, text in ((("g.jsonl",), b""), (("-",), LINES)):
        done = arena("replay", "verify", *args, folder=tmp_path, text=text)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"40 games verified\n", b"")


def test_a_single_document_may_have_many_lines(tmp_path: Path) -> None:
    """A replay that was saved with line breaks is read too, and blank lines are skipped."""
    document = json.loads(LINES.splitlines()[0])
    done = arena("replay", "verify", "-", folder=tmp_path, text=json.dumps(document, indent=2).encode())
    assert (done.returncode, done.stdout) == (0, b"1 game verified\n")
    done = arena("replay", "verify", "-", folder=tmp_path, text=LINES.replace(b"\n", b"\n\r\n"))
    assert (done.returncode, done.stdout) == (0, b"40 games verified\n")


def test_the_first_difference_is_named_with_its_line(tmp_path: Path) -> None:
    """Exit code 1, line, game, path, what is there and what the rules give."""
    lines = LINES.splitlines()
    document = json.loads(lines[2])
    total = document["totals"][1]
    document["totals"][1] += 1
    lines[2] = lines[5] = json.dumps(document).encode()
    done = arena("replay", "verify", "-", folder=tmp_path, text=b"\n".join(lines))
    assert done.returncode == 1
    assert done.stderr == b""
    assert done.stdout.decode() == (
        f"line 3, game {document['game']}: totals[1]: is {total + 1}, the rules give {total}\n"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "- contains no replay"),
        (b"\n\n", "- contains no replay"),
        (b"rubbish", "-, line 1: not JSON: "),
        (LINES[:1000], "-, line 1: not JSON: "),
        (LINES.splitlines()[0] + b"\n{}\n", "-, line 2: not a replay: Object missing required"),
        (b'{"format":"sushigo-replay/9"}', '-, line 1: format: is "sushigo-replay/9", this program'),
        (b'{\n"format":\n"sushigo-replay/1"}', "-, line 1: not a replay: Object missing required"),
        (bytes(range(256)), "-, line 1: not JSON: "),
    ],
    ids=range(8),
)  # fmt: skip
def test_what_is_no_replay_is_said_in_a_line(tmp_path: Path, text: bytes, said: str) -> None:
    """Exit code 2, the line and the reason, no traceback."""
    done = arena("replay", "verify", "-", folder=tmp_path, text=text)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(f"arena: {said}")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("name", ["nope.jsonl", "."])
def test_a_file_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    """Exit code 2 and the file's name."""
    done = arena("replay", "verify", name, folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.decode().startswith(f"arena: can't read {name}: ")
