"""The account services for owners and for operators."""

import secrets
from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Self

from argon2 import PasswordHasher

from arena.accounts.credentials import (
    AccountAction,
    Sessions,
    Sources,
    Tokens,
    by_account,
    hash_of,
    unless_changed,
)
from arena.accounts.errors import NoSuchAccount, RegistrationRefused
from arena.accounts.passwords import Passwords, check_new_password, strong_hasher
from arena.db.accounts import AccountRepository, NewAccount, StoredPassword
from arena.db.audit import NewAuditEntry
from arena.db.credentials import KnownAccount, OpenSession
from arena.db.errors import NameTaken, WrongState
from arena.db.quotas import AccountQuota
from arena.db.store import Store
from arena.platform.names import FORMER, WrongName, check_name, is_reserved
from arena.platform.settings import RegistrationMode
from arena.platform.text import counted
from arena.protocol.states import Role


class OwnerActions:
    """Registers accounts as ``mode`` allows, and changes them. Each change requires the password."""

    def __init__(
        self,
        repository: AccountRepository,
        passwords: Passwords,
        sessions: Sessions,
        sources: Sources,
        mode: RegistrationMode,
    ) -> None:
        self._repository = repository
        self._passwords = passwords
        self._sessions = sessions
        self._sources = sources
        self.mode = mode

    def register(self, name: str, password: str, invitation: str, *, address: str = "") -> StoredPassword:
        """Create an account.

        ``invitation`` is the secret from an operator, or empty. ``address`` is the client's address, for the
        audit log. Raises Busy, InvitationRefused, NameTaken, PasswordRefused, RegistrationRefused or
        WrongName.
        """
        if self.mode is RegistrationMode.CLOSED:
            raise RegistrationRefused("registration is closed: ask the arena's operator for an account")
        if self.mode is RegistrationMode.INVITATION and not invitation:
            raise RegistrationRefused("registration needs an invitation: ask the arena's operator for one")
        new = _new_account(name, password, Role.USER, self._passwords, self._sources)
        # While registration is open, invitations are ignored and stay valid.
        needed = self.mode is RegistrationMode.INVITATION
        account = self._repository.register(
            new,
            invitation=hash_of(invitation) if needed else None,
            entry=by_account(new.created, AccountAction.REGISTER, name, address),
        )
        return StoredPassword(account=account, password=new.password)

    def change_password(
        self, session: OpenSession, old: str, new: str, *, keep: Collection[int] = (), address: str = ""
    ) -> StoredPassword:
        """Replace the password, end all other sessions, and revoke all tokens except those in ``keep``.

        ``address`` is the client's address, for the audit log. Raises Busy, PasswordRefused or
        WrongCredentials.
        """
        checked = self._sessions.confirm(session.account, old, address=address)
        account = checked.account
        check_new_password(new, account.name)
        now, hash_ = self._sources.now(), self._passwords.hash(new)
        with unless_changed():
            self._repository.set_password(
                account.id,
                hash_,
                now,
                instead_of=checked.password,
                keep_session=session.id,
                keep_tokens=keep,
                entry=by_account(now, AccountAction.CHANGE_PASSWORD, account.name, address),
            )
        return replace(checked, password=hash_)

    def delete(self, account: KnownAccount, password: str, *, address: str = "") -> str:
        """Delete an account and return the pseudonym that replaces its name everywhere.

        Raises Busy, LastOperator or WrongCredentials.
        """
        checked = self._sessions.confirm(account, password, address=address)
        while True:
            pseudonym, now = self._sources.new_pseudonym(), self._sources.now()
            entry = by_account(now, AccountAction.DELETE, pseudonym, address)
            try:
                with unless_changed():
                    self._repository.delete(
                        account.id, pseudonym, now, password=checked.password, entry=entry
                    )
            except NameTaken:
                continue
            return pseudonym


