"""Accounts, invitations and the audit log.

The caller creates and hashes the secrets; the store holds only hashes. Transactions lock an account before
its sessions and tokens; the reverse order could deadlock.
"""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, exists, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from arena.db import audit, credentials, ladder, names, quotas, submissions, subscriptions
from arena.db.audit import AuditEntry, NewAuditEntry
from arena.db.bots import ACCOUNT_DELETED
from arena.db.credentials import KnownAccount
from arena.db.database import Repository, from_row
from arena.db.errors import InvitationRefused, LastOperator, NameTaken
from arena.db.quotas import AccountQuota
from arena.db.schema import (
    AccountRow,
    BotRow,
    BotVersionRow,
    ChallengeRow,
    GameRow,
    GameSeatRow,
    InvitationRow,
    MatchRow,
    MatchSeatRow,
    PersonGameRow,
    UnratedGameRow,
)
from arena.protocol.states import BotState, PersonGameState, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAccount:
    """An account to create."""

    name: str  # the display name, checked by the caller
    password: str  # its hash
    role: Role
    created: datetime  # UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPassword:
    """An account that can log in, and its password hash."""

    account: KnownAccount
    password: str


class AccountRepository(Repository):
    """Accounts, invitations and the audit log."""

    def register(
        self, new: NewAccount, *, invitation: str | None = None, entry: NewAuditEntry | None = None
    ) -> KnownAccount:
        """Add an account. If ``invitation`` is given, use up the invitation with that hash.

        Raises InvitationRefused or NameTaken.
        """
        with self._transactions.write() as connection:
            account = _add(connection, new)
            if invitation is not None:
                _use_invitation(connection, invitation, account.id, new.created)
            audit.record(connection, entry)
            return account

    def account(self, name: str) -> StoredPassword | None:
        """Return an account and its password hash by name (case-insensitive); None if unknown or deleted."""
        with self._transactions.read() as connection:
            row = connection.execute(
                select(AccountRow.__table__).where(
                    AccountRow.key == name.lower(), AccountRow.deleted.is_(None)
                )
            ).one_or_none()
            if row is None:
                return None
            return StoredPassword(account=from_row(KnownAccount, row), password=row.password)

    def all(self) -> tuple[KnownAccount, ...]:
        """Return all accounts, including deleted ones, oldest first."""
        with self._transactions.read() as connection:
            rows = connection.execute(select(AccountRow.__table__).order_by(AccountRow.id))
            return tuple(from_row(KnownAccount, row) for row in rows)

    def set_password(  # noqa: PLR0913 - it also ends sessions and tokens
        self,
        account: int,
        password: str,
        at: datetime,
        *,
        instead_of: str | None = None,
        keep_session: int | None = None,
        keep_tokens: Collection[int] = (),
        entry: NewAuditEntry | None = None,
    ) -> None:
        """Replace the password hash; end all sessions and revoke all tokens, except those to keep.

        Raises CredentialsChanged if ``instead_of`` is not the old hash, or if the account was deleted.
        """
        with self._transactions.write() as connection:
            credentials.lock_account(connection, account, instead_of)
            connection.execute(update(AccountRow).where(AccountRow.id == account).values(password=password))
            credentials.end_all(connection, account, at, keep_session=keep_session, keep_tokens=keep_tokens)
            audit.record(connection, entry)

    def set_role(self, account: int, role: Role, entry: NewAuditEntry) -> bool:
        """Change an account's role.

        Returns False, and writes no audit entry, if it has that role already or is deleted. Raises
        LastOperator.
        """
        with self._transactions.write() as connection:
            operators = _lock_operators(connection)
            if role is not Role.OPERATOR:
                _check_not_last(operators, account)
            changed = connection.execute(
                update(AccountRow)
                .where(AccountRow.id == account, AccountRow.deleted.is_(None), AccountRow.role != role)
                .values(role=role)
            )
            if changed.rowcount == 0:
                return False
            audit.record(connection, entry)
            return True

    def quota(self, account: int) -> AccountQuota:
        """Return an account's own quota."""
        with self._transactions.read() as connection:
            return quotas.quota_of(connection, account)

    def set_quota(self, account: int, quota: AccountQuota, entry: NewAuditEntry) -> None:
        """Set an account's quota; None leaves a limit unchanged."""
        with self._transactions.write() as connection:
            if values := {name: number for name, number in asdict(quota).items() if number is not None}:
                connection.execute(update(AccountRow).where(AccountRow.id == account).values(values))
            audit.record(connection, entry)

    def reset_quota(self, account: int, entry: NewAuditEntry) -> None:
        """Reset an account to the arena's default quota."""
        with self._transactions.write() as connection:
            values = asdict(AccountQuota())
            connection.execute(update(AccountRow).where(AccountRow.id == account).values(values))
            audit.record(connection, entry)

    def rehash(self, account: int, old: str, new: str) -> bool:
        """Replace a password's hash with a new one; return False if the stored hash is no longer ``old``."""
        with self._transactions.write() as connection:
            changed = connection.execute(
                update(AccountRow)
                .where(AccountRow.id == account, AccountRow.password == old)
                .values(password=new)
            )
            return changed.rowcount > 0

    def delete(
        self,
        account: int,
        pseudonym: str,
        at: datetime,
        *,
        password: str | None = None,
        entry: NewAuditEntry | None = None,
    ) -> None:
        """Delete an account: replace its name with a pseudonym on bots, in replays and in the audit log.

        Its sessions, tokens and subscriptions are removed. Raises LastOperator, NameTaken, or
        CredentialsChanged if ``password`` is not its password hash or the account is already deleted.
        """
        with self._transactions.write() as connection:
            ladder.lock(connection)  # first, as for matches and submissions: another order could deadlock
            operators = _lock_operators(connection)  # before the account, as in set_role
            credentials.lock_account(connection, account, password)
            _check_not_last(operators, account)
            _delete(connection, account, pseudonym, at)
            credentials.remove_all(connection, account)
            subscriptions.remove_all(connection, account)
            audit.record(connection, entry)

    def invite(self, hash_: str, created: datetime, expires: datetime, entry: NewAuditEntry) -> None:
        """Add an invitation."""
        with self._transactions.write() as connection:
            connection.execute(insert(InvitationRow).values(hash=hash_, created=created, expires=expires))
            audit.record(connection, entry)

    def record(self, entry: NewAuditEntry) -> None:
        """Add an audit entry for an action that changes nothing else in the store."""
        with self._transactions.write() as connection:
            audit.record(connection, entry)

    def audit(self, limit: int, account: str | None = None) -> Sequence[AuditEntry]:
        """Return the last audit entries, oldest first; optionally only those by or about an account."""
        with self._transactions.read() as connection:
            return audit.last(connection, limit, account)

    def remove_visits(self, before: datetime | None) -> int:
        """Remove users' entries before a time, if given, and the oldest over the limit; return the count."""
        with self._transactions.write() as connection:
            return audit.remove_visits(connection, before)


