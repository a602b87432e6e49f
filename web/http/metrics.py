"""The site's Prometheus metrics."""

from enum import StrEnum
from functools import cache
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from arena.ops.health import new_registry

_SECONDS: Final = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_UPLOADS: Final = {True: "received", False: "refused"}


class LoginFailure(StrEnum):
    """The cause of a failed login."""

    CREDENTIALS = "credentials"
    """Wrong name or password."""
    TOO_MANY = "too_many"
    """Too many attempts."""


class SiteMetrics:
    """The site's metrics. Thread-safe."""

    def __init__(self) -> None:
        self.registry: CollectorRegistry = new_registry()
        self.streams = Gauge("kaiten_event_streams", "Open event streams.", registry=self.registry)
        self._requests = Counter(
            "kaiten_http_requests",
            "Finished requests.",
            ("route", "method", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "kaiten_http_request_seconds",
            "Time from a request's headers to the end of its response, except for event streams.",
            ("route",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._uploads = Counter(
            "kaiten_uploads", "Uploads of bots' files.", ("outcome",), registry=self.registry
        )
        self._logins = Counter(
            "kaiten_login_failures", "Refused logins.", ("reason",), registry=self.registry
        )
        # Cached, because finding a counter by its labels takes longer than counting. There are few counters.
        self._requests_of = cache(self._requests.labels)
        self._seconds_of = cache(self._seconds.labels)
        # Start counters at zero: Prometheus misses an increase in a series that didn't exist before.
        for outcome in _UPLOADS.values():
            self._uploads.labels(outcome)
        for reason in LoginFailure:
            self._logins.labels(reason.value)

    def count_request(self, route: str, method: str, status: int, seconds: float | None) -> None:
        """Count a request.

        ``route`` is the template of its path; ``status`` is 0 if nothing was sent; ``seconds`` is None
        for a stream.
        """
        self._requests_of(route, method, f"{status // 100}xx" if status else "none").inc()
        if seconds is not None:
            self._seconds_of(route).observe(seconds)

    def count_upload(self, *, received: bool) -> None:
        """Count an upload. If the sender disconnects, it counts as refused."""
        self._uploads.labels(_UPLOADS[received]).inc()

    def count_login_failure(self, reason: LoginFailure) -> None:
        """Count a refused login."""
        self._logins.labels(reason.value).inc()
