"""What supervisors and Prometheus are told of a coordinator's process."""

import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from arena.admission import Gate
from arena.bootstrap.telling import told
from arena.coordinator import Coordinator
from arena.coordinator.gauges import ArenaGauges
from arena.coordinator.metrics import MatchMetrics
from arena.monitoring.health import Check, InTime, goes_round
from arena.monitoring.registry import new_registry
from arena.sandbox import Runtime
from arena.settings import Settings
from arena.store import Store, StoreError
from arena.workers.status import WorkerStatus

_NOTHING_YET: Final = "no matches are played yet"
_DATABASE_SECONDS: Final = 3.0


class Monitoring:
    """Watches one coordinator after the other.

    Args:
        settings: Where somebody may ask.
        store: Of the arena.
        install: Id of the installation.

    Attributes:
        metrics: Hear of matches.
    """

    def __init__(self, settings: Settings, store: Store, install: str) -> None:
        self._settings = settings
        self._store = store
        self._install = install
        self._registry = new_registry()
        self._coordinator: Coordinator | None = None
        self._check_database = InTime(store.check, _DATABASE_SECONDS)
        self._cluster: Check = lambda: _NOTHING_YET
        self.metrics = MatchMetrics(self._registry, time.monotonic, time.time)
        self._registry.register(
            ArenaGauges(
                queue=store.reads.queue_sizes,
                workers=self._workers,
                disk_free=lambda: shutil.disk_usage(settings.data_dir).free,
            )
        )

    @contextmanager
    def listening(self, runtime: Runtime, gate: Gate) -> Iterator[None]:
        """Answer those who ask, if there is an address for them.

        Raises:
            CannotStart: Something else listens there.
        """
        alive: Mapping[str, Check] = {"main loop": goes_round(self._turned, time.monotonic)}
        here: Mapping[str, Check] = {
            "engine": runtime.trouble,
            "host": lambda: None if gate.decided else "it is not known yet what it can hold",
        }
        plays = here if self._settings.executor is None else {"workers": self._others}
        ready = {**plays, "database": self._database, "coordinator": self._plays}
        with told(self._settings, alive, ready, self._registry):
            yield

    @contextmanager
    def of(self, coordinator: Coordinator) -> Iterator[None]:
        """Watch this one as long as the context lasts."""
        self._coordinator = coordinator
        try:
            yield
        finally:
            self._coordinator = None

    @contextmanager
    def of_cluster(self, trouble: Check) -> Iterator[None]:
        """Watch who plays elsewhere as long as the context lasts.

        Args:
            trouble: Tells why nobody can.
        """
        self._cluster = trouble
        try:
            yield
        finally:
            self._cluster = lambda: _NOTHING_YET

    def _others(self) -> str | None:
        return self._cluster()

    def _turned(self) -> float | None:
        coordinator = self._coordinator
        return None if coordinator is None else coordinator.ticked

    def _plays(self) -> str | None:
        coordinator = self._coordinator
        if coordinator is None:
            return _NOTHING_YET
        return "it ends and begins no more matches" if coordinator.draining or coordinator.stopped else None

    def _database(self) -> str | None:
        try:
            self._check_database()
        except TimeoutError:
            return f"it has not answered for {_DATABASE_SECONDS:.0f} s"
        except StoreError as error:
            return str(error)
        return None

    def _workers(self) -> tuple[WorkerStatus, ...]:
        known = self._store.leases.workers()
        return tuple(worker.status for worker in known if worker.coordinator == self._install)
