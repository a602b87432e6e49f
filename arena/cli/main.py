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

    where: str  # its function or `Typer`, as `module:attribute`
    summary: str  # the first sentence of its help, so that listing commands needs no import


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
        "arena.cli.init:init", "Make a folder with a bot that plays, its test, a Dockerfile and a README"
    ),
    "play": LazyCommand(
        "arena.cli.play:play", "Play some games between bots on this machine, and print a table"
    ),
    "analyse": LazyCommand(
        "arena.cli.analyse:analyse",
        "Analyse a recorded game: each seat's chance to win turn by turn, and what each decision cost",
    ),
    "compare": LazyCommand(
        "arena.cli.compare:compare",
        "Find out whether a bot beats another one, with as few games as that takes",
    ),
    "league": LazyCommand(
        "arena.cli.league:league", "Play a rated league between all bots in a folder, and print its table"
    ),
    "puzzle": LazyCommand("arena.cli.play:puzzle", "Put one position to a bot, and print what it plays"),
    "rerun": LazyCommand(
        "arena.cli.rerun:rerun",
        "Put the decisions of played games to a bot, and list where it plays otherwise",
    ),
    "referee": LazyCommand(
        "arena.cli.referee:referee",
        "Wait at an address for one program, referee games with it, and print what is said",
    ),
    "conformance": LazyCommand(
        "arena.cli.conformance:conformance",
        "Play recorded games of every variant with a program, and say rule by rule what it got wrong",
    ),
    "bridge": LazyCommand(
        "arena.cli.bridge:bridge",
        "Run a program that reads and writes the protocol's messages as lines of JSON, as a bot",
    ),
    "simulate": LazyCommand(
        "arena.cli.replays:simulate",
        "Play games between bots in this process, without a sandbox: only for bots you trust",
    ),
    "demo": LazyCommand(
        "arena.cli.up:demo",
        "Play a rated round among the sample bots, print the leaderboard, then serve the site and play on",
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
        "Bring coordinators and workers of a cluster together, until SIGTERM or Ctrl-C",
    ),
    "worker": LazyCommand(
        "arena.cli.cluster:worker", "Play matches on this host for the cluster of ARENA_EXECUTOR"
    ),
    "workers": LazyCommand(
        "arena.cli.admin:workers",
        "Show who plays matches, how many of their seats are taken, and what they play",
    ),
    "leaderboard": LazyCommand(
        "arena.cli.leaderboard:leaderboard", "Print the ratings: the same numbers as on the site"
    ),
    "login": LazyCommand("arena.cli.login:login", "Log in at an arena's site with a token"),
    "logout": LazyCommand(
        "arena.cli.login:logout", "Revoke the token of the last site, or of ARENA_SITE, and forget it"
    ),
    "submit": LazyCommand(
        "arena.cli.submit:submit", "Send a bot to the arena, and follow it until it plays or is rejected"
    ),
    "cancel": LazyCommand("arena.cli.submit:cancel", "Take back a submission that is on its way"),
    "status": LazyCommand(
        "arena.cli.status:status",
        "Show your bots, and what is on its way; of one bot its versions and submissions",
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
        "arena.cli.status:rollback", "Let an older version of your bot play, or a newer one again"
    ),
    "retire": LazyCommand("arena.cli.status:retire", "Take your bot off the ladder"),
    "return": LazyCommand(
        "arena.cli.status:return_", "Let your bot play again after it was benched or retired"
    ),
    "challenge": LazyCommand(
        "arena.cli.games:challenge", "Let your bot play unrated games, and show how they went"
    ),
    "replay": LazyCommand("arena.cli.replays:app", "Work with public replays"),
    "check": LazyCommand(
        "arena.cli.check:check",
        "Check on this machine whether an arena would accept a bot, before you submit it",
    ),
    "doctor": LazyCommand(
        "arena.cli.doctor:doctor",
        "Try what this machine can hold, beside an arena or without one, and say what is missing",
    ),
    "admin": LazyCommand("arena.cli.main:admin_app", "Operate the arena"),
    "backup": LazyCommand(
        "arena.cli.backup:backup",
        "Write everything that the arena has to keep into one file, while it runs",
    ),
    "restore": LazyCommand(
        "arena.cli.backup:restore",
        "Restore a backup into an empty folder (ARENA_DATA_DIR) and an empty database (ARENA_DATABASE_URL)",
    ),
}


