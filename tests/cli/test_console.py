"""Tests of commands' output, in which no text from elsewhere can move a terminal's cursor."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import typer

from arena.cli.console import echo, fail, millis, open_output, say
from arena.cli.leaderboard import print_board
from arena.platform.text import counted
from arena.protocol.leaderboard import Row

from .command import COMMAND, environment

EVIL = "a\x1b[2J\x07\x9b\r\N{RIGHT-TO-LEFT OVERRIDE}b"
SHOWN = r"a\x1b[2J\x07\x9b\r\u202eb"
ROW = Row(
    rank=1,
    rank_best=1,
    rank_worst=1,
    tied=False,
    bot=EVIL,
    version=1,
    author=EVIL,
    house=False,
    benched=False,
    mean=0.0,
    deviation=1.0,
    spread=2.0,
    score=0.0,
    provisional=False,
    change=None,
    games=0,
    win_share=None,
    mean_place=None,
    fault_share=None,
    median_millis=None,
    last_played=None,
)


def test_control_characters_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    """Messages, errors and a site's text are escaped; markup isn't. Only messages may have several lines."""
    say(f"{EVIL}\nmore")
    with pytest.raises(typer.Exit):
        fail(EVIL)
    echo(f"{EVIL}\nmore")
    out, err = capsys.readouterr()
    print_board([ROW, replace(ROW, author="[red]Ann[/]")], "Leaderboard")
    board = capsys.readouterr().out
    assert "\x1b" not in board
    assert "[red]Ann[/]" in board
    assert err == f"arena: {SHOWN}\nmore\narena: {SHOWN}\n"
    assert out == f"{SHOWN}\\nmore\n"


def test_the_longest_names_leave_room_for_all_figures(capsys: pytest.CaptureFixture[str]) -> None:
    """With the longest names, each column of the leaderboard is complete."""
    print_board([replace(ROW, bot="b" * 40, author="a" * 40, games=1_000_000)], "Leaderboard")
    heading, _, row = capsys.readouterr().out.splitlines()[2:5]
    assert " ".join(heading.split()) == "# bot author score mean ± 2σ games win % place fault %"
    assert " ".join(row.split()) == f"1 {'b' * 40}@1 {'a' * 40} 0.00 0.00 ± 2.00 1000000 - - -"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0171, "0.017"),
        (1.24, "1.2"),
        (9.96, "10"),
        (37.4, "37"),
        (99.6, "100"),
        (1234.5, "1234"),
        (None, "-"),
    ],
)
def test_milliseconds_have_two_digits(value: float | None, shown: str) -> None:
    """Times of ten milliseconds and more are whole numbers."""
    assert millis(value) == shown


def test_one_thing_is_not_plural() -> None:
    """Messages use the singular for one game, deal or point."""
    assert [counted(count, "game") for count in range(3)] == ["0 games", "1 game", "2 games"]


def test_characters_that_the_encoding_lacks_are_escaped(tmp_path: Path) -> None:
    """The ± of a table, for example, is escaped if the encoding lacks it."""
    done = subprocess.run(  # noqa: S603 - our own command
        [*COMMAND, "play", "greedy", "random", "--games", "4", "--seed", "1"],
        cwd=tmp_path,
        env=environment() | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert rb" \xb1 " in done.stdout


@pytest.mark.parametrize("words", ["--version", "play greedy random --games 2 --seed 1"])
def test_a_full_disk_is_named(tmp_path: Path, words: str) -> None:
    """The message has no traceback, neither the command's nor that of Python's flush at exit."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(  # noqa: S603 - our own command
            [*COMMAND, *words.split()],
            cwd=tmp_path,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        b"arena: [Errno 28] No space left on device: free some space"
    )
    assert b"Traceback" not in done.stderr


def test_two_commands_can_write_the_same_file(tmp_path: Path) -> None:
    """Each writes its own temporary file, even with the same process id, as in two containers."""
    file = tmp_path / "kept.zip"
    with open_output(str(file)) as first:
        with open_output(str(file)) as second:
            second.write(b"second")
        assert file.read_bytes() == b"second"
        first.write(b"first")
    assert file.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    ("closed", "line", "code"),
    [
        ("<&-", "replay verify -", 2),
        (">&-", "compare greedy greedy -n 2 --results r.jsonl", 1),
        ("2>&-", "compare greedy greedy -n 2 --results r.jsonl", 1),
    ],
)
def test_a_closed_stream_is_like_dev_null(tmp_path: Path, closed: str, line: str, code: int) -> None:
    """The command works, and no file takes the stream's place."""
    done = subprocess.run(  # noqa: S603 - our own command
        ["sh", "-c", f'exec "$@" {closed}', "sh", *COMMAND, *line.split()],  # noqa: S607 - on PATH
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == code
    assert b"Traceback" not in done.stderr
    if code == 1:
        assert len((tmp_path / "r.jsonl").read_bytes().splitlines()) == 2
