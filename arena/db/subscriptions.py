"""Notifications for authors: their subscriptions, and the notices waiting for delivery.

:func:`notify_account` adds a notice in the same transaction as the change that it reports, so no notice is
lost. Transactions lock the ladder, a submission or a bot before a subscription, and a subscription before its
notices.
"""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, delete, func, insert, select, true, update

from arena.db import audit
from arena.db.audit import NewAuditEntry
from arena.db.credentials import lock_account
from arena.db.database import Repository, count, from_row
from arena.db.errors import TooManySubscriptions
from arena.db.schema import AccountRow, NoticeRow, SubscriptionRow
from arena.protocol.news import CONFIRM, TEST, News, Topic


class SubscriptionKind(StrEnum):
    """A way to deliver news."""

    WEBHOOK = "webhook"
    MAIL = "mail"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSubscription:
    """A subscription to add."""

    account: int  # id of the owner
    kind: SubscriptionKind
    address: str  # a URL or an email address
    topics: tuple[Topic, ...]
    secret: str  # signs a webhook's requests, or is part of the links in emails
    created: datetime  # UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """A subscription.

    Attributes:
        id: The subscription's id.
        kind: How notifications are delivered.
        address: The URL of a webhook, or an email address.
        topics: The events that are reported.
        created: When the subscription was added.
        confirmed: When its email address was confirmed, or when the webhook was added; null until then.
        trouble: Why the last delivery failed, or null.
        off: When it was switched off because deliveries failed; null if it is on.
    """

    id: int
    kind: SubscriptionKind
    address: str
    topics: tuple[Topic, ...]
    created: datetime
    confirmed: datetime | None
    trouble: str | None
    off: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSubscription(Subscription):
    """A subscription, with its owner and its run of failures, but without its secret."""

    account: int  # id of the owner
    failures: int  # in a row
    failing_since: datetime | None  # UTC; start of the receiver's latest unbroken run of failures


@dataclass(frozen=True, slots=True, kw_only=True)
class DueNotice:
    """A notice to deliver now."""

    number: int
    topic: str  # a Topic, TEST or CONFIRM
    news: News
    subscription: KnownSubscription
    secret: str  # of the subscription
    owner: str  # the account's name


class Subscriptions(Repository):
    """Accounts' subscriptions, and the notices waiting for delivery."""

    def add(
        self, new: NewSubscription, first: News | None, *, max_subscriptions: int, entry: NewAuditEntry
    ) -> KnownSubscription:
        """Add a subscription; ``first`` is the request to confirm it, if it needs confirmation.

        Raises TooManySubscriptions, or CredentialsChanged if the account has been deleted.
        """
        with self._transactions.write() as connection:
            lock_account(connection, new.account, None)  # so that only one is added at a time
            existing = count(connection, SubscriptionRow, SubscriptionRow.account_id == new.account)
            if existing >= max_subscriptions:
                raise TooManySubscriptions(
                    f"the account has {existing} subscriptions, and the limit is {max_subscriptions}: "
                    "remove one first"
                )
            values = asdict(new)
            values["account_id"] = values.pop("account")
            values |= {"topics": list(new.topics), "due": new.created, "failures": 0}
            values["confirmed"] = None if first is not None else new.created
            added = insert(SubscriptionRow).values(values).returning(SubscriptionRow.id)
            id_ = connection.execute(added).scalar_one()
            if first is not None:
                _add_notice(connection, [id_], CONFIRM, first)
            audit.record(connection, entry)
            return _read(connection, id_)

    def of(self, account: int) -> tuple[KnownSubscription, ...]:
        """Return an account's subscriptions, oldest first."""
        query = _subscriptions().where(SubscriptionRow.account_id == account).order_by(SubscriptionRow.id)
        with self._transactions.read() as connection:
            return tuple(map(_known, connection.execute(query)))

    def by_secret(self, secret: str) -> KnownSubscription | None:
        """Return the email subscription with this secret in its links, or None."""
        with self._transactions.read() as connection:
            row = connection.execute(_subscriptions().where(_has_link_secret(secret))).one_or_none()
            return None if row is None else _known(row)

    def confirm(self, secret: str, at: datetime) -> bool:
        """Confirm the email subscription with this secret; return False if no subscription has it."""
        with self._transactions.write() as connection:
            confirmed = func.coalesce(SubscriptionRow.confirmed, at, type_=SubscriptionRow.confirmed.type)
            changed = update(SubscriptionRow).where(_has_link_secret(secret)).values(confirmed=confirmed)
            return connection.execute(changed).rowcount > 0

    def set_topics(
        self, account: int, subscription: int, topics: Collection[Topic], entry: NewAuditEntry
    ) -> KnownSubscription | None:
        """Change a subscription's topics; return None if the account has no such subscription.

        Waiting notices about other topics are removed.
        """
        with self._transactions.write() as connection:
            if not _lock(connection, account, subscription):
                return None
            _set_topics(connection, subscription, topics)
            audit.record(connection, entry)
            return _read(connection, subscription)

    def remove(self, account: int, subscription: int, entry: NewAuditEntry) -> bool:
        """Remove a subscription; return False if the account has no such subscription."""
        with self._transactions.write() as connection:
            if not _lock(connection, account, subscription):
                return False
            _remove(connection, subscription)
            audit.record(connection, entry)
            return True

    def unsubscribe(self, secret: str, topic: Topic | None) -> bool:
        """Remove ``topic``, or all topics if it is None, from the email subscription with this secret.

        Return False if no subscription has the secret. A subscription with no topics left is removed.
        """
        with self._transactions.write() as connection:
            query = select(SubscriptionRow.id, SubscriptionRow.topics).where(_has_link_secret(secret))
            row = connection.execute(query.with_for_update()).one_or_none()
            if row is None:
                return False
            left = [Topic(each) for each in row.topics if topic is not None and each != topic]
            if left:
                _set_topics(connection, row.id, left)
            else:
                _remove(connection, row.id)
            return True

    def test(self, account: int, subscription: int, news: News) -> KnownSubscription | None:
        """Queue a test notice, and switch the subscription on again.

        Return None if the account has no such subscription. An unconfirmed subscription is left unchanged.
        """
        with self._transactions.write() as connection:
            if not _lock(connection, account, subscription):
                return None
            on = {"failures": 0, "failing_since": None, "trouble": None, "off": None, "due": news.at}
            condition = SubscriptionRow.id == subscription
            if _read(connection, subscription).confirmed is not None:
                connection.execute(update(SubscriptionRow).where(condition).values(on))
                waiting = (NoticeRow.subscription_id == subscription) & (NoticeRow.topic == TEST)
                connection.execute(delete(NoticeRow).where(waiting))
                _add_notice(connection, [subscription], TEST, news)
            return _read(connection, subscription)

    def due(
        self,
        now: datetime,
        limit: int,
        *,
        kinds: Collection[SubscriptionKind],
        without: Collection[int] = (),
    ) -> tuple[DueNotice, ...]:
        """Return the oldest notice for each due subscription of these kinds.

        Returns at most ``limit`` notices; subscriptions whose last delivery failed come last. Subscriptions
        whose ids are in ``without`` are left out.
        """
        oldest = select(func.min(NoticeRow.number)).group_by(NoticeRow.subscription_id)
        query = (
            _subscriptions()
            .add_columns(NoticeRow.__table__, AccountRow.name.label("owner"))
            .join(NoticeRow, NoticeRow.subscription_id == SubscriptionRow.id)
            .join(AccountRow, AccountRow.id == SubscriptionRow.account_id)
            .where(NoticeRow.number.in_(oldest), SubscriptionRow.kind.in_(kinds))
            .where(SubscriptionRow.due <= now, SubscriptionRow.off.is_(None))
            .where(SubscriptionRow.id.not_in(without))
            .order_by(SubscriptionRow.failures, NoticeRow.number)
            .limit(limit)
        )
        with self._transactions.read() as connection:
            return tuple(
                from_row(DueNotice, row, news=from_row(News, row), subscription=_known(row))
                for row in connection.execute(query)
            )

    def waiting(self) -> dict[SubscriptionKind, int]:
        """Return the number of notices waiting for delivery, by kind of subscription."""
        counted = (
            select(SubscriptionRow.kind, func.count())
            .join(NoticeRow, NoticeRow.subscription_id == SubscriptionRow.id)
            .group_by(SubscriptionRow.kind)
        )
        with self._transactions.read() as connection:
            found = {SubscriptionKind(kind): count for kind, count in connection.execute(counted)}
        return {kind: found.get(kind, 0) for kind in SubscriptionKind}

    def mark_delivered(self, notice: DueNotice) -> None:
        """Record a delivery."""
        with self._transactions.write() as connection:
            reset = {"failures": 0, "failing_since": None, "trouble": None}
            if notice.subscription.failures:
                connection.execute(update(SubscriptionRow).where(_is_of(notice)).values(reset))
            its_number = (NoticeRow.number == notice.number) & (NoticeRow.at == notice.news.at)
            connection.execute(delete(NoticeRow).where(its_number, _waits_for(notice)))

    def mark_failed(
        self, notice: DueNotice, why: str, at: datetime, again: datetime | None, *, ours: bool = False
    ) -> None:
        """Record a failed delivery; ``again`` is the time of the next attempt.

        If ``again`` is None, the subscription is switched off and its notices are removed. If ``ours`` is
        True, the arena caused the failure, which ends the receiver's run of failures.
        """
        values: dict[str, Any] = {
            "failures": notice.subscription.failures + 1,
            "failing_since": None if ours else notice.subscription.failing_since or at,
            "trouble": why,
        }
        values |= {"off": at} if again is None else {"due": again}
        with self._transactions.write() as connection:
            connection.execute(update(SubscriptionRow).where(_is_of(notice)).values(values))
            if again is None:
                connection.execute(delete(NoticeRow).where(_waits_for(notice)))

    def remove_mail_notices(self, before: datetime) -> None:
        """Remove the notices to email addresses from before a time."""
        old = NoticeRow.at < before
        mail = (
            select(SubscriptionRow.id)
            .where(SubscriptionRow.kind == SubscriptionKind.MAIL)
            .where(SubscriptionRow.id.in_(select(NoticeRow.subscription_id).where(old)))
            .order_by(SubscriptionRow.id)
            .with_for_update()
        )
        with self._transactions.write() as connection:
            ids = list(connection.execute(mail).scalars())
            connection.execute(delete(NoticeRow).where(NoticeRow.subscription_id.in_(ids), old))

    def remove_unconfirmed(self, before: datetime) -> None:
        """Remove email addresses that were added before this time and never confirmed."""
        old = (SubscriptionRow.confirmed.is_(None)) & (SubscriptionRow.created < before)
        with self._transactions.read() as connection:
            ids = list(connection.execute(select(SubscriptionRow.id).where(old)).scalars())
        for id_ in ids:
            with self._transactions.write() as connection:
                query = select(SubscriptionRow.id).where(SubscriptionRow.id == id_, old).with_for_update()
                if connection.execute(query).scalar_one_or_none() is not None:
                    _remove(connection, id_)