class _Arena(LazyGroup):
    parts = _COMMANDS


_ADMIN_COMMANDS: Final = {
    "create-user": LazyCommand("arena.cli.users:create_user", "Make an account"),
    "reset-password": LazyCommand(
        "arena.cli.users:reset_password",
        "Give an account a new password, and end its sessions and tokens",
    ),
    "set-role": LazyCommand(
        "arena.cli.users:set_role", "Change what an account may do, its sessions and tokens with it"
    ),
    "set-quota": LazyCommand(
        "arena.cli.users:set_quota",
        "Set how much an account may send, instead of the arena's default quotas",
    ),
    "show-user": LazyCommand(
        "arena.cli.users:show_user",
        "Show an account: its bots, its quotas and what it has used of them, its tokens and sessions",
    ),
    "list-users": LazyCommand("arena.cli.users:list_users", "List all accounts"),
    "invite": LazyCommand("arena.cli.users:invite", "Print an invitation: it lets one person register"),
    "audit": LazyCommand(
        "arena.cli.users:audit",
        "Print what operators did, and what people did with their accounts, oldest first",
    ),
    "bots": LazyCommand(
        "arena.cli.admin:bots", "List bots with the version that plays, whether they play, and why not"
    ),
    "bench": LazyCommand(
        "arena.cli.admin:bench", "Let a bot sit out until its author, a new version or you bring it back"
    ),
    "unbench": LazyCommand("arena.cli.admin:unbench", "Let a bot that was benched play again"),
    "retire": LazyCommand(
        "arena.cli.admin:retire",
        "Take a bot off the ladder; its author or a new version may bring it back",
    ),
    "play-version": LazyCommand(
        "arena.cli.admin:play_version", "Let an older version of a bot play, or a newer one again"
    ),
    "disqualify": LazyCommand(
        "arena.cli.admin:disqualify",
        "Take a bot off the ladder for good, and rate everybody anew without its games",
    ),
    "reinstate": LazyCommand(
        "arena.cli.admin:reinstate",
        "Take a disqualification back, and rate everybody anew with the bot's games",
    ),
    "ladder": LazyCommand(
        "arena.cli.upkeep:ladder", "Show what the ladder plays, and change it from the next match on"
    ),
    "rebuild-statistics": LazyCommand(
        "arena.cli.upkeep:rebuild_statistics", "Count the games' cards again and correct what differs"
    ),
    "quarantine": LazyCommand(
        "arena.cli.upkeep:quarantine",
        "List the matches that are quarantined because the arena failed them three times, newest first",
    ),
    "release": LazyCommand(
        "arena.cli.upkeep:release",
        "Return a quarantined match to the queue, as if it had never failed",
    ),
    "submissions": LazyCommand(
        "arena.cli.upkeep:submissions",
        "List what was submitted, newest first: how far it is, and why it was rejected or has to wait",
    ),
    "cluster-keys": LazyCommand(
        "arena.cli.cluster:cluster_keys",
        "Make a cluster's own authority, where there is none, and a folder of keys for each of these members",
    ),
    "rebuild-ratings": LazyCommand(
        "arena.cli.upkeep:rebuild_ratings",
        "Recompute the ratings from the log of games and correct what differs",
    ),
    "fit-beta": LazyCommand(
        "arena.cli.upkeep:fit_beta",
        "Fit the noise of a game (β) to the newest games, and print how much better it would predict",
    ),
    "odd-results": LazyCommand(
        "arena.cli.upkeep:odd_results",
        "List bots and authors whose results against each other aren't what their ratings expect",
    ),
    "add-bot": LazyCommand("arena.cli.images:add_bot", "Add another author's bot and let it play"),
    "prune-images": LazyCommand(
        "arena.cli.images:prune_images",
        "Remove images of submitted bots beyond the quota, those used longest ago first",
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
    """SIGTERM arrived. Not a SystemExit, because a bot may raise that, which is then the bot's error."""


def main() -> None:
    """Run the command line. SIGTERM ends it like Ctrl-C, so that running work cleans up."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        app(prog_name="arena")
    except _Terminated:
        sys.exit(128 + signal.SIGTERM)


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise _Terminated
