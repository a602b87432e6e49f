"""A worker's Prometheus metrics."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from arena.scheduler.cluster.host import MatchRunner


@dataclass(frozen=True, slots=True)
class HostGauges(Collector):
    """Metrics of this host; ``disk_free`` returns the number of free bytes on the data directory's disk."""

    runner: MatchRunner
    seats: int
    disk_free: Callable[[], int]

    def collect(self) -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
        """Yield the current values."""
        matches = CounterMetricFamily(
            "kaiten_host_matches",
            "Match attempts on this host that have ended, whatever happened to their results.",
            labels=("outcome",),
        )
        for outcome, count in self.runner.ended().items():
            matches.add_metric((outcome,), count)
        yield matches
        yield GaugeMetricFamily("kaiten_host_slots", "Number of bots that this host can run.", self.seats)
        busy = sum(self.runner.state().busy.values())
        yield GaugeMetricFamily("kaiten_host_busy_slots", "Number of bots that this host is running.", busy)
        yield GaugeMetricFamily(
            "kaiten_disk_free_bytes", "Free bytes on the data directory's disk.", self.disk_free()
        )
