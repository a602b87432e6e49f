"""Notifies authors in the background."""

import ssl
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from typing import Final

from arena.db.errors import StoreError
from arena.db.store import Store
from arena.notices.deliverer import Deliverer
from arena.notices.mail import mailer_of
from arena.notices.metrics import DeliveryMetrics
from arena.notices.webhooks import Webhooks
from arena.platform.periodic import PeriodicTask
from arena.platform.settings import Settings

_SECONDS: Final = 2.0
_RANKS_SECONDS: Final = 300.0


@contextmanager
def notifier(
    store: Store, settings: Settings, now: Callable[[], datetime], metrics: DeliveryMetrics
) -> Iterator[None]:
    """Deliver notices within the context; see :class:`Deliverer`."""
    made = Deliverer(
        store,
        Webhooks(settings.webhook_hosts, ssl.create_default_context()),
        mailer_of(settings, ssl.create_default_context),
        now,
        metrics,
    )
    with (
        closing(made),
        PeriodicTask(made.deliver_due, name="notifications", seconds=_SECONDS, expected=(StoreError,)),
        PeriodicTask(made.check_ranks, name="ranks", seconds=_RANKS_SECONDS, expected=(StoreError,)),
    ):
        yield
