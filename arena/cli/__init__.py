"""The command ``arena``: one module a command or group of commands.

Data goes to stdout, messages to stderr. Exit codes: 0 fine; 1 the thing that
was checked or run is wrong; 2 wrong usage or unusable input.
"""

import signal
import sys
from importlib import import_module
from types import FrameType
from typing import Any, Final

import typer
from typer.core import TyperGroup

_COMMANDS: Final = {
    "simulate": "arena.cli.simulate:simulate",
    "demo": "arena.cli.demo:demo",
    "up": "arena.cli.up:up",
    "coordinator": "arena.cli.coordinator:coordinator",
    "scheduler": "arena.cli.cluster:scheduler",
    "worker": "arena.cli.cluster:worker",
    "workers": "arena.cli.workers:workers",
    "leaderboard": "arena.cli.leaderboard:leaderboard",
    "login": "arena.cli.login:login",
    "logout": "arena.cli.login:logout",
    "submit": "arena.cli.submit:submit",
    "status": "arena.cli.status:status",
    "logs": "arena.cli.logs:logs",
    "versions": "arena.cli.versions:versions",
    "rollback": "arena.cli.versions:rollback",
    "retire": "arena.cli.versions:retire",
    "return": "arena.cli.versions:return_",
    "challenge": "arena.cli.challenge:challenge",
    "replay": "arena.cli.replay:app",
    "check": "arena.cli.check:check",
    "doctor": "arena.cli.doctor:doctor",
    "admin": "arena.cli.admin:app",
    "backup": "arena.cli.backup:backup",
    "restore": "arena.cli.backup:restore",
}
"""Where each command, a function, or group of commands, a ``Typer``, is."""

_STYLE: Final[dict[str, Any]] = {
    "no_args_is_help": True,
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
}


class _Commands(TyperGroup):
    """Imports a command when it is called: what one needs, such as the database, costs the others no time."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - as typer has it
        return list(_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - as typer has it
        if cmd_name not in _COMMANDS:
            return None
        module, _, attribute = _COMMANDS[cmd_name].partition(":")
        part = getattr(import_module(module), attribute)
        if isinstance(part, typer.Typer):
            holder = typer.Typer(**_STYLE)
            holder.add_typer(part, name=cmd_name)
            group: Any = typer.main.get_command(holder)
            return group.commands[cmd_name]
        single = typer.Typer(**_STYLE)
        single.command(cmd_name)(part)
        return typer.main.get_command(single)


app = typer.Typer(name="arena", cls=_Commands, **_STYLE)


@app.callback()
def arena() -> None:
    """Kaiten: an arena where Sushi Go! bots play rated games."""


class _Terminated(BaseException):
    """SIGTERM came. Not SystemExit: a bot may raise that, and then it is the bot's error."""


def main() -> None:
    """Run the command line; a termination ends it as Ctrl-C does, so that what is under way cleans up."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        app(prog_name="arena")
    except _Terminated:
        sys.exit(128 + signal.SIGTERM)


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise _Terminated
