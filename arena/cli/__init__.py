"""The command ``arena``: one module a command or group of commands.

Data goes to stdout, messages to stderr. Exit codes: 0 fine; 1 the thing that
was checked or run is wrong; 2 wrong usage or unusable input.
"""

import signal
import sys
from types import FrameType

import typer

from arena.cli import admin, demo, leaderboard, replay, simulate

app = typer.Typer(
    name="arena",
    help="Kaiten: an arena where Sushi Go! bots play rated games.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(simulate.simulate)
app.command()(demo.demo)
app.command()(leaderboard.leaderboard)
app.add_typer(replay.app, name="replay")
app.add_typer(admin.app, name="admin")


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGTERM, _end)
    app(prog_name="arena")


def _end(number: int, _frame: FrameType | None) -> None:
    """End as after Ctrl-C, so that what is under way cleans up after itself."""
    sys.exit(128 + number)
