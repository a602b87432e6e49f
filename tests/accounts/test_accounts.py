"""Registration, sessions, tokens, deletion and operators' actions, over a real store."""

from contextlib import closing
from pathlib import Path

import pytest

from arena.accounts.credentials import MAX_AGE, MAX_DAYS, MAX_IDLE, MAX_TOKENS, PREFIX, scopes_of
from arena.accounts.errors import RegistrationRefused, TokenRefused, WrongCredentials
from arena.db.errors import InvitationRefused, NameTaken, TooManyTokens
from arena.platform.settings import RegistrationMode
from arena.protocol.states import Role, Scope
from tests.accounts.world import NEW, PASSWORD, World
from tests.db.builders import present


def test_anyone_who_registers_can_log_in(world: World) -> None:
    """The case of the name doesn't matter; the password must match exactly."""
    ann = world.accounts.own.register("Ann", PASSWORD, "").account
    assert (ann.name, ann.role, ann.created) == ("Ann", Role.USER, world.now)
    assert world.accounts.sessions.check("ann", PASSWORD).account == ann
    for wrong in (PASSWORD.upper(), PASSWORD + " ", ""):
        with pytest.raises(WrongCredentials):
            world.accounts.sessions.check("ann", wrong)


def test_only_operators_create_accounts_if_registration_is_closed(tmp_path: Path) -> None:
    """Nobody can register, even with an invitation."""
    with closing(World.at(tmp_path, RegistrationMode.CLOSED)) as world:
        code = world.accounts.operators.invite("terminal:root", 7)
        for invitation in ("", code):
            with pytest.raises(RegistrationRefused, match="closed"):
                world.accounts.own.register("ann", PASSWORD, invitation)
        assert world.add("ann").name == "ann"


def test_an_invitation_is_good_for_one_account_and_a_few_days(tmp_path: Path) -> None:
    """A failed registration doesn't use up the invitation."""
    with closing(World.at(tmp_path, RegistrationMode.INVITATION)) as world:
        register = world.accounts.own.register
        first, second = (world.accounts.operators.invite("terminal:root", 7) for _ in range(2))
        with pytest.raises(RegistrationRefused, match="needs an invitation"):
            register("ann", PASSWORD, "")
        with pytest.raises(InvitationRefused):
            register("ann", PASSWORD, "made up")
        assert register("ann", PASSWORD, first).account.name == "ann"
        with pytest.raises(InvitationRefused):
            register("ben", PASSWORD, first)
        with pytest.raises(NameTaken):
            register("ANN", PASSWORD, second)
        assert register("ben", PASSWORD, second).account.name == "ben"
        third = world.accounts.operators.invite("terminal:root", 7)
        world.later(days=7)
        with pytest.raises(InvitationRefused):
            register("cat", PASSWORD, third)


def test_a_session_lives_by_its_secret(world: World) -> None:
    """The secret is valid until the session ends. Logging in again in the same browser ends it."""
    ann = world.add("ann")
    first, other = (world.log_in(ann) for _ in range(2))
    second = world.accounts.sessions.open(world.checked(ann), "Firefox", instead_of=first)
    assert len({first, other, second}) == 3
    assert world.accounts.sessions.find(first) is None
    found = present(world.accounts.sessions.find(second))
    assert (found.account, found.browser) == (ann, "Firefox")
    assert (found.created, found.seen) == (world.now, world.now)
    world.accounts.sessions.end(second)
    assert world.accounts.sessions.find(second) is None
    assert world.accounts.sessions.find(other) is not None


def test_a_session_that_is_not_used_ends(world: World) -> None:
    """An unused session ends after a week. Using a session extends it."""
    ann = world.add("ann")
    idle, used = (world.log_in(ann) for _ in range(2))
    world.now += MAX_IDLE / 2
    assert world.accounts.sessions.find(used) is not None
    world.now += MAX_IDLE / 2
    assert world.accounts.sessions.find(idle) is None
    assert world.accounts.sessions.find(used) is not None
    assert len(world.accounts.sessions.of(ann)) == 1


def test_no_session_lives_for_ever(world: World) -> None:
    """A session ends after 30 days, used or not, and the next login deletes its row."""
    ann = world.add("ann")
    secret = world.log_in(ann)
    end = world.now + MAX_AGE
    while world.now < end:
        assert world.accounts.sessions.find(secret) is not None
        world.later(days=3)
    assert world.accounts.sessions.find(secret) is None
    world.log_in(ann)
    assert len(world.store.credentials.sessions(ann.id)) == 1