def notify_account(connection: Connection, account: int | None, topic: Topic, news: News) -> None:
    """Queue news for an account's subscriptions to a topic, in the caller's transaction."""
    if account is not None:
        _notify(connection, SubscriptionRow.account_id == account, topic, news)


def notify_all(connection: Connection, topic: Topic, news: News) -> None:
    """Queue news for all accounts' subscriptions to a topic, in the caller's transaction."""
    _notify(connection, true(), topic, news)


def _notify(connection: Connection, whose: ColumnElement[bool], topic: Topic, news: News) -> None:
    # Lock them, so that no subscription is removed before this transaction ends.
    rows = connection.execute(
        select(SubscriptionRow.id, SubscriptionRow.topics)
        .where(whose, SubscriptionRow.confirmed.is_not(None), SubscriptionRow.off.is_(None))
        .order_by(SubscriptionRow.id)
        .with_for_update(read=True, key_share=True)
    )
    _add_notice(connection, [row.id for row in rows if topic in row.topics], topic, news)


def remove_all(connection: Connection, account: int) -> None:
    """Remove an account's subscriptions."""
    query = select(SubscriptionRow.id).where(SubscriptionRow.account_id == account)
    for id_ in connection.execute(query.order_by(SubscriptionRow.id).with_for_update()).scalars().all():
        _remove(connection, id_)