class OperatorActions:
    """Changes any account on behalf of an operator."""

    def __init__(self, repository: AccountRepository, passwords: Passwords, sources: Sources) -> None:
        self._repository = repository
        self._passwords = passwords
        self._sources = sources

    def create_user(self, who: str, name: str, password: str, role: Role) -> KnownAccount:
        """Create an account, even if registration is closed.

        Raises NameTaken, PasswordRefused or WrongName.
        """
        new = _new_account(name, password, role, self._passwords, self._sources)
        entry = self._entry(who, "create-user", f"account:{name}", f"as {role}")
        return self._repository.register(new, entry=entry)

    def reset_password(self, who: str, name: str, password: str) -> None:
        """Replace an account's password, end its sessions and revoke its tokens.

        Raises NoSuchAccount or PasswordRefused.
        """
        account = self.find(name)
        check_new_password(password, account.name)
        self._repository.set_password(
            account.id,
            self._passwords.hash(password),
            self._sources.now(),
            entry=self._entry(who, "reset-password", f"account:{account.name}"),
        )

    def set_role(self, who: str, name: str, role: Role) -> KnownAccount:
        """Change an account's role. The new role applies to its sessions and tokens immediately.

        Raises LastOperator, NoSuchAccount or WrongState.
        """
        account = self.find(name)
        entry = self._entry(who, "set-role", f"account:{account.name}", f"to {role}")
        if not self._repository.set_role(account.id, role, entry):
            raise WrongState(f"{account.name} already has the {role} role")
        return self.find(name)

    def set_quota(self, who: str, name: str, quota: AccountQuota) -> None:
        """Set an account's quota. Limits that are None stay unchanged. Raises NoSuchAccount."""
        account = self.find(name)
        words = [
            f"{number} {what.replace('_', ' ')}"
            for what, number in asdict(quota).items()
            if number is not None
        ]
        entry = self._entry(who, "set-quota", f"account:{account.name}", ", ".join(words))
        self._repository.set_quota(account.id, quota, entry)

    def reset_quota(self, who: str, name: str) -> None:
        """Reset an account to the arena's default quota. Raises NoSuchAccount."""
        account = self.find(name)
        entry = self._entry(who, "set-quota", f"account:{account.name}", "reset to the default")
        self._repository.reset_quota(account.id, entry)

    def invite(self, who: str, days: int) -> str:
        """Create an invitation for one account, valid for this number of days, and return its secret."""
        secret = self._sources.new_secret()
        now = self._sources.now()
        entry = self._entry(who, "invite", detail=f"for {counted(days, 'day')}")
        self._repository.invite(hash_of(secret), now, now + timedelta(days=days), entry)
        return secret

    def record(self, who: str, what: str, subject: str = "", detail: str = "") -> None:
        """Add an action performed elsewhere to the audit log."""
        self._repository.record(self._entry(who, what, subject, detail))

    def find(self, name: str) -> KnownAccount:
        """Return an account by name (case-insensitive). Raises NoSuchAccount."""
        found = self._repository.account(name)
        if found is None:
            raise NoSuchAccount(f"there is no account called {name}")
        return found.account

    def _entry(self, who: str, what: str, subject: str = "", detail: str = "") -> NewAuditEntry:
        return NewAuditEntry(at=self._sources.now(), who=who, what=what, subject=subject, detail=detail)


def _new_account(name: str, password: str, role: Role, passwords: Passwords, sources: Sources) -> NewAccount:
    """Return a new account with a checked name and password. Raises Busy, PasswordRefused or WrongName."""
    check_name(name, "user")
    if is_reserved(name):
        raise WrongName(f"the name {name} is reserved for the arena: choose another")
    check_new_password(password, name)
    return NewAccount(name=name, password=passwords.hash(password), role=role, created=sources.now())


_SECRET_BYTES: Final = 32
_PSEUDONYM_BYTES: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounts:
    """All account services."""

    sessions: Sessions
    tokens: Tokens
    own: OwnerActions
    operators: OperatorActions

    @classmethod
    def for_store(
        cls, store: Store, mode: RegistrationMode, sources: Sources, hasher: PasswordHasher
    ) -> Self:
        """Create the services for a store."""
        repository = store.accounts
        passwords = Passwords(hasher)
        sessions = Sessions(repository, store.credentials, passwords, sources)
        return cls(
            sessions=sessions,
            tokens=Tokens(store.credentials, sources),
            own=OwnerActions(repository, passwords, sessions, sources, mode),
            operators=OperatorActions(repository, passwords, sources),
        )


def open_accounts(store: Store, mode: RegistrationMode) -> Accounts:
    """Create the services with the real clock, real secrets and strong hashes.

    The site calls this function, so it can't be in :mod:`arena.app`, which needs Docker.
    """
    return Accounts.for_store(store, mode, real_sources(), strong_hasher())


def real_sources() -> Sources:
    """Return the real clock and a source of real secrets."""
    return Sources(
        now=lambda: datetime.now(UTC),
        new_secret=lambda: secrets.token_urlsafe(_SECRET_BYTES),
        new_pseudonym=lambda: FORMER + secrets.token_hex(_PSEUDONYM_BYTES),
    )
