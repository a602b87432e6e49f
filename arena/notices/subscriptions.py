"""Lets account owners manage their subscriptions."""

from collections.abc import Collection
from typing import Final

from arena.accounts.accounts import real_sources
from arena.accounts.credentials import AccountAction, Sources, by_account
from arena.db.audit import NewAuditEntry
from arena.db.credentials import KnownAccount
from arena.db.store import Store
from arena.db.subscriptions import KnownSubscription, NewSubscription, SubscriptionKind, Subscriptions
from arena.notices.addresses import SubscriptionRefused, check_mail, parse_webhook
from arena.notices.webhooks import secret_of
from arena.platform.settings import Settings
from arena.protocol.news import Topic, please_confirm, sample

MAX_SUBSCRIPTIONS: Final = 5
"""Maximum number of subscriptions per account."""


class NotConfirmed(Exception):
    """The subscription's email address is not confirmed; the message says what to do."""


class OwnSubscriptions:
    """Manages accounts' subscriptions.

    ``named`` contains hosts, as ``HOST:PORT``, that webhooks may reach on any network. If ``sends_mail`` is
    False, email addresses can't be added.
    """

    def __init__(
        self,
        subscriptions: Subscriptions,
        sources: Sources,
        *,
        named: Collection[str],
        sends_mail: bool,
    ) -> None:
        self._subscriptions = subscriptions
        self._sources = sources
        self._named = named
        self.sends_mail = sends_mail

    def add(
        self,
        account: KnownAccount,
        kind: SubscriptionKind,
        to: str,
        topics: Collection[Topic],
        *,
        address: str,
    ) -> tuple[str | None, KnownSubscription]:
        """Add a subscription. Return its secret (None for an email subscription) and the subscription.

        The secret can't be read again.

        ``to`` is a URL or an email address. If it is an email address, a request to confirm it is sent there.
        ``address`` is the client's IP address, for the audit log. Raises SubscriptionRefused or
        TooManySubscriptions.
        """
        now, secret, first = self._sources.now(), self._sources.new_secret(), None
        if kind is SubscriptionKind.WEBHOOK:
            parse_webhook(to, self._named)
            secret = secret_of(secret)
        elif self.sends_mail:
            check_mail(to)
            first = please_confirm(now)
        else:
            raise SubscriptionRefused("this arena doesn't send email: use a webhook")
        new = NewSubscription(
            account=account.id,
            kind=kind,
            address=to,
            topics=_checked_topics(topics),
            secret=secret,
            created=now,
        )
        entry = by_account(now, AccountAction.SUBSCRIBE, account.name, address, kind)
        added = self._subscriptions.add(new, first, max_subscriptions=MAX_SUBSCRIPTIONS, entry=entry)
        return (secret if first is None else None), added

    def of(self, account: KnownAccount) -> tuple[KnownSubscription, ...]:
        """Return an account's subscriptions, oldest first."""
        return self._subscriptions.of(account.id)

    def set_topics(
        self, account: KnownAccount, subscription: int, topics: Collection[Topic], *, address: str
    ) -> KnownSubscription | None:
        """Change a subscription's topics; return None if the account has no such subscription.

        Raises SubscriptionRefused if there are no topics.
        """
        entry = self._entry(AccountAction.CHANGE_SUBSCRIPTION, account, subscription, address)
        return self._subscriptions.set_topics(account.id, subscription, _checked_topics(topics), entry)

    def remove(self, account: KnownAccount, subscription: int, *, address: str) -> bool:
        """Remove a subscription; return False if the account has no such subscription."""
        entry = self._entry(AccountAction.UNSUBSCRIBE, account, subscription, address)
        return self._subscriptions.remove(account.id, subscription, entry)

    def test(self, account: KnownAccount, subscription: int) -> KnownSubscription | None:
        """Send a test notice, and switch the subscription on again if it is off.

        Return None if the account has no such subscription. Raises NotConfirmed.
        """
        known = self._subscriptions.test(account.id, subscription, sample(self._sources.now()))
        if known is not None and known.confirmed is None:
            raise NotConfirmed(
                "the email address is not confirmed: first open the link in the email that was sent to it"
            )
        return known

    def _entry(
        self, what: AccountAction, account: KnownAccount, subscription: int, address: str
    ) -> NewAuditEntry:
        now = self._sources.now()
        return by_account(now, what, account.name, address, f"subscription {subscription}")


def _checked_topics(topics: Collection[Topic]) -> tuple[Topic, ...]:
    if not topics:
        raise SubscriptionRefused("choose at least one event")
    return tuple(sorted(set(topics)))


def open_subscriptions(settings: Settings, store: Store) -> OwnSubscriptions:
    """Return the store's subscriptions, with the real clock and random secrets."""
    return OwnSubscriptions(
        store.subscriptions,
        real_sources(),
        named=settings.webhook_hosts,
        sends_mail=settings.sends_mail,
    )