def _add(connection: Connection, new: NewAccount) -> KnownAccount:
    ladder.lock(connection)  # so that no bot takes this name at the same time
    names.check_account(connection, new.name)
    values = asdict(new) | {"key": new.name.lower()}
    try:
        added = insert(AccountRow).values(values).returning(*AccountRow.__table__.columns)
        return from_row(KnownAccount, connection.execute(added).one())
    except IntegrityError as error:  # on PostgreSQL, another process may have added it first
        raise names.taken_by_another(new.name) from error


def _lock_operators(connection: Connection) -> list[int]:
    """Return the operators' ids; lock their rows, so that two can't demote each other at the same time."""
    operators = select(AccountRow.id).where(AccountRow.role == Role.OPERATOR).order_by(AccountRow.id)
    return list(connection.execute(operators.with_for_update()).scalars())


def _check_not_last(operators: list[int], account: int) -> None:
    if operators == [account]:
        raise LastOperator("this is the last operator: give another account the operator role first")


def _use_invitation(connection: Connection, hash_: str, account: int, at: datetime) -> None:
    used = connection.execute(
        update(InvitationRow)
        .where(InvitationRow.hash == hash_, InvitationRow.used_by.is_(None), InvitationRow.expires > at)
        .values(used_by=account)
    )
    if used.rowcount == 0:
        raise InvitationRefused(
            "this invitation is unknown, used or expired: ask the arena's operator for a new one"
        )


def _delete(connection: Connection, account: int, pseudonym: str, at: datetime) -> None:
    name = connection.execute(select(AccountRow.name).where(AccountRow.id == account)).scalar_one()
    if connection.execute(select(exists().where(AccountRow.key == pseudonym))).scalar_one():
        raise NameTaken(f"the name {pseudonym} is taken: choose another")
    connection.execute(
        update(AccountRow)
        .where(AccountRow.id == account)
        .values(name=pseudonym, key=pseudonym, password=None, role=Role.USER, created=at, deleted=at)
        # An upload in progress must not become a submission under the old name.
        .values(asdict(AccountQuota(submissions_a_day=0, bots=0, challenges_a_day=0)))
    )
    # Bots that an operator added before the account existed have the author's name, but no account.
    by_name = BotRow.account_id.is_(None) & ~BotRow.house & (func.lower(BotRow.author) == name.lower())
    condition = or_(BotRow.account_id == account, by_name)
    bots = connection.execute(select(BotRow.id, BotRow.author).where(condition)).all()
    ladder.mark_changed(connection, condition)
    connection.execute(update(BotRow).where(condition).values(author=pseudonym))
    connection.execute(
        update(BotRow)
        .where(BotRow.account_id == account, BotRow.state != BotState.DISQUALIFIED)
        .values(state=BotState.RETIRED, reason=ACCOUNT_DELETED, since=at)
    )
    for author in {bot.author for bot in bots}:
        _rename_in_replays(connection, [bot.id for bot in bots if bot.author == author], author, pseudonym)
    submissions.rename(connection, account, name, pseudonym, at)
    connection.execute(delete(PersonGameRow).where(PersonGameRow.account_id == account))
    audit.rename(connection, name, pseudonym)


def _rename_in_replays(connection: Connection, bots: list[int], author: str, pseudonym: str) -> None:
    version_ids = select(BotVersionRow.id).where(BotVersionRow.bot_id.in_(bots))
    games = select(GameSeatRow.game_number).where(GameSeatRow.version_id.in_(version_ids))
    connection.execute(
        update(GameRow)
        .where(GameRow.number.in_(games))
        .values(replay=submissions.renamed(GameRow.replay, author, pseudonym))
    )
    challenges = (
        select(MatchSeatRow.match_id)
        .join(MatchRow, MatchRow.id == MatchSeatRow.match_id)
        .join(ChallengeRow, ChallengeRow.number == MatchRow.challenge_number)
        .where(MatchSeatRow.version_id.in_(version_ids))
    )
    connection.execute(
        update(UnratedGameRow)
        .where(UnratedGameRow.match_id.in_(challenges))
        .values(replay=submissions.renamed(UnratedGameRow.replay, author, pseudonym))
    )
    # Search the whole table, which is small because people's games are removed after a month.
    connection.execute(
        update(PersonGameRow)
        .where(PersonGameRow.state == PersonGameState.OVER)
        .values(replay=submissions.renamed(PersonGameRow.replay, author, pseudonym))
    )
