"""A running arena."""

import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

from arena.admission import Gate
from arena.bootstrap.chances import real_chances, utc_now
from arena.bootstrap.cluster import need_cluster, need_shared_images, workers_of_cluster
from arena.bootstrap.folders import alone, install_id
from arena.bootstrap.ground import ground
from arena.bootstrap.helm import Helmsman, at_the_helm
from arena.bootstrap.host import (
    examine,
    limits_of_bots,
    runtime_of,
    slots_of_host,
)
from arena.bootstrap.intake import image_source, keeper_of, pipeline_of, shared_images
from arena.bootstrap.monitoring import Monitoring
from arena.controls import HostReport
from arena.coordinator import Coordinator, Watcher, Watchers
from arena.disk import Disk
from arena.imagekeeper import ImageKeeper, pruner
from arena.launcher import Launcher, SlotPool, sweeper
from arena.retention import remover
from arena.sandbox import Runtime
from arena.sandbox.common_group import CommonGroup
from arena.sandbox.docker_runtime import DockerRuntime
from arena.services import Ladder
from arena.settings import Settings
from arena.store import Store, open_store
from arena.submitting.pipeline import Pipeline, steps_of
from arena.workers.local import local_workers
from arena.workers.room import WithRoom
from arena.workers.workers import Workers

_NAME: Final = 64

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Arena:
    """A running arena.

    Attributes:
        store: Everything that is kept.
        runtime: Runs bots.
        ladder: Who plays what.
        slots: The seats of this host; None where the workers of a cluster play, and this host doesn't.
        swept: How many sandboxes of an earlier run were left and have been removed.
        waiting_again: How many matches an earlier run did not finish.
    """

    store: Store
    runtime: Runtime
    ladder: Ladder
    slots: SlotPool | None
    swept: int
    waiting_again: int
    _settings: Settings
    _gate: Gate
    _group: CommonGroup | None
    _keeper: ImageKeeper | None
    _pipeline: Pipeline | None
    _monitoring: Monitoring
    _helmsman: Helmsman | None
    _install: str
    _run_dir: Path

    @contextmanager
    def coordinator(self, watcher: Watcher) -> Iterator[Coordinator]:
        """Give what plays the store's matches; a stopped one can't be used again.

        Raises:
            CannotStart: Another coordinator has taken over meanwhile. What plays is stopped then.
        """
        with (
            self._workers() as workers,
            nullcontext() if self._keeper is None else pruner(self._keeper),
            remover(self.store, self._settings, utc_now),
            nullcontext() if self._pipeline is None else steps_of(self._pipeline),
        ):
            made = Coordinator(
                name=self._install,
                store=self.store,
                workers=WithRoom(workers, Disk(self._settings.data_dir, self._settings.least_free)),
                runtime=self.ladder.runtime,
                now=utc_now,
                watcher=Watchers(self._monitoring.metrics, watcher),
                gate=self._gate,
            )
            with (
                self._monitoring.of(made),
                nullcontext() if self._helmsman is None else self._helmsman.steering(made.stop),
            ):
                yield made

    def enter_house_bots(self, sources: Iterable[tuple[str, str]], say: Callable[[str], None]) -> None:
        """Enter the arena's own bots; in a cluster their images are put where every worker finds them.

        Args:
            sources: (name, source) of each, as this host has them.
            say: Is told what takes time.

        Raises:
            CannotStart: An image can't be kept there.
            RuntimeTrouble: The engine does not answer.
        """
        if self.slots is None and self._keeper is not None:
            sources = shared_images(self._settings, self._keeper, sources, say)
        self.ladder.enter_house_bots(sources)

    @contextmanager
    def _workers(self) -> Iterator[Workers]:
        """Give who plays: this host, or the workers of a cluster."""
        scheduler = self._settings.executor
        if scheduler is not None:
            with (
                workers_of_cluster(self._settings, scheduler, self.store, self._gate) as others,
                self._monitoring.of_cluster(others.trouble),
            ):
                yield others
            return
        # Stopping a coordinator stops its launcher for good, so each has its own.
        launcher = Launcher(self.runtime, self._install, self._run_dir)
        host = socket.gethostname()[:_NAME]
        with (
            sweeper(self.runtime, self._install, launcher),
            local_workers(launcher, self.slots or slots_of_host(), host) as workers,
        ):
            yield workers

    def check_host(self, say: Callable[[str], None]) -> HostReport:
        """Try what this host can hold, log and keep what it can't, and let strangers' bots play if they may.

        Until then none of them does. For hosts that play; those of a cluster's workers are tried there.

        Args:
            say: Is told what takes time.

        Raises:
            ImageTrouble: The canary's image can't be made.
            RuntimeTrouble: The engine does not answer.
            StoreError: The database can't be used.
        """
        report = examine(self._settings, self.runtime, self._group, say)
        accepted = self._settings.accept_missing
        self.store.writes.record_host(report, accepted)
        self._gate.decide(report, accepted)
        for finding in report.findings:
            if not finding.held:
                _log.warning(
                    "control not held",
                    control=finding.control,
                    detail=finding.detail,
                    accepted=finding.control in accepted,
                )
        return report


@contextmanager
def open_arena(settings: Settings, *, own: bool = False) -> Iterator[Arena]:
    """Put an arena together, alone on its data directory, and clean up after earlier runs.

    Args:
        settings: Its own.
        own: Whether all bots are those of whoever runs it, so that its host needs not be tried.

    Raises:
        CannotStart: Another arena runs there or on that database, or a folder can't be made.
        StoreError: The database can't be used.
        RuntimeTrouble: Bots can't be run.
    """
    with (
        alone(settings.data_dir),
        closing(runtime_of(settings, install_id(settings.data_dir), image_source)) as runtime,
        closing(open_store(settings.url)) as store,
    ):
        install = install_id(settings.data_dir)
        plays = settings.executor is None
        if not plays:
            need_cluster()
            need_shared_images(settings)
        gate = Gate(own=own)
        ladder = Ladder(store, settings.sandbox, real_chances(), gate, limits_of_bots(settings))
        engine = runtime if isinstance(runtime, DockerRuntime) else None
        steered = nullcontext() if engine is None else at_the_helm(store)
        submitted = nullcontext() if engine is None else pipeline_of(settings, store, engine, gate, ladder)
        monitoring = Monitoring(settings, store, install)
        with (
            steered as helmsman,
            ground(settings, runtime, install, plays=plays) as held,
            monitoring.listening(runtime, gate),
            submitted as pipeline,
        ):
            yield Arena(
                store=store,
                runtime=runtime,
                ladder=ladder,
                slots=slots_of_host() if plays else None,
                swept=held.swept,
                waiting_again=store.leases.release(install),
                _settings=settings,
                _gate=gate,
                _group=held.group,
                _keeper=None if engine is None else keeper_of(settings, store, engine),
                _pipeline=pipeline,
                _monitoring=monitoring,
                _helmsman=helmsman,
                _install=install,
                _run_dir=held.run_dir,
            )
