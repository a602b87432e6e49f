"""What operators do with accounts. Each change is written to the audit log in the same transaction."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta

from arena.accounts.errors import NoSuchAccount
from arena.accounts.names import check_account_name
from arena.accounts.password_rules import check_new_password
from arena.accounts.passwords import Passwords
from arena.accounts.sources import Sources, hash_of
from arena.store import (
    AccountQuota,
    AuditEntry,
    KnownAccount,
    NewAccount,
    NewAuditEntry,
    People,
    Role,
    WrongState,
)


class Operators:
    """Acts for operators.

    Args:
        people: Where accounts are kept.
        passwords: Makes the hashes.
        sources: Time and secrets.
    """

    def __init__(self, people: People, passwords: Passwords, sources: Sources) -> None:
        self._people = people
        self._passwords = passwords
        self._sources = sources

    def create_user(self, who: str, name: str, password: str, role: Role) -> KnownAccount:
        """Make an account, whether registration is open or not.

        Raises:
            NameTaken: Somebody has that name.
            PasswordRefused: The password can't be used.
            WrongName: The name can't be used.
        """
        check_account_name(name)
        check_new_password(password, name)
        new = NewAccount(
            name=name, password=self._passwords.hash(password), role=role, created=self._sources.now()
        )
        entry = self._entry(who, "create-user", f"account:{name}", f"as {role}")
        return self._people.register(new, entry=entry)

    def reset_password(self, who: str, name: str, password: str) -> None:
        """Replace somebody's password; all sessions and tokens of the account end.

        Raises:
            NoSuchAccount: Nobody has that name.
            PasswordRefused: The password can't be used.
        """
        account = self._find(name)
        check_new_password(password, account.name)
        self._people.set_password(
            account.id,
            self._passwords.hash(password),
            keep_tokens=False,
            entry=self._entry(who, "reset-password", f"account:{account.name}"),
        )

    def set_role(self, who: str, name: str, role: Role) -> KnownAccount:
        """Change what an account may do. Its sessions and tokens may do no more than that from now on.

        Raises:
            LastOperator: There would be no operator any more.
            NoSuchAccount: Nobody has that name.
            WrongState: It may do that already.
        """
        account = self._find(name)
        entry = self._entry(who, "set-role", f"account:{account.name}", f"to {role}")
        if not self._people.set_role(account.id, role, entry):
            raise WrongState(f"{account.name} has the role {role} already")
        return self._find(name)

    def set_quota(self, who: str, name: str, quota: AccountQuota) -> None:
        """Set how much an account may send, as far as there is a number; the rest stays what it is.

        Raises:
            NoSuchAccount: Nobody has that name.
        """
        account = self._find(name)
        words = [
            f"{number} {what.replace('_', ' ')}"
            for what, number in asdict(quota).items()
            if number is not None
        ]
        entry = self._entry(who, "set-quota", f"account:{account.name}", ", ".join(words))
        self._people.set_quota(account.id, quota, entry)

    def reset_quota(self, who: str, name: str) -> None:
        """Let the arena's own settings count for an account again.

        Raises:
            NoSuchAccount: Nobody has that name.
        """
        account = self._find(name)
        entry = self._entry(who, "set-quota", f"account:{account.name}", "the arena's own")
        self._people.reset_quota(account.id, entry)

    def invite(self, who: str, days: int) -> str:
        """Return the secret of a new invitation: it lets one person register within so many days."""
        secret = self._sources.new_secret()
        now = self._sources.now()
        entry = self._entry(who, "invite", detail=f"for {days} days")
        self._people.invite(hash_of(secret), now, now + timedelta(days=days), entry)
        return secret

    def record(self, who: str, what: str, subject: str = "", detail: str = "") -> None:
        """Write to the audit log what was done elsewhere."""
        self._people.record(self._entry(who, what, subject, detail))

    def users(self) -> Sequence[KnownAccount]:
        """Return all accounts, in the order of their making."""
        return self._people.accounts()

    def audit(self, limit: int) -> Sequence[AuditEntry]:
        """Return the last entries of the audit log, oldest first."""
        return self._people.audit(limit)

    def _find(self, name: str) -> KnownAccount:
        found = self._people.account(name)
        if found is None:
            raise NoSuchAccount(f"there is no account {name}")
        return found.account

    def _entry(self, who: str, what: str, subject: str = "", detail: str = "") -> NewAuditEntry:
        return NewAuditEntry(at=self._sources.now(), who=who, what=what, subject=subject, detail=detail)
