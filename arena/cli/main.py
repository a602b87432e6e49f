"""The table of commands, their help in plain words, and the entry point of ``arena``."""

import atexit
import errno
import gc
import io
import logging
import os
import re
import signal
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Annotated, Any, ClassVar, Final

import typer
from typer.core import TyperCommand, TyperGroup

from arena import __version__

STYLE: Final[dict[str, Any]] = {
    "no_args_is_help": True,
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
}


_WORDS: Final[Mapping[str, str]] = {
    "str": "TEXT",
    "int": "N",
    "int range": "N",
    "float": "N",
    "path": "PATH",
    "file": "PATH",
    "dir": "PATH",
}
"""The word to show for an option's value, by Typer's name for its type."""

_FROM_TO: Final = re.compile(r"(\d+)<=x<=(\d+)")
_AT_LEAST: Final = re.compile(r"x>=(\d+)")


def plain_record(name: str, meaning: str) -> tuple[str, str]:
    """Return a parameter's name and description, with its type and range in plain words.

    A choice keeps its list of values. Arguments are shown without a type.
    """
    plain, _, kind = name.rstrip(">").partition(" <")
    if kind and plain.startswith("-") and not plain.startswith("-- "):
        plain = f"{plain} {_WORDS.get(kind, f'<{kind}>')}"
    return plain, _AT_LEAST.sub(r"at least \1", _FROM_TO.sub(r"\1 to \2", meaning))


class PlainCommand(TyperCommand):
    """A command with help in plain words. Typer's own help shows Python types."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer's signature
        """Write the arguments and the options."""
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            params = (each for each in self.get_params(ctx) if each.param_type_name == kind)
            records = [record for each in params if (record := each.get_help_record(ctx)) is not None]
            if records:
                with formatter.section(title):
                    formatter.write_dl([plain_record(*record) for record in records])


class LazyGroup(TyperGroup):
    """A group of commands, each imported when it is needed.

    Subclasses set ``parts``, which maps each command's name to its function or `Typer`, as
    ``module:attribute``.
    """

    parts: ClassVar[Mapping[str, str]]

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - typer's signature
        """Return the names in the order in which the help lists them."""
        return list(self.parts)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - typer's signature
        """Import and return a command, or return None if the name is unknown."""
        if cmd_name not in self.parts:
            return None
        module, _, attribute = self.parts[cmd_name].partition(":")
        part = getattr(import_module(module), attribute)
        if isinstance(part, typer.Typer):
            holder = typer.Typer(**STYLE)
            holder.add_typer(part, name=cmd_name)
            group: Any = typer.main.get_command(holder)
            return group.commands[cmd_name]
        single = typer.Typer(**STYLE)
        single.command(cmd_name, cls=PlainCommand)(part)
        return typer.main.get_command(single)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer's signature
        """Write the first sentence of each command's help. Typer would shorten it to one line."""
        helps = {name: self.get_command(ctx, name).help.partition("\n\n")[0] for name in self.parts}
        with formatter.section("Commands"):
            formatter.write_dl([(name, _first_sentence(text)) for name, text in helps.items()])


def _first_sentence(text: str) -> str:
    return " ".join(text.split()).partition(". ")[0].removesuffix(".")


class _Arena(LazyGroup):
    parts: ClassVar = {
        "init": "arena.cli.authoring:init",
        "play": "arena.cli.play:play",
        "analyse": "arena.cli.analyse:analyse",
        "compare": "arena.cli.compare:compare",
        "league": "arena.cli.league:league",
        "puzzle": "arena.cli.play:puzzle",
        "rerun": "arena.cli.rerun:rerun",
        "referee": "arena.cli.authoring:referee",
        "conformance": "arena.cli.authoring:conformance",
        "bridge": "arena.cli.authoring:bridge",
        "simulate": "arena.cli.replays:simulate",
        "demo": "arena.cli.up:demo",
        "up": "arena.cli.up:up",
        "coordinator": "arena.cli.up:coordinator",
        "scheduler": "arena.cli.up:scheduler",
        "worker": "arena.cli.up:worker",
        "workers": "arena.cli.up:workers",
        "leaderboard": "arena.cli.leaderboard:leaderboard",
        "login": "arena.cli.login:login",
        "logout": "arena.cli.login:logout",
        "submit": "arena.cli.submit:submit",
        "cancel": "arena.cli.submit:cancel",
        "status": "arena.cli.status:status",
        "games": "arena.cli.games:games",
        "logs": "arena.cli.games:logs",
        "versions": "arena.cli.status:versions",
        "rollback": "arena.cli.status:rollback",
        "retire": "arena.cli.status:retire",
        "return": "arena.cli.status:return_",
        "challenge": "arena.cli.games:challenge",
        "replay": "arena.cli.main:replay_app",
        "check": "arena.cli.check:check",
        "doctor": "arena.cli.doctor:doctor",
        "admin": "arena.cli.main:admin_app",
        "backup": "arena.cli.backup:backup",
        "restore": "arena.cli.backup:restore",
    }


