"""Tests of the command line as a whole: help, version, settings, wrong usage and shell completion."""

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from arena import __version__
from arena.cli.main import app

from .command import arena


def test_the_version_is_printed(tmp_path: Path) -> None:
    """The printed version is that of the package."""
    done = arena("--version", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"arena {__version__}\n")


def test_a_misspelt_setting_stops_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command with a misspelt setting stops before it creates anything."""
    monkeypatch.setenv("ARENA_DATA_DRI", str(tmp_path / "elsewhere"))
    for args in (("backup", "out"), ("demo", "--sandbox", "process")):
        done = arena(*args, folder=tmp_path)
        assert done.returncode == 2
        assert "ARENA_DATA_DRI: no such setting. Did you mean ARENA_DATA_DIR?" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_files_may_have_any_name(tmp_path: Path) -> None:
    """The names of files don't have to be UTF-8, unlike text that is sent or stored."""
    latin = os.fsdecode(b"caf\xe9")
    done = arena("simulate", "--bots", "greedy,random", "--games", "2", "-o", latin, folder=tmp_path)
    assert (done.returncode, (tmp_path / latin).exists()) == (0, True), done.stderr


def test_wrong_usage_is_reported_on_stderr() -> None:
    """The exit code of wrong usage is 2, and stdout is empty."""
    for words in (
        "nope",
        "--nope",
        "replay nope",
        "replay verify",
        "rollback mine",
        "rollback mine 0",
        "rollback mine last",
        "challenge mine",
        "challenge mine greedy --deals 7",
        "challenge mine greedy --version 0",
        "logs",
        "status --all",
    ):
        done = CliRunner().invoke(app, words.split())
        assert (done.exit_code, done.stdout) == (2, ""), words
        assert "Error: " in done.stderr, words


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
    """Completion, as requested by shells' scripts, works at every level and for options' values."""
    last = str(line.count(" "))
    done = arena(folder=tmp_path, _ARENA_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=last)
    assert (done.stdout.split(), done.stderr) == (offered, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script(tmp_path: Path, shell: str) -> None:
    """The script calls the command itself, so new commands need no new script."""
    done = arena(
        "--show-completion", shell, folder=tmp_path, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1"
    )
    assert done.returncode == 0, done.stderr
    assert f"_ARENA_COMPLETE=complete_{shell}" in done.stdout
