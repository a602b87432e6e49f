"""What a worker tells Prometheus of its own host, asked whenever Prometheus asks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from arena.cluster.seating import Seating


@dataclass(frozen=True, slots=True)
class HostGauges(Collector):
    """Asks.

    Attributes:
        seating: Of this host.
        seats: How many bots it can run at a time.
        disk_free: Bytes that are left where the worker's data lies.
    """

    seating: Seating
    seats: int
    disk_free: Callable[[], int]

    def collect(self) -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
        """Ask."""
        matches = CounterMetricFamily(
            "kaiten_host_matches",
            "Attempts to play a match that are over here, whatever became of their results.",
            labels=("outcome",),
        )
        for outcome, count in self.seating.ended().items():
            matches.add_metric((outcome,), count)
        yield matches
        yield GaugeMetricFamily("kaiten_host_slots", "Bots that this host can run at a time.", self.seats)
        busy = sum(self.seating.state().busy.values())
        yield GaugeMetricFamily("kaiten_host_busy_slots", "Bots that it is running.", busy)
        yield GaugeMetricFamily(
            "kaiten_disk_free_bytes", "Left on the disk of the data directory.", self.disk_free()
        )
