"""What operators do with accounts. Each change is written to the audit log in the same transaction."""

from collections.abc import Sequence
from datetime import timedelta

from arena.accounts.errors import NoSuchAccount
from arena.accounts.names import check_account_name
from arena.accounts.password_rules import check_new_password
from arena.accounts.passwords import Passwords
from arena.accounts.sources import Sources, hash_of
from arena.store import AuditEntry, KnownAccount, NewAccount, NewAuditEntry, People, Role


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
        found = self._people.account(name)
        if found is None:
            raise NoSuchAccount(f"there is no account {name}")
        check_new_password(password, found.account.name)
        self._people.set_password(
            found.account.id,
            self._passwords.hash(password),
            keep_tokens=False,
            entry=self._entry(who, "reset-password", f"account:{found.account.name}"),
        )

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

    def _entry(self, who: str, what: str, subject: str = "", detail: str = "") -> NewAuditEntry:
        return NewAuditEntry(at=self._sources.now(), who=who, what=what, subject=subject, detail=detail)
