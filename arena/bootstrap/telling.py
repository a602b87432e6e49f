"""Where a coordinator, a worker or a scheduler answers its supervisor and Prometheus."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import structlog
from prometheus_client import CollectorRegistry

from arena.bootstrap.errors import CannotStart
from arena.monitoring.health import Check
from arena.monitoring.listener import CannotListen, Listener, checked, metrics_of
from arena.settings import Settings

_log = structlog.get_logger()


@contextmanager
def told(
    settings: Settings, alive: Mapping[str, Check], ready: Mapping[str, Check], registry: CollectorRegistry
) -> Iterator[None]:
    """Answer those who ask, if there is an address for them.

    Args:
        settings: Name it.
        alive: What has to be so for the process to be well, by name.
        ready: What has to be so for it to do its work, likewise.
        registry: What it counts.

    Raises:
        CannotStart: Something else listens there.
    """
    if settings.ops_address is None:
        yield
        return
    routes = {"/healthz": checked(alive), "/readyz": checked(ready), "/metrics": metrics_of(registry)}
    try:
        listener = Listener(settings.ops_address, routes)
    except CannotListen as error:
        raise CannotStart(f"ARENA_OPS_ADDRESS: {error}") from error
    with listener as listening:
        _log.info("health and metrics are told", address=str(listening.address))
        yield
