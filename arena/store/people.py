"""Accounts and their ways in, as the rest of the program sees them: one transaction a call.

Whoever calls has made the secrets and hashed them; the store holds nothing that lets anybody in. Every
method may raise DatabaseUnavailable; what was to be written then is all there or not at all.

Transactions lock an account before what belongs to it; the other way round two could wait for each other.
"""

from collections.abc import Sequence
from datetime import datetime

from arena.store import accounts, audit, invitations, quotas, sessions, tokens
from arena.store.database import Database
from arena.store.persons import (
    ApiToken,
    AuditEntry,
    KnownAccount,
    NewAccount,
    NewAuditEntry,
    NewSession,
    NewToken,
    OpenSession,
    Role,
    StoredPassword,
)
from arena.store.quotas import AccountQuota


class People:
    """Accounts, sessions, tokens, invitations, and what operators did."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def register(
        self, new: NewAccount, *, invitation: str | None = None, entry: NewAuditEntry | None = None
    ) -> KnownAccount:
        """Add an account.

        Args:
            new: Whose.
            invitation: The hash of one that lets it in and is used up by it.
            entry: What the audit log says, where an operator did this.

        Raises:
            InvitationRefused: There is none of that hash, it has been used, or it is too old.
            NameTaken: Somebody has that name.
        """
        with self._database.write() as connection:
            account = accounts.add(connection, new)
            if invitation is not None:
                invitations.use(connection, invitation, account.id, new.created)
            audit.record(connection, entry)
            return account

    def account(self, name: str) -> StoredPassword | None:
        """Return the account of this name in any case, with its password's hash; None where there is none."""
        with self._database.read() as connection:
            return accounts.find(connection, name)

    def accounts(self) -> tuple[KnownAccount, ...]:
        """Return all accounts, deleted ones too, in the order of their making."""
        with self._database.read() as connection:
            return accounts.every(connection)

    def set_password(
        self,
        account: int,
        password: str,
        *,
        keep_session: int | None = None,
        keep_tokens: bool = True,
        entry: NewAuditEntry | None = None,
    ) -> None:
        """Replace a password's hash and end all sessions but one; without ``keep_tokens`` the tokens too."""
        with self._database.write() as connection:
            accounts.set_password(connection, account, password)
            sessions.end_all(connection, account, keep=keep_session)
            if not keep_tokens:
                tokens.remove_all(connection, account)
            audit.record(connection, entry)

    def set_role(self, account: int, role: Role, entry: NewAuditEntry) -> bool:
        """Change what an account may do, from now on.

        Returns:
            False where it may do that already: nothing changed, and nothing is written to the audit log.

        Raises:
            LastOperator: There would be no operator any more.
        """
        with self._database.write() as connection:
            changed = accounts.set_role(connection, account, role)
            audit.record(connection, entry if changed else None)
            return changed

    def quota(self, account: int) -> AccountQuota:
        """Return what was set for an account alone."""
        with self._database.read() as connection:
            return quotas.find(connection, account)

    def set_quota(self, account: int, quota: AccountQuota, entry: NewAuditEntry) -> None:
        """Set what an account may send, as far as there is a number; None stays what it is."""
        with self._database.write() as connection:
            quotas.put(connection, account, quota)
            audit.record(connection, entry)

    def reset_quota(self, account: int, entry: NewAuditEntry) -> None:
        """Let the arena's own settings count for an account again."""
        with self._database.write() as connection:
            quotas.reset(connection, account)
            audit.record(connection, entry)

    def rehash(self, account: int, old: str, new: str) -> None:
        """Replace a password's hash by another of the same password, unless it has changed meanwhile."""
        with self._database.write() as connection:
            accounts.rehash(connection, account, old, new)

    def delete(self, account: int, pseudonym: str, at: datetime) -> None:
        """Turn an account into a pseudonym, in the replays too, and end its sessions and tokens.

        Raises:
            NameTaken: The pseudonym has been given already.
        """
        with self._database.write() as connection:
            accounts.delete(connection, account, pseudonym, at)
            sessions.end_all(connection, account)
            tokens.remove_all(connection, account)

    def open_session(self, new: NewSession, *, instead_of: str | None = None) -> int:
        """Add a session and return its id; the one with the other hash ends."""
        with self._database.write() as connection:
            session = sessions.add(connection, new)
            if instead_of is not None:
                sessions.end(connection, instead_of)
            return session

    def session(self, hash_: str) -> OpenSession | None:
        """Return the session with this hash, or None. Whether it is too old is the caller's to say."""
        with self._database.read() as connection:
            return sessions.find(connection, hash_)

    def sessions(self, account: int) -> tuple[OpenSession, ...]:
        """Return the sessions of an account, the one that was seen last first."""
        with self._database.read() as connection:
            return sessions.of_account(connection, account)

    def session_seen(self, session: int, at: datetime) -> None:
        """Note when a session was last in use."""
        with self._database.write() as connection:
            sessions.seen(connection, session, at)

    def end_session(self, hash_: str) -> None:
        """End the session with this hash, if there is one."""
        with self._database.write() as connection:
            sessions.end(connection, hash_)

    def end_session_of(self, account: int, session: int) -> bool:
        """End a session by its id; False where this account has none of that id."""
        with self._database.write() as connection:
            return sessions.end_of_account(connection, account, session)

    def end_old_sessions(self, *, created_before: datetime, seen_before: datetime) -> int:
        """End all sessions that are too old or were not used for too long; return how many."""
        with self._database.write() as connection:
            return sessions.end_old(connection, created_before, seen_before)

    def add_token(self, new: NewToken, *, most: int) -> ApiToken:
        """Add a token.

        Raises:
            TooManyTokens: The account has ``most`` that work.
        """
        with self._database.write() as connection:
            return tokens.add(connection, new, most)

    def token(self, hash_: str) -> tuple[ApiToken, KnownAccount] | None:
        """Return the token with this hash and whose it is, or None; it may have expired."""
        with self._database.read() as connection:
            return tokens.find(connection, hash_)

    def tokens(self, account: int) -> tuple[ApiToken, ...]:
        """Return the tokens of an account, newest first, those that work no more too."""
        with self._database.read() as connection:
            return tokens.of_account(connection, account)

    def token_used(self, token: int, at: datetime) -> None:
        """Note when a token was last used."""
        with self._database.write() as connection:
            tokens.used(connection, token, at)

    def revoke_token(self, account: int, token: int, at: datetime) -> bool:
        """Revoke a token; False where this account has none of that id that works."""
        with self._database.write() as connection:
            return tokens.revoke(connection, account, token, at)

    def invite(self, hash_: str, created: datetime, expires: datetime, entry: NewAuditEntry) -> None:
        """Add an invitation."""
        with self._database.write() as connection:
            invitations.add(connection, hash_, created, expires)
            audit.record(connection, entry)

    def record(self, entry: NewAuditEntry) -> None:
        """Write what an operator did that is not in the store otherwise."""
        with self._database.write() as connection:
            audit.record(connection, entry)

    def audit(self, limit: int) -> Sequence[AuditEntry]:
        """Return the last entries of the audit log, oldest first."""
        with self._database.read() as connection:
            return audit.last(connection, limit)
