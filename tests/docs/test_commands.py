"""Tests that the commands in the documents exist, and that all commands' help is readable."""

import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest
import typer
from typer.testing import CliRunner

from arena.cli.main import app
from tests.cli.test_imports import commands as every_command
from tests.docs.documents import DOCUMENTS, ROOT, code_lines, name


def commands(document: Path) -> list[list[str]]:
    """Return the words after ``arena`` of every ``arena`` command line."""
    found = []
    for line in code_lines(document):
        words = shlex.split(line, comments=True) if re.match(r"^(\.venv/bin/)?arena [a-z]", line) else []
        if words:
            found.append(words[1:])
    return found


def resolve(words: list[str]) -> tuple[str, Any]:
    """Return the full name and the command that these words call. Remaining words are its arguments."""
    command: Any = typer.main.get_command(app)
    path = ["arena"]
    context = click.Context(command, info_name="arena")
    for word in words:
        if not hasattr(command, "list_commands"):
            break
        command = command.get_command(context, word)
        assert command is not None, f"there is no command {' '.join([*path, word])}"
        path.append(word)
    return " ".join(path), command


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_every_command_exists_with_its_options(document: Path) -> None:
    """Each ``arena …`` in a code block or between backticks can be typed as written."""
    for words in commands(document):
        _, command = resolve(words)
        options = (each for each in command.params for each in (*each.opts, *each.secondary_opts))
        known = {*options, "--help"}
        used = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert used <= known, f"arena {' '.join(words)}"


@pytest.mark.parametrize("command", [command for command, _ in every_command(typer.main.get_command(app))])
def test_help_is_in_plain_words(command: str) -> None:
    """Option values have a name or a list of choices, not a Python type. Ranges are in words.

    The help of a group of commands lists them all.
    """
    done = CliRunner().invoke(app, [*command.split(), "--help"], terminal_width=500)
    assert done.exit_code == 0
    assert "  --help  " in done.stdout
    kinds = re.findall(r"<([^>]*)>", done.stdout)
    assert [kind for kind in kinds if "|" not in kind] == []
    _, found = resolve(command.split())
    for each in found.list_commands(None) if hasattr(found, "list_commands") else ():
        assert f"\n  {each} " in done.stdout
    assert "x>=" not in done.stdout
    assert "<=" not in done.stdout


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_every_target_of_make_exists(document: Path) -> None:
    """Each ``make …`` in the documents names targets of the Makefile."""
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for line in code_lines(document):
        if match := re.match(r"^(?:[A-Z]+=\S+ )*make ([a-z]+)", line):
            assert match[1] in targets, line
