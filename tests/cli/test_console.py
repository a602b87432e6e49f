"""Output of commands: no text from elsewhere can move a terminal's cursor."""

import pytest
import typer

from arena.cli.console import echo, fail, millis, say
from arena.cli.leaderboard import print_board
from arena.protocol.documents import Row

EVIL = "a\x1b[2J\x07\x9b\r\N{RIGHT-TO-LEFT OVERRIDE}b"
SHOWN = r"a\x1b[2J\x07\x9b\r\u202eb"


def test_control_characters_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    """This applies to messages, errors and a site's text. Only messages may have several lines."""
    say(f"{EVIL}\nmore")
    with pytest.raises(typer.Exit):
        fail(EVIL)
    echo(f"{EVIL}\nmore")
    row = Row(
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
    out, err = capsys.readouterr()
    print_board([row], "Leaderboard")
    assert "\x1b" not in capsys.readouterr().out
    assert err == f"arena: {SHOWN}\nmore\narena: {SHOWN}\n"
    assert out == f"{SHOWN}\\nmore\n"


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