def _lock(connection: Connection, account: int, subscription: int) -> bool:
    """Lock a subscription; return False if the account has no such subscription."""
    query = select(SubscriptionRow.id).where(
        SubscriptionRow.id == subscription, SubscriptionRow.account_id == account
    )
    return connection.execute(query.with_for_update()).scalar_one_or_none() is not None


def _read(connection: Connection, subscription: int) -> KnownSubscription:
    return _known(connection.execute(_subscriptions().where(SubscriptionRow.id == subscription)).one())


def _remove(connection: Connection, subscription: int) -> None:
    connection.execute(delete(NoticeRow).where(NoticeRow.subscription_id == subscription))
    connection.execute(delete(SubscriptionRow).where(SubscriptionRow.id == subscription))


def _set_topics(connection: Connection, subscription: int, topics: Collection[Topic]) -> None:
    condition = SubscriptionRow.id == subscription
    connection.execute(update(SubscriptionRow).where(condition).values(topics=sorted(topics)))
    others = NoticeRow.topic.not_in([*topics, TEST, CONFIRM])
    connection.execute(delete(NoticeRow).where(NoticeRow.subscription_id == subscription, others))


def _add_notice(connection: Connection, subscriptions: list[int], topic: str, news: News) -> None:
    if subscriptions:
        values = [{"subscription_id": id_, "topic": topic, **asdict(news)} for id_ in subscriptions]
        connection.execute(insert(NoticeRow), values)


def _is_of(notice: DueNotice) -> ColumnElement[bool]:
    """Return the condition for the notice's subscription.

    Compares the secret too, because SQLite may reuse the id of a removed subscription. It may also reuse the
    number of a removed notice, so ``mark_delivered`` compares the notice's time.
    """
    return (SubscriptionRow.id == notice.subscription.id) & (SubscriptionRow.secret == notice.secret)


def _waits_for(notice: DueNotice) -> ColumnElement[bool]:
    """Return the condition for all notices to the notice's subscription."""
    return NoticeRow.subscription_id.in_(select(SubscriptionRow.id).where(_is_of(notice)))


def _has_link_secret(secret: str) -> Any:  # noqa: ANN401 - an SQLAlchemy expression
    return (SubscriptionRow.secret == secret) & (SubscriptionRow.kind == SubscriptionKind.MAIL)


def _subscriptions() -> Select[Any]:
    return select(SubscriptionRow.__table__, SubscriptionRow.account_id.label("account"))


def _known(row: Row[*tuple[Any, ...]]) -> KnownSubscription:
    return from_row(KnownSubscription, row)