def test_secrets_are_nowhere_in_the_database(world: World, tmp_path: Path) -> None:
    """The database contains no password, session secret, token or invitation code in plain text."""
    ann = world.add("ann")
    secrets = [
        PASSWORD,
        world.log_in(ann),
        world.accounts.tokens.create(ann, name="t", scopes={Scope.READ}, days=1)[0],
        world.accounts.operators.invite("terminal:root", 7),
    ]
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"terminal:root" in kept
    for secret in secrets:
        assert secret.removeprefix(PREFIX).encode() not in kept


def test_a_token_does_what_its_scopes_say_until_it_expires(world: World) -> None:
    """Using a token updates the time of its last use. An expired token is treated as unknown."""
    ann = world.add("ann")
    secret, made = world.accounts.tokens.create(
        ann, name=" my\tlaptop\N{RIGHT-TO-LEFT OVERRIDE} ", scopes={Scope.SUBMIT, Scope.READ}, days=30
    )
    assert secret.startswith(PREFIX)
    assert secret.startswith(made.prefix)
    assert (made.name, made.scopes, len(made.prefix)) == ("mylaptop", ("read", "submit"), 11)
    found = present(world.accounts.tokens.find(secret))
    assert (found.account, found.scopes) == (ann, frozenset({Scope.READ, Scope.SUBMIT}))
    assert world.accounts.tokens.of(ann)[0].last_used == world.now
    world.later(days=30)
    assert world.accounts.tokens.find(secret) is None
    assert world.accounts.tokens.of(ann) == ()


@pytest.mark.parametrize(
    ("name", "scopes", "days", "why"),
    [
        ("", {Scope.READ}, 1, "a name"),
        ("\N{RIGHT-TO-LEFT OVERRIDE}", {Scope.READ}, 1, "a name"),
        ("t", set[Scope](), 1, "at least one scope"),
        ("t", {Scope.OPERATE}, 1, "lacks these scopes: operate"),
        ("t", {Scope.READ}, 0, "1 to 366 days"),
        ("t", {Scope.READ}, MAX_DAYS + 1, "1 to 366 days"),
    ],
)
def test_some_tokens_are_refused(world: World, name: str, scopes: set[Scope], days: int, why: str) -> None:
    """A token needs a name, at least one scope, only its owner's scopes, and a valid lifetime."""
    ann = world.add("ann")
    with pytest.raises(TokenRefused, match=why):
        world.accounts.tokens.create(ann, name=name, scopes=scopes, days=days)
    assert world.accounts.tokens.of(ann) == ()


def test_tokens_per_account_are_limited(world: World) -> None:
    """Expired tokens don't count towards the limit."""
    ann = world.add("ann")
    for _ in range(MAX_TOKENS):
        world.accounts.tokens.create(ann, name="t", scopes={Scope.READ}, days=1)
    with pytest.raises(TooManyTokens):
        world.accounts.tokens.create(ann, name="t", scopes={Scope.READ}, days=1)
    world.later(days=1)
    world.accounts.tokens.create(ann, name="t", scopes={Scope.READ}, days=1)


def test_a_token_gives_away_no_more_than_it_has(world: World) -> None:
    """A token created with another token has no more scopes and expires no later."""
    ann = world.add("ann")
    secret, made = world.accounts.tokens.create(ann, name="t", scopes={Scope.READ, Scope.TOKENS}, days=2)
    bearer = world.accounts.tokens.find(secret)
    with pytest.raises(TokenRefused, match="submit"):
        world.accounts.tokens.create(ann, name="u", scopes={Scope.SUBMIT}, days=1, by=bearer)
    _, longer = world.accounts.tokens.create(ann, name="u", scopes={Scope.READ}, days=9, by=bearer)
    assert longer.expires == made.expires


def test_a_demoted_operator_loses_the_scope_at_once(world: World) -> None:
    """Existing tokens, tokens created from them and open sessions all lose the scope operate."""
    operators, tokens, sessions = world.accounts.operators, world.accounts.tokens, world.accounts.sessions
    ann, _ = (world.add(name, Role.OPERATOR) for name in ("ann", "ben"))
    secret, _ = tokens.create(ann, name="t", scopes={Scope.OPERATE, Scope.READ, Scope.TOKENS}, days=1)
    of_it, _ = tokens.create(ann, name="u", scopes={Scope.OPERATE}, days=1, by=tokens.find(secret))
    browser = world.log_in(ann)

    assert operators.set_role("ben", "ANN", Role.USER).role is Role.USER

    bearers = [tokens.find(each) for each in (secret, of_it)]
    scopes = [bearer.scopes for bearer in bearers if bearer is not None]
    assert scopes == [frozenset({Scope.READ, Scope.TOKENS}), frozenset()]
    with pytest.raises(TokenRefused, match="lacks these scopes: operate"):
        tokens.create(ann, name="v", scopes={Scope.OPERATE}, days=1, by=bearers[0])
    session = present(sessions.find(browser))
    assert session.account.role is Role.USER
    assert Scope.OPERATE not in scopes_of(session.account.role)


