"""Tests of shell completion, as requested by the script that ``arena --show-completion`` prints."""

from pathlib import Path

import pytest

from .command import arena


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("arena comp", ["compare"]),
        ("arena replay ", ["verify", "get"]),
        ("arena admin reb", ["rebuild-statistics", "rebuild-ratings"]),
        ("arena rerun --l", ["--lost"]),
        ("arena replay get --", ["--out", "--help"]),
        ("arena init mybot --language java", ["javascript"]),
    ],
)
def test_commands_and_options_are_completed(tmp_path: Path, line: str, offered: list[str]) -> None:
    """Completion works at every level, and for the values of an option."""
    last = str(line.count(" "))
    done = arena(folder=tmp_path, _ARENA_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=last)
    assert (done.stdout.decode().split(), done.stderr) == (offered, b"")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script(tmp_path: Path, shell: str) -> None:
    """The script calls the command itself, so new commands need no new script."""
    done = arena(
        "--show-completion", shell, folder=tmp_path, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1"
    )
    assert done.returncode == 0, done.stderr
    assert f"_ARENA_COMPLETE=complete_{shell}" in done.stdout.decode()
