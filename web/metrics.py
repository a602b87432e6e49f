"""What the site counts while it runs. No label can take more than a few values, whatever is asked for."""

from enum import StrEnum
from functools import cache
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from arena.monitoring.registry import new_registry

_SECONDS: Final = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


_UPLOADS: Final = {True: "received", False: "refused"}


class LoginFailure(StrEnum):
    """Why somebody was not let in."""

    CREDENTIALS = "credentials"
    """Name or password were wrong."""
    TOO_MANY = "too_many"
    """There had been too many attempts."""


class SiteMetrics:
    """The site's metrics. Threads may share it.

    Attributes:
        registry: All of them.
        streams: Streams of events that are open.
    """

    def __init__(self) -> None:
        self.registry: CollectorRegistry = new_registry()
        self.streams = Gauge(
            "kaiten_event_streams", "Streams of events that are open.", registry=self.registry
        )
        self._requests = Counter(
            "kaiten_http_requests",
            "Requests that were answered, or given up.",
            ("route", "method", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "kaiten_http_request_seconds",
            "From a request's head to the end of its answer; streams of events are left out.",
            ("route",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._uploads = Counter(
            "kaiten_uploads", "Files that were sent for bots.", ("outcome",), registry=self.registry
        )
        self._logins = Counter(
            "kaiten_login_failures", "Logins that were refused.", ("reason",), registry=self.registry
        )
        # Finding a counter by its labels takes longer than counting; there are few of them.
        self._requests_of = cache(self._requests.labels)
        self._seconds_of = cache(self._seconds.labels)
        self._begin_at_zero()

    def _begin_at_zero(self) -> None:
        """Tell of what has not happened yet: a rate is not seen to rise from nothing."""
        for outcome in _UPLOADS.values():
            self._uploads.labels(outcome)
        for reason in LoginFailure:
            self._logins.labels(reason.value)

    def answered(self, route: str, method: str, status: int, seconds: float | None) -> None:
        """Count a request.

        Args:
            route: The template of its path.
            method: Of HTTP, one of those that there are.
            status: Of HTTP; 0 where nothing was sent.
            seconds: What it took; None for a stream.
        """
        self._requests_of(route, method, f"{status // 100}xx" if status else "none").inc()
        if seconds is not None:
            self._seconds_of(route).observe(seconds)

    def uploaded(self, *, received: bool) -> None:
        """Count a file that was received, or was not."""
        self._uploads.labels(_UPLOADS[received]).inc()

    def login_failed(self, reason: LoginFailure) -> None:
        """Count a login that was refused."""
        self._logins.labels(reason.value).inc()
