"""Tests of ``arena admin`` on accounts, invitations and the audit log."""

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from arena.accounts.accounts import open_accounts
from arena.db.audit import NewAuditEntry
from arena.db.bots import NewVersion
from arena.db.quotas import Quota
from arena.platform.settings import RegistrationMode
from arena.protocol.states import Scope
from tests.cli.command import arena
from tests.cli.operator import Operator
from tests.db.builders import START, add_account, present
from tests.db.test_accounts import token as expired_token
from tests.db.test_submissions import new

PASSWORD = "correct horse battery staple\n"  # noqa: S105 - a test's


def test_an_operator_creates_accounts_and_it_is_logged(empty: Operator) -> None:
    """Each successful command adds a line to the audit log, and a refused one adds none."""
    assert empty.does("create-user", "Ann", "--operator", text=PASSWORD) == "Ann operator\n"
    twice = empty.types("create-user", "ann", text=PASSWORD)
    assert (twice.code, twice.out) == (2, "")
    assert "arena: the name ann is taken" in twice.err
    empty.does("reset-password", "ann", text="an entirely different phrase\n")
    invited = empty.types("invite", "--days", "3")
    assert "ARENA_REGISTRATION=invitation" in invited.err
    assert empty.log() == [
        ("create-user", "account:Ann", "as operator"),
        ("reset-password", "account:Ann", ""),
        ("invite", "", "for 3 days"),
    ]
    assert [line.split("\t")[0] for line in empty.does("audit").splitlines()] == ["1", "2", "3"]
    assert "Ann   operator" in empty.does("list-users")
    with empty.store() as store:
        accounts = open_accounts(store, RegistrationMode.INVITATION)
        assert accounts.sessions.check("ANN", "an entirely different phrase").account.name == "Ann"
        assert accounts.own.register("ben", PASSWORD.strip(), invited.out.strip()).account.name == "ben"


@pytest.mark.parametrize(
    ("words", "text", "why"),
    [
        (("create-user", "ann"), "short\n", "at least 8 characters"),
        (("create-user", "ann"), "", "at least 8 characters"),
        (("create-user", "house"), PASSWORD, "reserved for the arena"),
        (("reset-password", "nobody-here"), PASSWORD, "there is no account called nobody-here"),
    ],
)
def test_what_can_not_be_done_says_why(empty: Operator, words: tuple[str, ...], text: str, why: str) -> None:
    """The exit code of an impossible command is 2, and nothing is created."""
    ended = empty.types(*words, text=text)
    assert ended.code == 2
    assert why in ended.err
    with empty.store() as store:
        assert not store.accounts.all()
        assert not store.accounts.audit(1)


def test_the_audit_log_shows_the_addresses_of_users(empty: Operator) -> None:
    """Users' entries have their addresses. Operators' entries have none."""
    with empty.store() as store:
        store.accounts.record(NewAuditEntry(at=START, who="ann", what="log-in", address="192.0.2.7"))
        store.accounts.record(NewAuditEntry(at=START, who="terminal:root", what="invite"))
    at = f"{START:%Y-%m-%d %H:%M:%S}"
    assert [line.split("\t") for line in empty.does("audit").splitlines()] == [
        ["1", at, "ann", "log-in", "", "", "192.0.2.7"],
        ["2", at, "terminal:root", "invite", "", ""],
    ]
    assert empty.does("audit", "--account", "Ann").split("\t")[0] == "1"
    done = empty.types("audit", "--account", "bob")
    assert (done.code, done.out) == (2, "")
    assert "there is no account called bob" in done.err


@pytest.mark.parametrize("words", ["audit --last", "play-version mine"])
def test_numbers_that_a_database_can_not_hold_are_refused(operator: Operator, words: str) -> None:
    """The message names the maximum."""
    done = operator.types(*words.split(), str(10**20))
    assert done.code == 2
    assert "Input should be less than or equal to 1000000" in done.err


