"""Prometheus metrics for deliveries."""

from enum import StrEnum

from prometheus_client import CollectorRegistry, Counter

from arena.db.subscriptions import SubscriptionKind


class DeliveryOutcome(StrEnum):
    """The outcome of an attempt to deliver a notice."""

    SENT = "sent"
    FAILED = "failed"
    """The notice will be sent again later, unless its subscription is switched off."""


class DeliveryMetrics:
    """Counts attempts to deliver notices. Thread-safe."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._deliveries = Counter(
            "kaiten_deliveries",
            "Attempts to deliver a notification.",
            ("kind", "outcome"),
            registry=registry,
        )
        for kind in SubscriptionKind:  # without an initial 0, Prometheus misses the first increase
            for outcome in DeliveryOutcome:
                self._deliveries.labels(kind.value, outcome.value)

    def count(self, kind: SubscriptionKind, outcome: DeliveryOutcome) -> None:
        """Count an attempt."""
        self._deliveries.labels(kind.value, outcome.value).inc()
