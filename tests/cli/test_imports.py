"""Tests of what commands import: short ones finish before slow libraries would even be loaded."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from arena.cli.main import app
from tests.cli.command import environment
from tests.databases import sqlite_store

_SLOW = {
    "alembic",
    "arena.play.launcher",
    "arena.sandbox",
    "docker",
    "grpc",
    "psycopg",
    "pyarrow",
    "pydantic_settings",
    "requests",
    "sqlalchemy",
    "zxcvbn",
}
_HEAVY = {
    "docker",
    "fastapi",
    "grpc",
    "numpy",
    "pyarrow",
    "pydantic_settings",
    "sqlalchemy",
    "structlog",
    "trueskill",
}
_RUN = """
import json, sys
known, codes, imported = set(sys.modules), {}, {}
from arena.cli.main import main
lines = sys.argv[1:]
for line in lines:
    sys.argv = ["arena", *line.split()]
    try:
        main()
    except SystemExit as end:
        codes[line] = end.code
    imported[line] = sorted(set(sys.modules) - known)
    known.update(imported[line])
print(json.dumps([codes, imported]), file=sys.stderr)
"""
"""Runs commands in order. Prints each one's exit code, and the modules that it is the first to import."""


def _imports(lines: tuple[str, ...], folder: Path) -> dict[str, set[str]]:
    """Run commands in one new process. Return the modules that each is the first to import."""
    done = subprocess.run(  # noqa: S603 - the commands under test
        [sys.executable, "-c", _RUN, *lines],
        cwd=folder,
        env=environment() | {"ARENA_DATA_DIR": str(folder)},
        capture_output=True,
        check=False,
        timeout=540,
    )
    assert done.returncode == 0, done.stderr
    codes, imported = json.loads(done.stderr.decode().splitlines()[-1])
    assert not any(codes.values()), codes
    assert "typer" in imported[lines[0]]
    return {line: set(names) for line, names in imported.items()}


def commands(group: Any, path: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - click's, which typer hides
    """Yield this command or group, and all below it, with their names."""
    yield path, group
    if hasattr(group, "list_commands"):
        for name in group.list_commands(None):
            yield from commands(group.get_command(None, name), f"{path} {name}".strip())


def test_help_imports_nothing_heavy(tmp_path: Path) -> None:
    """No command's help needs the libraries that run matches, store results or serve pages.

    The first nine commands here load neither the database nor the engine: lists of commands, and the modules
    of commands that talk to a site.
    """
    names = ("admin", "login", "status", "submit", "simulate", "play", "compare", "league")
    light = ("--help", *(f"{name} --help" for name in names))
    every = [f"{name} --help".strip() for name, _ in commands(typer.main.get_command(app))]
    assert {"up --help", "admin bots --help", "replay verify --help", *light} <= set(every)
    imported = _imports((*light, *(line for line in every if line not in light)), tmp_path)
    slow = {line: imported[line] & _SLOW for line in light}
    assert not any(slow.values()), slow
    heavy = {line: found for line, modules in imported.items() if (found := modules & _HEAVY)}
    assert not heavy


def test_the_database_commands_import_no_engine_and_no_other_driver(tmp_path: Path) -> None:
    """On SQLite, they import nothing that plays matches either."""
    sqlite_store(tmp_path / "arena.sqlite3").close()
    parts = ("bots", "list-users", "audit", "quarantine", "submissions")
    lines = ("leaderboard", "workers", *(f"admin {part}" for part in parts))
    needed = {"leaderboard": {"pydantic_settings", "sqlalchemy"}}
    slow = {line: names & _SLOW for line, names in _imports(lines, tmp_path).items()}
    assert slow == {line: set() for line in lines} | needed
