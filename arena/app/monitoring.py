"""Health, readiness and metrics of a coordinator's process."""

import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import structlog
from prometheus_client import CollectorRegistry

from arena.app.folders import CannotStart
from arena.db.errors import StoreError
from arena.db.store import Store
from arena.notices.metrics import DeliveryMetrics
from arena.ops.health import (
    CallWithTimeout,
    CannotListen,
    Check,
    OpsServer,
    checked,
    loop_check,
    metrics_of,
    new_registry,
)
from arena.platform.files import Disk
from arena.platform.settings import Settings
from arena.protocol.match import WorkerStatus
from arena.protocol.sandbox_controls import Gate
from arena.sandbox.runtime import Runtime
from arena.scheduler.coordinator import Coordinator
from arena.scheduler.metrics import ArenaGauges, MatchMetrics

_log = structlog.get_logger()


@contextmanager
def health_server(
    settings: Settings, alive: Mapping[str, Check], ready: Mapping[str, Check], registry: CollectorRegistry
) -> Iterator[None]:
    """Serve health checks and metrics if ``ARENA_OPS_ADDRESS`` is set.

    ``alive`` and ``ready`` are the checks for ``/healthz`` and ``/readyz``, by name. Raises CannotStart if
    the address can't be used.
    """
    if settings.ops_address is None:
        yield
        return
    routes = {"/healthz": checked(alive), "/readyz": checked(ready), "/metrics": metrics_of(registry)}
    try:
        listener = OpsServer(settings.ops_address, routes)
    except CannotListen as error:
        raise CannotStart(f"ARENA_OPS_ADDRESS: {error}") from error
    with listener as listening:
        _log.info("ops endpoint listening", address=str(listening.address))
        yield


_NOT_PLAYING_YET: Final = "not playing matches yet"
_DATABASE_TIMEOUT_SECONDS: Final = 3.0


class Monitoring:
    """Monitors coordinators, one after another.

    ``metrics`` counts their match events; ``deliveries`` contains the notifier's metrics.
    """

    def __init__(self, settings: Settings, store: Store, install: str) -> None:
        self._settings = settings
        self._store = store
        self._install = install
        self._registry = new_registry()
        self._coordinator: Coordinator | None = None
        self._disk = Disk(settings.data_dir, settings.least_free)
        self._check_database = CallWithTimeout(store.check, _DATABASE_TIMEOUT_SECONDS)
        self._cluster: Check = lambda: _NOT_PLAYING_YET
        self.metrics = MatchMetrics(self._registry, time.monotonic, time.time)
        self.deliveries = DeliveryMetrics(self._registry)
        self._registry.register(
            ArenaGauges(
                queue=store.queue.sizes,
                notices=store.subscriptions.waiting,
                workers=self._workers,
                disk_free=lambda: shutil.disk_usage(settings.data_dir).free,
            )
        )

    @contextmanager
    def listening(self, runtime: Runtime, gate: Gate) -> Iterator[None]:
        """Serve health checks and metrics if ``ARENA_OPS_ADDRESS`` is set.

        Raises CannotStart if the address can't be used.
        """
        alive: Mapping[str, Check] = {"main loop": loop_check(self._last_tick, time.monotonic)}
        here: Mapping[str, Check] = {
            "engine": runtime.unavailable_reason,
            "host": lambda: None if gate.decided else "its controls have not been checked yet",
        }
        plays = here if self._settings.executor is None else {"workers": self._cluster_problem}
        ready = {
            **plays,
            "database": self._database_problem,
            "disk": self._disk_problem,
            "coordinator": self._coordinator_problem,
        }
        with health_server(self._settings, alive, ready, self._registry):
            yield

    @contextmanager
    def of(self, coordinator: Coordinator) -> Iterator[None]:
        """Monitor a coordinator within the context."""
        self._coordinator = coordinator
        try:
            yield
        finally:
            self._coordinator = None

    @contextmanager
    def of_cluster(self, unavailable_reason: Check) -> Iterator[None]:
        """Monitor a cluster's workers within the context.

        ``unavailable_reason`` returns why no workers can play, or None.
        """
        self._cluster = unavailable_reason
        try:
            yield
        finally:
            self._cluster = lambda: _NOT_PLAYING_YET

    def _cluster_problem(self) -> str | None:
        return self._cluster()

    def _last_tick(self) -> float | None:
        coordinator = self._coordinator
        return None if coordinator is None else coordinator.last_tick

    def _coordinator_problem(self) -> str | None:
        coordinator = self._coordinator
        if coordinator is None:
            return _NOT_PLAYING_YET
        return "shutting down: no new matches start" if coordinator.draining or coordinator.stopped else None

    def _disk_problem(self) -> str | None:
        if self._disk.has_room():
            return None
        return "full, so no new matches start: free some space, or lower ARENA_DISK_FLOOR_GIB"

    def _database_problem(self) -> str | None:
        try:
            self._check_database()
        except TimeoutError:
            return f"no response within {_DATABASE_TIMEOUT_SECONDS:.0f} s"
        except StoreError as error:
            return str(error)
        return None

    def _workers(self) -> tuple[WorkerStatus, ...]:
        known = self._store.leases.workers()
        return tuple(worker.status for worker in known if worker.coordinator == self._install)
