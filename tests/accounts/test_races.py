"""Races with password changes and revocations: a check that succeeded before is useless afterwards."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest
from argon2 import PasswordHasher

from arena.accounts.accounts import Accounts
from arena.accounts.errors import WrongCredentials
from arena.db.credentials import KnownAccount, OpenSession
from arena.db.store import open_store
from arena.protocol.states import Scope
from tests.accounts.world import CHEAP, NEW, PASSWORD, World
from tests.db.builders import present
from tests.kinds import BOTH

THEIRS: Final = "what a thief would choose"


class Interrupted(PasswordHasher):
    """A hasher that runs a callback during its first check."""

    def __init__(self, meanwhile: Callable[[], object], *, time_cost: int = CHEAP.time_cost) -> None:
        super().__init__(time_cost=time_cost, memory_cost=CHEAP.memory_cost, parallelism=CHEAP.parallelism)
        self._meanwhile = [meanwhile]

    def verify(self, hash: str | bytes, password: str | bytes) -> bool:  # type: ignore[override] # noqa: A002 - its name
        """Check a password. Then, the first time, run the callback."""
        is_right = super().verify(hash, password)
        if self._meanwhile:
            self._meanwhile.pop()()
        return is_right


@pytest.fixture(params=BOTH)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """Yield accounts over an empty SQLite store, then over an empty PostgreSQL store."""
    if request.param == "sqlite":
        made = World.at(tmp_path)
    else:
        made = World(open_store(request.getfixturevalue("postgresql_url")))
    with closing(made) as world:
        yield world


def session_of(world: World, account: KnownAccount) -> OpenSession:
    """Open a session for the account and return it."""
    return present(world.accounts.sessions.find(world.log_in(account)))


def log_in(accounts: Accounts, _session: OpenSession) -> None:
    """Use the password to log in."""
    accounts.sessions.open(accounts.sessions.check("ann", PASSWORD), "", instead_of=None)


def make_token(accounts: Accounts, session: OpenSession) -> None:
    """Use the password to make a token."""
    checked = accounts.sessions.check("ann", PASSWORD)
    accounts.tokens.create(session.account, name="t", scopes={Scope.READ}, days=1, by=checked)


def change(accounts: Accounts, session: OpenSession) -> None:
    """Use the password to change it."""
    accounts.own.change_password(session, PASSWORD, THEIRS)


def delete(accounts: Accounts, session: OpenSession) -> None:
    """Use the password to delete the account."""
    accounts.own.delete(session.account, PASSWORD)


@pytest.mark.parametrize("use", [log_in, make_token, change, delete])
def test_an_old_password_allows_nothing_after_the_change(
    world: World, use: Callable[[Accounts, OpenSession], None]
) -> None:
    """A password that is changed between its check and the use of the result is refused."""
    ann = world.add("ann")
    owners, thiefs = session_of(world, ann), session_of(world, ann)
    hasher = Interrupted(lambda: world.accounts.own.change_password(owners, PASSWORD, NEW))
    with pytest.raises(WrongCredentials, match="just been changed"):
        use(world.with_hasher(hasher), thiefs)
    assert [each.id for each in world.accounts.sessions.of(ann)] == [owners.id]
    assert world.accounts.tokens.of(ann) == ()
    assert world.accounts.sessions.check("ann", NEW).account == ann


def test_a_login_that_a_new_password_overtakes_leaves_no_known_browser(world: World) -> None:
    """The mark of a known browser is bound to the password that was checked."""
    ann = world.add("ann")
    checked = world.accounts.sessions.check("ann", PASSWORD)
    world.accounts.own.change_password(session_of(world, ann), PASSWORD, NEW)
    assert not world.accounts.sessions.is_known_browser(
        "ann", world.accounts.sessions.known_browser_mark(checked)
    )


def test_a_revoked_token_creates_no_tokens(world: World) -> None:
    """A revoked token is refused even if it was looked up before its revocation."""
    ann = world.add("ann")
    secret, made = world.accounts.tokens.create(ann, name="t", scopes={Scope.TOKENS}, days=1)
    bearer = world.accounts.tokens.find(secret)
    assert world.accounts.tokens.revoke(ann, made.id)
    with pytest.raises(WrongCredentials, match="revoked"):
        world.accounts.tokens.create(ann, name="u", scopes={Scope.TOKENS}, days=1, by=bearer)
    assert world.accounts.tokens.of(ann) == ()


def test_two_logins_that_replace_an_outdated_hash_both_succeed(world: World) -> None:
    """The slower login checks the password against the hash that the faster one stored."""
    ann = world.add("ann")
    stronger = PasswordHasher(time_cost=2, memory_cost=8, parallelism=1)
    faster = world.with_hasher(stronger)
    slower = world.with_hasher(Interrupted(lambda: faster.sessions.check("ann", PASSWORD), time_cost=2))
    checked = slower.sessions.check("ann", PASSWORD)
    slower.sessions.open(checked, "", instead_of=None)
    assert checked == world.checked(ann)