def test_a_deleted_account_is_gone(world: World) -> None:
    """Deletion requires the password. Neither name nor pseudonym works for a login, or is used again."""
    ann, ben = world.add("ann"), world.add("ben")
    secret = world.log_in(ann)
    with pytest.raises(WrongCredentials):
        world.accounts.own.delete(ann, "wrong")
    world.pseudonyms = ["former-3f2a", "former-3f2a", "former-77aa"]
    assert world.accounts.own.delete(ann, PASSWORD) == "former-3f2a"
    assert world.accounts.own.delete(ben, PASSWORD) == "former-77aa"
    assert world.accounts.sessions.find(secret) is None
    for name in ("ann", "former-3f2a"):
        with pytest.raises(WrongCredentials):
            world.accounts.sessions.check(name, PASSWORD)


def test_operators_actions_are_in_the_audit_log(world: World) -> None:
    """Entries name the operator, the action and its subject. A failed action has no entry and no effect."""
    operators = world.accounts.operators
    world.add("ann", Role.OPERATOR)
    with pytest.raises(NameTaken):
        world.add("ann")
    ann = world.store.accounts.all()[0]
    secret = world.log_in(ann)
    token, _ = world.accounts.tokens.create(ann, name="t", scopes={Scope.READ}, days=1)
    operators.reset_password("ann", "ann", NEW)
    operators.invite("ann", 7)
    operators.record("ann", "add-bot", "bot:greedy", "by someone")
    assert world.accounts.sessions.find(secret) is None
    assert world.accounts.tokens.find(token) is None
    assert world.accounts.sessions.check("ann", NEW).account == ann
    entries = [entry for entry in world.store.accounts.audit(9) if entry.address is None]
    log = [(entry.number, entry.who, entry.what, entry.subject, entry.detail) for entry in entries]
    assert log == [
        (1, "terminal:test", "create-user", "account:ann", "as operator"),
        (4, "ann", "reset-password", "account:ann", ""),
        (5, "ann", "invite", "", "for 7 days"),
        (6, "ann", "add-bot", "bot:greedy", "by someone"),
    ]


def test_account_actions_are_in_the_audit_log(world: World) -> None:
    """Entries have the client's address. An unknown name isn't logged, since it may be a password."""
    here = "192.0.2.1"
    accounts = world.accounts
    registered = accounts.own.register("Ann", PASSWORD, "", address=here)
    ann = registered.account
    for name in ("ann", "nobody", "correct horse"):
        with pytest.raises(WrongCredentials):
            accounts.sessions.check(name, "wrong", address=here)
        accounts.sessions.record_lockout(name, here)
    secret = accounts.sessions.open(registered, "", instead_of=None, address=here)
    session = present(accounts.sessions.find(secret))
    _, made = accounts.tokens.create(ann, name="t", scopes={Scope.READ}, days=1, address=here)
    assert accounts.tokens.revoke(ann, made.id, address=here)
    assert not accounts.tokens.revoke(ann, made.id, address=here)
    accounts.own.change_password(session, PASSWORD, NEW, address=here)
    entries = world.store.accounts.audit(99)
    assert {entry.address for entry in entries} == {here}
    assert [(entry.who, entry.what, entry.subject, entry.detail) for entry in entries] == [
        ("Ann", "register", "", ""),
        ("", "log-in-failed", "account:Ann", ""),
        ("", "log-in-locked", "account:Ann", ""),
        *[("", "log-in-failed", "", ""), ("", "log-in-locked", "", "")] * 2,
        ("Ann", "log-in", "", ""),
        ("Ann", "make-token", "", f"{made.prefix}… for read"),
        ("Ann", "revoke-token", "", f"token {made.id}"),
        ("Ann", "change-password", "", ""),
    ]
    assert accounts.own.delete(ann, NEW, address=here) == "former-1"
    assert [entry.what for entry in world.store.accounts.audit(2)] == ["change-password", "delete-account"]
    last = world.store.accounts.audit(1)[0]
    assert (last.who, last.what, last.address) == ("former-1", "delete-account", here)
