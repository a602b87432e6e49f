"""How commands speak: nothing that they repeat moves a terminal's cursor."""

import pytest
import typer

from arena.cli.console import echo, fail, say

EVIL = "a\x1b[2J\x07\x9b\r\N{RIGHT-TO-LEFT OVERRIDE}b"
SHOWN = r"a\x1b[2J\x07\x9b\r\u202eb"


def test_what_is_said_is_written_out(capsys: pytest.CaptureFixture[str]) -> None:
    """In messages, in errors and in what a site has said; messages of our own may have several lines."""
    say(f"{EVIL}\nmore")
    with pytest.raises(typer.Exit):
        fail(EVIL)
    echo(f"{EVIL}\nmore")
    out, err = capsys.readouterr()
    assert err == f"arena: {SHOWN}\nmore\narena: {SHOWN}\n"
    assert out == f"{SHOWN}\\nmore\n"
