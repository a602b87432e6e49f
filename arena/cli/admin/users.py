"""``arena admin`` commands for accounts, invitations and the audit log."""

from typing import Annotated, Any

import typer

from arena.cli.admin.bots import print_bots
from arena.cli.console import Json, fail, print_json, print_table, public, read_secret, say
from arena.cli.operating import open_arena_store, operating, operator_name
from arena.platform.text import counted
from arena.protocol.bots import Bot
from arena.protocol.states import Role

_MAX_QUOTA = 1_000_000

Name = Annotated[str, typer.Argument(help="Name of the account.")]


def create_user(
    name: Name,
    *,
    operator: Annotated[bool, typer.Option("--operator", help="Give the account the operator role.")] = False,
) -> None:
    """Create an account. The password is read from the terminal or standard input."""
    with operating() as operators:
        password = read_secret("Password", confirm=True)
        user = operators.create_user(
            operator_name(), name, password, Role.OPERATOR if operator else Role.USER
        )
    typer.echo(f"{user.name} {user.role}")


def reset_password(name: Name) -> None:
    """Set a new password for an account, and revoke its sessions and tokens."""
    with operating() as operators:
        operators.reset_password(operator_name(), name, read_secret("Password", confirm=True))
    say(f"{name} has a new password; its sessions and tokens have been revoked")


def set_role(name: Name, role: Annotated[Role, typer.Argument(help="New role: user or operator.")]) -> None:
    """Change an account's role. The change applies to the account's sessions and tokens immediately."""
    with operating() as operators:
        changed = operators.set_role(operator_name(), name, role)
    typer.echo(f"{changed.name} {changed.role}")


def set_quota(
    name: Name,
    *,
    submissions_a_day: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=_MAX_QUOTA,
            help="Maximum number of submissions within 24 hours; checks are counted separately.",
        ),
    ] = None,
    bots: Annotated[int | None, typer.Option(min=0, max=_MAX_QUOTA, help="Maximum number of bots.")] = None,
    challenges_a_day: Annotated[
        int | None, typer.Option(min=0, max=_MAX_QUOTA, help="Maximum number of challenges within 24 hours.")
    ] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Restore the arena's default quotas.")] = False,
) -> None:
    """Set an account's quotas, which replace the arena's default quotas."""
    from arena.db.quotas import AccountQuota

    quota = AccountQuota(submissions_a_day=submissions_a_day, bots=bots, challenges_a_day=challenges_a_day)
    if reset == (quota != AccountQuota()):
        fail("give --submissions-a-day, --bots or --challenges-a-day, or only --reset to reset all three")
    with operating() as operators:
        if reset:
            operators.reset_quota(operator_name(), name)
        else:
            operators.set_quota(operator_name(), name, quota)
    _print_quotas(_status(name))


def show_user(name: Name, *, as_json: Json = False) -> None:
    """Show an account's bots and quotas, and count its recent submissions, tokens and sessions."""
    status = _status(name)
    if as_json:
        print_json(status)
        return
    rows = [
        ("role", status["role"].value),
        ("created (UTC)", f"{status['created']:%Y-%m-%d}"),
        ("submissions within 24 hours", str(status["submissions"])),
        ("valid tokens", str(status["tokens"])),
        ("browser sessions", str(status["sessions"])),
    ]
    print_table(("account", status["name"]), rows)
    typer.echo()
    _print_quotas(status)
    if status["bots"]:
        typer.echo()
        print_bots(status["bots"])


def list_users(*, as_json: Json = False) -> None:
    """List all accounts."""
    with open_arena_store() as (_, store):
        users = store.accounts.all()
    if as_json:
        accounts = [
            {"name": user.name, "role": user.role, "created": user.created, "deleted": user.deleted}
            for user in users
        ]
        print_json({"accounts": accounts})
        return
    rows = [
        (
            user.name,
            user.role.value,
            f"{user.created:%Y-%m-%d}",
            "" if user.deleted is None else f"{user.deleted:%Y-%m-%d}",
        )
        for user in users
    ]
    print_table(("name", "role", "created (UTC)", "deleted (UTC)"), rows)


def invite(
    days: Annotated[int, typer.Option(min=1, max=366, help="Days until the invitation expires.")] = 7,
) -> None:
    """Create an invitation for one person to register, and print its code."""
    from arena.platform.settings import RegistrationMode, read_settings

    with operating() as operators:
        code = operators.invite(operator_name(), days)
    typer.echo(code)
    say(
        f"valid for one registration within {counted(days, 'day')}, "
        f"at /register?invitation={code} on the site"
    )
    if read_settings().registration is not RegistrationMode.INVITATION:
        say("the site requires invitations only if ARENA_REGISTRATION=invitation")


def audit(
    last: Annotated[int, typer.Option(min=1, max=1_000_000, help="Maximum number of entries.")] = 50,
    account: Annotated[str | None, typer.Option(help="Only actions by or on this account.")] = None,
) -> None:
    """Print the audit log, oldest entries first: actions by operators, and by users on their own accounts."""
    with open_arena_store() as (_, store):
        entries = store.accounts.audit(last, account)
    if account is not None and not entries:
        with operating() as operators:
            operators.find(account)  # an unknown name must not look like an account without entries
    for entry in entries:
        at = f"{entry.at:%Y-%m-%d %H:%M:%S}"
        fields = (str(entry.number), at, entry.who, entry.what, entry.subject, entry.detail)
        typer.echo("\t".join(fields if entry.address is None else (*fields, entry.address)))


def _status(name: str) -> dict[str, Any]:
    """Return an account's data for JSON, including its bots, quotas and numbers of tokens and sessions."""
    from arena.accounts.accounts import open_accounts
    from arena.submissions.receiver import open_receiver

    with open_arena_store() as (settings, store):
        accounts = open_accounts(store, settings.registration)
        account = accounts.operators.find(name)
        own = store.accounts.quota(account.id)
        sends = open_receiver(settings, store).allowance(account.name, account.id)
        challenges = settings.challenges_a_day if own.challenges_a_day is None else own.challenges_a_day
        limits = {
            "submissions_a_day": sends.submissions_a_day,
            "bots": sends.max_bots,
            "challenges_a_day": challenges,
        }
        return {
            "name": account.name,
            "role": account.role,
            "created": account.created,
            "bots": public(store.bots.of_account(account.id), Bot),
            "quotas": {
                quota: {"limit": limit, "from": "arena" if getattr(own, quota) is None else "account"}
                for quota, limit in limits.items()
            },
            "submissions": sends.sent,
            "tokens": len(accounts.tokens.of(account)),
            "sessions": len(accounts.sessions.of(account)),
        }


def _print_quotas(status: dict[str, Any]) -> None:
    rows = [
        (
            name.replace("_", " "),
            str(quota["limit"]),
            "this account" if quota["from"] == "account" else "arena default",
        )
        for name, quota in status["quotas"].items()
    ]
    print_table(("quota", "limit", "source"), rows, numbers=("limit",))
