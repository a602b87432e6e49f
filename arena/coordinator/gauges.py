"""What there is to do and to do it with, asked of the database whenever Prometheus asks."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import structlog
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from arena.store import MatchKind, MatchState, StoreError
from arena.workers.status import WorkerStatus

_log = structlog.get_logger()

Queue = Mapping[tuple[MatchState, MatchKind], int]
"""How many matches wait, run and were put aside, of each kind."""


@dataclass(frozen=True, slots=True)
class ArenaGauges(Collector):
    """Asks. While the database does not answer there are no figures from it.

    Attributes:
        queue: Counts matches; it may raise StoreError.
        workers: Says who could play for this coordinator; likewise.
        disk_free: Bytes that are left where the data lies.
    """

    queue: Callable[[], Queue]
    workers: Callable[[], Sequence[WorkerStatus]]
    disk_free: Callable[[], int]

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Name what there is, without asking anybody."""
        yield from (_queue({}), *_workers(()), _disk(None))

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Ask."""
        yield _disk(self.disk_free())
        try:
            queue, workers = self.queue(), self.workers()
        except StoreError as error:
            _log.warning("the queue can't be measured", error=str(error))
            return
        yield _queue(queue)
        yield from _workers(workers)


def _queue(queue: Queue) -> GaugeMetricFamily:
    family = GaugeMetricFamily(
        "kaiten_queue_matches", "Matches that wait, run or were put aside.", labels=("state", "kind")
    )
    for (state, kind), count in queue.items():
        family.add_metric((state.value, kind.value), count)
    return family


def _workers(workers: Sequence[WorkerStatus]) -> tuple[GaugeMetricFamily, GaugeMetricFamily]:
    slots = GaugeMetricFamily(
        "kaiten_worker_slots", "Bots that a worker can run at a time.", labels=("worker",)
    )
    busy = GaugeMetricFamily(
        "kaiten_worker_busy_slots", "Bots that it was running lately.", labels=("worker",)
    )
    for worker in workers:
        slots.add_metric((worker.name,), worker.seats)
        busy.add_metric((worker.name,), worker.busy)
    return slots, busy


def _disk(free: int | None) -> GaugeMetricFamily:
    return GaugeMetricFamily("kaiten_disk_free_bytes", "Left on the disk of the data directory.", value=free)
