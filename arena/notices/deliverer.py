"""Delivers each notice at least once: a delivery that was not recorded is repeated with the same id."""

import ssl
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from typing import Final

import structlog

from arena.db.errors import StoreError
from arena.db.store import Store
from arena.db.subscriptions import DueNotice, SubscriptionKind
from arena.notices.mail import Mailer, mailer_of
from arena.notices.metrics import DeliveryMetrics, DeliveryOutcome
from arena.notices.webhooks import NotDelivered, Webhooks
from arena.platform.periodic import Backoff, PeriodicTask
from arena.platform.settings import Settings

_log = structlog.get_logger()

_MAX_CONCURRENT: Final = 8
"""Maximum number of notices to deliver at the same time, one per subscription."""

_ROUND_SECONDS: Final = 6.0
"""Time limit for a round of deliveries. A webhook takes at most 5 s, plus the time to resolve its host's
name; an email may take longer. After the limit, a slow delivery continues in its thread."""

_RETRY_BACKOFF: Final = Backoff(first=30, maximum=6 * 3600, factor=3)

_GIVE_UP_AFTER: Final = timedelta(days=3)
"""A subscription whose receiver has been failing for this long is switched off. Without a mail server, emails
are dropped after this time."""

_CONFIRMATION_TIME: Final = timedelta(days=7)

_DELIVERY_SECONDS: Final = 2.0
_RANKS_SECONDS: Final = 300.0
"""Intervals between deliveries, and between checks for overtaken bots."""


class Deliverer:
    """Delivers the notices in a store."""

    def __init__(
        self,
        store: Store,
        webhooks: Webhooks,
        mailer: Mailer | None,
        now: Callable[[], datetime],
        metrics: DeliveryMetrics,
    ) -> None:
        self._store = store
        self._webhooks = webhooks
        self._mailer = mailer
        self._now = now
        self._metrics = metrics
        self._pool = ThreadPoolExecutor(_MAX_CONCURRENT, thread_name_prefix="notices")
        self._running: dict[Future[None], int] = {}  # deliveries in progress, with the subscription's id

    def deliver_due(self) -> None:
        """Deliver the notices that are due, at most one per subscription. Raises StoreError."""
        self._remove_finished()
        kinds = [SubscriptionKind.WEBHOOK] + [SubscriptionKind.MAIL] * (self._mailer is not None)
        due = self._store.subscriptions.due(
            self._now(), _MAX_CONCURRENT - len(self._running), kinds=kinds, without=self._running.values()
        )
        started = {self._pool.submit(self._deliver, each): each.subscription.id for each in due}
        self._running |= started
        wait(started, timeout=_ROUND_SECONDS)
        self._remove_finished()

    def check_ranks(self) -> None:
        """Record overtaken bots, and remove what will not be delivered.

        Removes email addresses that were never confirmed and, if no mail server is set up, old emails:
        otherwise, setting one up would send all of them. Raises StoreError.
        """
        self._store.held_ranks.compare(self._store.ratings.standings(), self._now())
        self._store.subscriptions.remove_unconfirmed(self._now() - _CONFIRMATION_TIME)
        if self._mailer is None:
            self._store.subscriptions.remove_mail_notices(self._now() - _GIVE_UP_AFTER)

    def close(self) -> None:
        """End the threads. Call this only when no round of deliveries is in progress."""
        self._pool.shutdown()

    def _remove_finished(self) -> None:
        """Forget the deliveries that have ended. Raises StoreError if one of them could not be recorded."""
        done = [each for each in self._running if each.done()]
        for each in done:
            del self._running[each]
        for each in done:
            each.result()

    def _deliver(self, notice: DueNotice) -> None:
        try:
            self._send(notice)
        except NotDelivered as error:
            self._record_failure(notice, error)
        except Exception:  # noqa: BLE001 - it would stay the first notice of every round
            _log.exception("notification can't be sent", subscription=notice.subscription.id)
            self._record_failure(notice, NotDelivered("the arena can't send this notification", ours=True))
        else:
            self._store.subscriptions.mark_delivered(notice)
            self._metrics.count(notice.subscription.kind, DeliveryOutcome.SENT)

    def _send(self, notice: DueNotice) -> None:
        if notice.subscription.kind is SubscriptionKind.WEBHOOK:
            self._webhooks.send(notice, self._now())
        elif self._mailer is not None:
            self._mailer.send(notice)

    def _record_failure(self, notice: DueNotice, error: NotDelivered) -> None:
        now, subscription = self._now(), notice.subscription
        since = subscription.failing_since or now
        gives_up = error.final or (not error.ours and now - since >= _GIVE_UP_AFTER)
        again = None if gives_up else now + timedelta(seconds=_RETRY_BACKOFF.after(subscription.failures + 1))
        self._store.subscriptions.mark_failed(notice, str(error), now, again, ours=error.ours)
        self._metrics.count(subscription.kind, DeliveryOutcome.FAILED)
        log = _log.bind(subscription=subscription.id, kind=subscription.kind)
        if error.ours:
            # The mail server may repeat the address.
            log.warning(
                "notification not delivered", error=str(error).replace(subscription.address, "ADDRESS")
            )
        else:
            log.info("notification not delivered")


@contextmanager
def notifier(
    store: Store, settings: Settings, now: Callable[[], datetime], metrics: DeliveryMetrics
) -> Iterator[None]:
    """Deliver notices within the context; see :class:`Deliverer`."""
    deliverer = Deliverer(
        store,
        Webhooks(settings.webhook_hosts, ssl.create_default_context()),
        mailer_of(settings),
        now,
        metrics,
    )
    with (
        closing(deliverer),
        PeriodicTask(
            deliverer.deliver_due, name="notifications", seconds=_DELIVERY_SECONDS, expected=(StoreError,)
        ),
        PeriodicTask(deliverer.check_ranks, name="ranks", seconds=_RANKS_SECONDS, expected=(StoreError,)),
    ):
        yield
