"""Output of commands: no text from elsewhere can move a terminal's cursor."""

import pytest
import typer

from arena.cli.console import echo, fail, say

EVIL = "a\x1b[2J\x07\x9b\r\N{RIGHT-TO-LEFT OVERRIDE}b"
SHOWN = r"a\x1b[2J\x07\x9b\r\u202eb"


def test_control_characters_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    """This applies to messages, errors and a site's text. Only messages may have several lines."""
    say(f"{EVIL}\nmore")
    with pytest.raises(typer.Exit):
        fail(EVIL)
    echo(f"{EVIL}\nmore")
    out, err = capsys.readouterr()
    assert err == f"arena: {SHOWN}\nmore\narena: {SHOWN}\n"
    assert out == f"{SHOWN}\\nmore\n"