def test_roles_are_given_and_taken(operator: Operator) -> None:
    """Any account can be given a role. The last operator can't lose theirs."""
    with operator.store() as store:
        for name in ("Eve", "Adam"):
            add_account(store, name)
    assert operator.does("set-role", "eve", "operator") == "Eve operator\n"
    assert "this is the last operator" in operator.is_refused("set-role", "eve", "user")
    operator.does("set-role", "adam", "operator")
    assert operator.does("set-role", "eve", "user") == "Eve user\n"
    assert operator.is_refused("set-role", "eve", "user") == "Eve already has the user role"
    assert operator.is_refused("set-role", "cain", "user") == "there is no account called cain"
    assert operator.types("set-role", "eve", "king").code == 2
    told = operator.reads("list-users")["accounts"]
    assert [(user["name"], user["role"], user["deleted"]) for user in told] == [
        ("Eve", "user", None),
        ("Adam", "operator", None),
    ]
    assert all(user["created"].endswith("Z") for user in told)
    assert operator.log() == [
        ("set-role", "account:Eve", "to operator"),
        ("set-role", "account:Adam", "to operator"),
        ("set-role", "account:Eve", "to user"),
    ]


def test_a_name_must_be_utf_8(operator: Operator, tmp_path: Path) -> None:
    """The database can't store other text."""
    words = ("admin", "show-user", os.fsdecode(b"caf\xe9"))
    done = arena(*words, folder=tmp_path, ARENA_DATABASE_URL=operator.url, ARENA_DATA_DIR="/nowhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == r"arena: caf\xe9 is not UTF-8: type it in a terminal that uses UTF-8" + "\n"


def test_quotas_are_set_and_reset(operator: Operator) -> None:
    """Each quota can be set separately. The output shows the limits that apply, and their origin."""
    with operator.store() as store:
        add_account(store, "Eve")
    usual = {"limit": 20, "from": "arena"}
    assert operator.reads("show-user", "eve")["quotas"] == {
        "submissions_a_day": usual,
        "bots": {"limit": 5, "from": "arena"},
        "challenges_a_day": usual,
    }
    shown = operator.does("set-quota", "eve", "--bots", "0", "--challenges-a-day", "3").splitlines()
    assert [line.split() for line in shown] == [
        ["quota", "limit", "source"],
        ["submissions", "a", "day", "20", "arena", "default"],
        ["bots", "0", "this", "account"],
        ["challenges", "a", "day", "3", "this", "account"],
    ]
    operator.does("set-quota", "eve", "--submissions-a-day", "7")
    quotas = operator.reads("show-user", "EVE")["quotas"]
    assert [quota["limit"] for quota in quotas.values()] == [7, 0, 3]
    operator.does("set-quota", "eve", "--reset")
    assert operator.reads("show-user", "eve")["quotas"]["submissions_a_day"] == usual
    for words in ((), ("--reset", "--bots", "3")):
        assert "--challenges-a-day, or only --reset" in operator.is_refused("set-quota", "eve", *words)
    for number in ("-1", "many", "1000001"):
        assert operator.types("set-quota", "eve", "--bots", number).code == 2
    assert operator.is_refused("set-quota", "adam", "--bots", "1") == "there is no account called adam"
    assert operator.log() == [
        ("set-quota", "account:Eve", "0 bots, 3 challenges a day"),
        ("set-quota", "account:Eve", "7 submissions a day"),
        ("set-quota", "account:Eve", "reset to the default"),
    ]


def test_an_account_is_shown(operator: Operator) -> None:
    """The output has the account's bots, and its numbers of recent submissions, valid tokens and sessions."""
    with operator.store() as store:
        eve = add_account(store, "Eve")
        accounts = open_accounts(store, RegistrationMode.OPEN)
        accounts.sessions.open(present(store.accounts.account("Eve")), "", instead_of=None)
        for name in ("laptop", "server"):
            accounts.tokens.create(eve, name=name, scopes={Scope.READ}, days=1)
        store.credentials.add_token(expired_token(eve), max_tokens=3)
        store.bots.add_version(
            NewVersion(bot="hers", author="Eve", house=False, source="s", created=START, account=eve.id)
        )
        quota = Quota(submissions_a_day=9, bots=9, open_submissions=9)
        for id_, received in (("u1", datetime.now(UTC)), ("u2", datetime.now(UTC) - timedelta(days=1))):
            store.submissions.add(replace(new(id_, "hers", "Eve", eve.id), received=received), quota)
    told = operator.reads("show-user", "eve")
    assert (told["name"], told["role"], told["created"][:4]) == ("Eve", "user", str(eve.created.year))
    assert [(bot["name"], bot["state"]) for bot in told["bots"]] == [("hers", "active")]
    assert (told["submissions"], told["tokens"], told["sessions"]) == (1, 2, 1)
    shown = operator.does("show-user", "eve")
    for words in (
        "submissions within 24 hours  1",
        "valid tokens                 2",
        "hers@1  Eve     active",
    ):
        assert words in shown
    assert operator.is_refused("show-user", "adam") == "there is no account called adam"
