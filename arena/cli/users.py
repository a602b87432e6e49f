"""``arena admin``: accounts, invitations and the audit log."""

import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from arena.cli.console import say
from arena.cli.operating import operating, who
from arena.settings import RegistrationMode, read_settings
from arena.store import Role

Name = Annotated[str, typer.Argument(help="Of the account.")]


def create_user(
    name: Name,
    *,
    operator: Annotated[bool, typer.Option("--operator", help="Let it operate the arena.")] = False,
) -> None:
    """Make an account. The password is asked for, or read from standard input."""
    with operating() as operators:
        password = _new_password()
        made = operators.create_user(who(), name, password, Role.OPERATOR if operator else Role.USER)
    typer.echo(f"{made.name} {made.role}")


def reset_password(name: Name) -> None:
    """Give an account a new password, and end its sessions and tokens."""
    with operating() as operators:
        operators.reset_password(who(), name, _new_password())
    say(f"{name} has a new password; all its sessions and tokens have ended")


def list_users() -> None:
    """List all accounts."""
    with operating() as operators:
        users = operators.users()
    table = Table("name", "role", "since (UTC)", "deleted (UTC)", box=None, pad_edge=False)
    for user in users:
        deleted = "" if user.deleted is None else f"{user.deleted:%Y-%m-%d}"
        table.add_row(user.name, user.role, f"{user.created:%Y-%m-%d}", deleted)
    Console().print(table)


def invite(
    days: Annotated[int, typer.Option(min=1, max=366, help="How long it is good for.")] = 7,
) -> None:
    """Print an invitation: it lets one person register."""
    with operating() as operators:
        code = operators.invite(who(), days)
    typer.echo(code)
    say(f"good for one account and {days} days, at the site's page /register?invitation={code}")
    if read_settings().registration is not RegistrationMode.INVITATION:
        say("the site asks for invitations only with ARENA_REGISTRATION=invitation")


def audit(
    last: Annotated[int, typer.Option(min=1, help="How many entries.")] = 50,
) -> None:
    """Print what operators did, oldest first."""
    with operating() as operators:
        entries = operators.audit(last)
    for entry in entries:
        at = f"{entry.at:%Y-%m-%d %H:%M:%S}"
        typer.echo("\t".join((str(entry.number), at, entry.who, entry.what, entry.subject, entry.detail)))


def _new_password() -> str:
    if sys.stdin.isatty():
        asked: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        return asked
    return sys.stdin.readline().rstrip("\r\n")
