"""``arena admin``: accounts, invitations, and the audit log, as an operator types them."""

from contextlib import closing
from pathlib import Path

import pytest

from arena.accounts import open_accounts
from arena.settings import RegistrationMode
from arena.store import open_store
from tests.cli.command import arena

PASSWORD = b"correct horse battery staple\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder whose data directory has a database."""
    (tmp_path / "data").mkdir()
    open_store(f"sqlite:///{tmp_path / 'data' / 'arena.sqlite3'}").close()
    return tmp_path


def test_an_operator_makes_accounts_and_it_is_written_down(folder: Path) -> None:
    """Create, reset, invite: each leaves a line of who did what to whom; what is refused leaves none."""
    made = arena("admin", "create-user", "Ann", "--operator", folder=folder, text=PASSWORD)
    assert (made.returncode, made.stdout) == (0, b"Ann operator\n"), made.stderr
    twice = arena("admin", "create-user", "ann", folder=folder, text=PASSWORD)
    assert (twice.returncode, twice.stdout) == (2, b"")
    assert b"arena: the name ann is taken" in twice.stderr
    reset = arena("admin", "reset-password", "ann", folder=folder, text=b"an entirely different phrase\n")
    assert reset.returncode == 0, reset.stderr
    invited = arena("admin", "invite", "--days", "3", folder=folder)
    assert b"ARENA_REGISTRATION=invitation" in invited.stderr

    log = arena("admin", "audit", folder=folder).stdout.decode().splitlines()
    entries = [line.split("\t") for line in log]
    assert [(entry[0], *entry[3:]) for entry in entries] == [
        ("1", "create-user", "account:Ann", "as operator"),
        ("2", "reset-password", "account:Ann", ""),
        ("3", "invite", "", "for 3 days"),
    ]
    assert all(entry[2].startswith("terminal:") for entry in entries)
    listed = arena("admin", "list-users", folder=folder).stdout.decode()
    assert "Ann   operator" in listed

    with closing(open_store(f"sqlite:///{folder / 'data' / 'arena.sqlite3'}")) as store:
        accounts = open_accounts(store.people, RegistrationMode.INVITATION)
        assert accounts.sessions.check("ANN", "an entirely different phrase").name == "Ann"
        code = invited.stdout.decode().strip()
        assert accounts.registration.register("ben", PASSWORD.decode().strip(), code).name == "ben"


@pytest.mark.parametrize(
    ("arguments", "text", "why"),
    [
        (("create-user", "ann"), b"short\n", b"at least 8 characters"),
        (("create-user", "ann"), b"", b"at least 8 characters"),
        (("create-user", "house"), PASSWORD, b"kept for the arena"),
        (("reset-password", "nobody-here"), PASSWORD, b"there is no account nobody-here"),
    ],
)
def test_what_can_not_be_done_says_why(
    folder: Path, arguments: tuple[str, ...], text: bytes, why: bytes
) -> None:
    """In one line, with exit code 2, and nothing is made."""
    ended = arena("admin", *arguments, folder=folder, text=text)
    assert ended.returncode == 2
    assert why in ended.stderr
    assert b"Traceback" not in ended.stderr
    with closing(open_store(f"sqlite:///{folder / 'data' / 'arena.sqlite3'}")) as store:
        assert not store.people.accounts()
        assert not store.people.audit(1)


def test_without_an_arena_there_are_no_accounts(tmp_path: Path) -> None:
    """It says where it looked, and makes nothing."""
    ended = arena("admin", "list-users", folder=tmp_path)
    assert ended.returncode == 2
    assert b"there is no arena in" in ended.stderr
    assert list(tmp_path.iterdir()) == []
