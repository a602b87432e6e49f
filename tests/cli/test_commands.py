"""The front door of the command line."""

from pathlib import Path

import pytest

from .command import arena


def test_help_names_every_command(tmp_path: Path) -> None:
    """Each with a line of what it does."""
    done = arena("--help", folder=tmp_path)
    assert done.returncode == 0
    for command in ("simulate", "demo", "leaderboard", "replay", "check", "admin"):
        assert f"\n  {command} " in done.stdout.decode()


@pytest.mark.parametrize("args", [("nope",), ("replay", "nope"), ("replay", "verify"), ("--nope",)], ids=str)
def test_wrong_usage_is_said_on_stderr(tmp_path: Path, args: tuple[str, ...]) -> None:
    """Exit code 2, nothing on stdout."""
    done = arena(*args, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Error: " in done.stderr