class _Admin(LazyGroup):
    parts: ClassVar = {
        "create-user": "arena.cli.admin.users:create_user",
        "reset-password": "arena.cli.admin.users:reset_password",
        "set-role": "arena.cli.admin.users:set_role",
        "set-quota": "arena.cli.admin.users:set_quota",
        "show-user": "arena.cli.admin.users:show_user",
        "list-users": "arena.cli.admin.users:list_users",
        "invite": "arena.cli.admin.users:invite",
        "audit": "arena.cli.admin.users:audit",
        "bots": "arena.cli.admin.bots:bots",
        "bench": "arena.cli.admin.bots:bench",
        "unbench": "arena.cli.admin.bots:unbench",
        "retire": "arena.cli.admin.bots:retire",
        "play-version": "arena.cli.admin.bots:play_version",
        "disqualify": "arena.cli.admin.bots:disqualify",
        "reinstate": "arena.cli.admin.bots:reinstate",
        "ladder": "arena.cli.admin.ladder:ladder",
        "rebuild-statistics": "arena.cli.admin.ladder:rebuild_statistics",
        "quarantine": "arena.cli.admin.ladder:quarantine",
        "release": "arena.cli.admin.ladder:release",
        "submissions": "arena.cli.admin.ladder:submissions",
        "cluster-keys": "arena.cli.up:cluster_keys",
        "rebuild-ratings": "arena.cli.admin.ladder:rebuild_ratings",
        "fit-beta": "arena.cli.admin.ladder:fit_beta",
        "odd-results": "arena.cli.admin.ladder:odd_results",
        "add-bot": "arena.cli.admin.bots:add_bot",
        "prune-images": "arena.cli.admin.bots:prune_images",
    }


class _Replay(LazyGroup):
    parts: ClassVar = {"verify": "arena.cli.replays:verify", "get": "arena.cli.replays:get"}


admin_app = typer.Typer(cls=_Admin, help="Operate the arena.", **STYLE)
replay_app = typer.Typer(cls=_Replay, help="Verify and download public replays.", **STYLE)


app = typer.Typer(name="arena", cls=_Arena, **STYLE | {"add_completion": True})


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - typer's signature
    if wanted:
        typer.echo(f"arena {__version__}")
        raise typer.Exit


@app.callback()
def arena(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Kaiten: an arena where Sushi Go! bots play rated games."""


def main() -> None:
    """Run the command line. Like Ctrl-C, SIGTERM and closing the terminal let the command clean up."""
    # asyncio only logs exceptions in callbacks, except KeyboardInterrupt and SystemExit. A SystemExit would
    # count as a fault of the bot that it interrupts.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # nohup ignores it
        signal.signal(signal.SIGHUP, _hang_up)
    _open_missing_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Escape characters that the locale's encoding lacks, as Python does on stderr.
        sys.stdout.reconfigure(errors="backslashreplace")
    # Garbage collections during imports and at exit would take a third of a short command's time.
    gc.set_threshold(10_000)
    atexit.register(gc.freeze)
    try:
        app(prog_name="arena")
    except UnicodeEncodeError:
        # A name or text that can't be sent or stored; files may have any name.
        wrong = next((each for each in sys.argv if not _is_utf_8(each)), None)
        if wrong is None:
            raise
        from arena.cli.console import EXIT_USAGE, say

        shown = os.fsencode(wrong).decode(errors="backslashreplace")
        say(f"{shown} is not UTF-8: type it in a terminal that uses UTF-8", logging.ERROR)
        sys.exit(EXIT_USAGE)
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # discard what is still in stdout's buffer
        sys.exit(f"arena: {error}: free some space, and run the command again")


def _is_utf_8(argument: str) -> bool:
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


def _hang_up(number: int, _: object) -> None:
    """Let the command clean up without another interruption: both the shell and the kernel send SIGHUP."""
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _open_missing_streams() -> None:
    """Open /dev/null for the standard streams that were closed when the command started."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is the stream's
            os.set_inheritable(null, True)  # noqa: FBT003 - the library's signature
            setattr(sys, name, os.fdopen(null, "r" if name == "stdin" else "w"))
