"""The table of commands, and the entry point of ``arena``."""

import signal
import sys
from collections.abc import Mapping
from importlib import import_module
from types import FrameType
from typing import Annotated, Any, ClassVar, Final, NamedTuple

import typer
from typer.core import TyperGroup

from arena import __version__

STYLE: Final[dict[str, Any]] = {
    "no_args_is_help": True,
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
}


class LazyCommand(NamedTuple):
    """A command or a group of commands."""

    where: str  # function or `Typer`, as `module:attribute`
    summary: str  # first sentence of the help, so that listing commands needs no import


class LazyGroup(TyperGroup):
    """A group of commands. Subclasses set ``parts``."""

    parts: ClassVar[Mapping[str, LazyCommand]]

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - typer's signature
        """Return the names in help order."""
        return list(self.parts)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - typer's signature
        """Import a command; None if the name is unknown."""
        if cmd_name not in self.parts:
            return None
        module, _, attribute = self.parts[cmd_name].where.partition(":")
        part = getattr(import_module(module), attribute)
        if isinstance(part, typer.Typer):
            holder = typer.Typer(**STYLE)
            holder.add_typer(part, name=cmd_name)
            group: Any = typer.main.get_command(holder)
            return group.commands[cmd_name]
        single = typer.Typer(**STYLE)
        single.command(cmd_name)(part)
        return typer.main.get_command(single)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 - typer's signature
        """Write the summaries, which need no import."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, part.summary) for name, part in self.parts.items()])


_COMMANDS: Final = {
    "init": LazyCommand(
        "arena.cli.init:init", "Create a folder with a working bot, its test, a Dockerfile and a README"
    ),
    "play": LazyCommand("arena.cli.play:play", "Play games between bots on this machine, and print a table"),
    "analyse": LazyCommand(
        "arena.cli.analyse:analyse",
        "Analyse a recorded game: each seat's chance to win turn by turn, and the cost of each decision",
    ),
    "compare": LazyCommand(
        "arena.cli.compare:compare",
        "Find out whether one bot beats another, with as few games as possible",
    ),
    "league": LazyCommand(
        "arena.cli.league:league", "Play a rated league between all bots in a folder, and print its table"
    ),
    "puzzle": LazyCommand("arena.cli.play:puzzle", "Ask a bot for its move in one position"),
    "rerun": LazyCommand(
        "arena.cli.rerun:rerun",
        "Ask a bot for the decisions of played games, and list where it plays differently",
    ),
    "referee": LazyCommand(
        "arena.cli.referee:referee",
        "Listen for one program, referee games with it, and print the conversation",
    ),
    "conformance": LazyCommand(
        "arena.cli.conformance:conformance",
        "Play recorded games of every variant with a program, and report its mistakes rule by rule",
    ),
    "bridge": LazyCommand(
        "arena.cli.bridge:bridge",
        "Run a program as a bot if it reads and writes the protocol's messages as lines of JSON",
    ),
    "simulate": LazyCommand(
        "arena.cli.replays:simulate",
        "Play games between bots in this process, without a sandbox: only for bots you trust",
    ),
    "demo": LazyCommand(
        "arena.cli.up:demo",
        "Play a rated round among the sample bots, print the leaderboard, serve the site and keep playing",
    ),
    "up": LazyCommand(
        "arena.cli.up:up", "Run a whole arena on this machine: rated games, submissions, the site"
    ),
    "coordinator": LazyCommand(
        "arena.cli.up:coordinator",
        "Play rated games among the sample bots until SIGTERM or Ctrl-C; `python -m web` shows them",
    ),
    "scheduler": LazyCommand(
        "arena.cli.cluster:scheduler",
        "Connect a cluster's coordinators and workers, until SIGTERM or Ctrl-C",
    ),
    "worker": LazyCommand(
        "arena.cli.cluster:worker", "Play matches on this host for the cluster of ARENA_EXECUTOR"
    ),
    "workers": LazyCommand(
        "arena.cli.admin:workers",
        "Show the workers, how many of their slots are in use, and the matches they play",
    ),
    "leaderboard": LazyCommand(
        "arena.cli.leaderboard:leaderboard", "Print the leaderboard, with the same numbers as on the site"
    ),
    "login": LazyCommand(
        "arena.cli.login:login",
        "Log in to an arena's site with a token, read from the terminal or standard input",
    ),
    "logout": LazyCommand(
        "arena.cli.login:logout", "Revoke and delete the token of the last site or, if set, ARENA_SITE"
    ),
    "submit": LazyCommand(
        "arena.cli.submit:submit", "Send a bot to the arena, and wait until it plays or is rejected"
    ),
    "cancel": LazyCommand("arena.cli.submit:cancel", "Cancel a submission in progress"),
    "status": LazyCommand(
        "arena.cli.status:status",
        "Show your bots and submissions in progress, or one bot's versions and submissions",
    ),
    "games": LazyCommand("arena.cli.games:games", "List rated games, newest first"),
    "logs": LazyCommand(
        "arena.cli.games:logs",
        "Print what your bots wrote to stderr in a game, their notes and their faults",
    ),
    "versions": LazyCommand(
        "arena.cli.status:versions", "List a bot's versions with their results, newest first"
    ),
    "rollback": LazyCommand(
        "arena.cli.status:rollback", "Activate another version of your bot, older or newer"
    ),
    "retire": LazyCommand("arena.cli.status:retire", "Take your bot off the ladder"),
    "return": LazyCommand("arena.cli.status:return_", "Reactivate your benched or retired bot"),
    "challenge": LazyCommand(
        "arena.cli.games:challenge", "Play unrated games between your bot and others, and show their results"
    ),
    "replay": LazyCommand("arena.cli.replays:app", "Work with public replays"),
    "check": LazyCommand(
        "arena.cli.check:check",
        "Check on this machine whether an arena would accept a bot, before you submit it",
    ),
    "doctor": LazyCommand(
        "arena.cli.doctor:doctor",
        "Test which sandbox controls this machine enforces, with or without a running arena",
    ),
    "admin": LazyCommand("arena.cli.main:admin_app", "Operate the arena"),
    "backup": LazyCommand(
        "arena.cli.backup:backup",
        "Write all of the arena's persistent data into one file, even while the arena runs",
    ),
    "restore": LazyCommand(
        "arena.cli.backup:restore",
        "Restore a backup into an empty folder (ARENA_DATA_DIR) and an empty database (ARENA_DATABASE_URL)",
    ),
}


class _Arena(LazyGroup):
    parts = _COMMANDS


_ADMIN_COMMANDS: Final = {
    "create-user": LazyCommand("arena.cli.users:create_user", "Create an account"),
    "reset-password": LazyCommand(
        "arena.cli.users:reset_password",
        "Set a new password for an account, and revoke its sessions and tokens",
    ),
    "set-role": LazyCommand("arena.cli.users:set_role", "Change the role of an account"),
    "set-quota": LazyCommand(
        "arena.cli.users:set_quota",
        "Set an account's quotas, which replace the arena's default quotas",
    ),
    "show-user": LazyCommand(
        "arena.cli.users:show_user",
        "Show an account's bots, quotas and their usage, tokens and sessions",
    ),
    "list-users": LazyCommand("arena.cli.users:list_users", "List all accounts"),
    "invite": LazyCommand(
        "arena.cli.users:invite", "Create an invitation for one person to register, and print its code"
    ),
    "audit": LazyCommand(
        "arena.cli.users:audit",
        "Print the audit log: actions of operators, and of users on their accounts, oldest first",
    ),
    "bots": LazyCommand(
        "arena.cli.admin:bots", "List bots with their active version, their state and the reason for it"
    ),
    "bench": LazyCommand(
        "arena.cli.admin:bench", "Bench a bot until its author, a new version or you reactivate it"
    ),
    "unbench": LazyCommand("arena.cli.admin:unbench", "Reactivate a benched bot"),
    "retire": LazyCommand(
        "arena.cli.admin:retire",
        "Take a bot off the ladder; its author or a new version can reactivate it",
    ),
    "play-version": LazyCommand(
        "arena.cli.admin:play_version", "Activate another version of a bot, older or newer"
    ),
    "disqualify": LazyCommand(
        "arena.cli.admin:disqualify",
        "Take a bot off the ladder permanently, and recompute all ratings without its games",
    ),
    "reinstate": LazyCommand(
        "arena.cli.admin:reinstate",
        "Revoke a disqualification, and recompute all ratings with the bot's games",
    ),
    "ladder": LazyCommand(
        "arena.cli.upkeep:ladder", "Show the ladder's settings, or change them for future matches"
    ),
    "rebuild-statistics": LazyCommand(
        "arena.cli.upkeep:rebuild_statistics", "Recount the cards of all games and correct differences"
    ),
    "quarantine": LazyCommand(
        "arena.cli.upkeep:quarantine",
        "List quarantined matches, which the arena failed three times, newest first",
    ),
    "release": LazyCommand(
        "arena.cli.upkeep:release",
        "Return a quarantined match to the queue, as if it had never failed",
    ),
    "submissions": LazyCommand(
        "arena.cli.upkeep:submissions",
        "List submissions, newest first, with their stage and the reason for a rejection or wait",
    ),
    "cluster-keys": LazyCommand(
        "arena.cli.cluster:cluster_keys",
        "Create a folder of keys for each cluster member, and the cluster's certificate authority if needed",
    ),
    "rebuild-ratings": LazyCommand(
        "arena.cli.upkeep:rebuild_ratings",
        "Recompute the ratings from the game log and correct differences",
    ),
    "fit-beta": LazyCommand(
        "arena.cli.upkeep:fit_beta",
        "Fit the noise of a game (β) to the newest games, and print the gain in prediction",
    ),
    "odd-results": LazyCommand(
        "arena.cli.upkeep:odd_results",
        "List pairs of bots or authors whose results contradict their ratings",
    ),
    "add-bot": LazyCommand(
        "arena.cli.images:add_bot", "Add another author's bot to the ladder, even while the arena runs"
    ),
    "prune-images": LazyCommand(
        "arena.cli.images:prune_images",
        "Remove the least recently used images of submitted bots until the rest fit the quota",
    ),
}


class _Admin(LazyGroup):
    parts = _ADMIN_COMMANDS


admin_app = typer.Typer(cls=_Admin, help="Operate the arena.", **STYLE)


@admin_app.callback()
def admin() -> None:
    """Operate the arena."""


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


class _Terminated(BaseException):
    """SIGTERM arrived. Not a SystemExit: a bot that raises SystemExit is at fault itself."""


def main() -> None:
    """Run the command line. SIGTERM stops it like Ctrl-C, so that it cleans up."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        app(prog_name="arena")
    except _Terminated:
        sys.exit(128 + signal.SIGTERM)


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise _Terminated
