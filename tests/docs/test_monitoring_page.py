"""Tests of the metrics from which docs/monitoring.md is generated, and of the page's examples."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from arena.db.subscriptions import SubscriptionKind
from arena.notices.metrics import DeliveryMetrics
from arena.ops.health import new_registry
from arena.play.launcher.slots import SlotPool
from arena.protocol.match import Limits, WorkerStatus
from arena.protocol.states import MatchKind, MatchState
from arena.sandbox.process.runtime import ProcessRuntime
from arena.scheduler.cluster.host import MatchRunner
from arena.scheduler.metrics import ArenaGauges, HostGauges, MatchMetrics, Outcome
from tests.docs.documents import DOCS, blocks
from web.http.metrics import SiteMetrics

PAGE = DOCS / "monitoring.md"


def registries() -> Iterator[CollectorRegistry]:
    """Yield the registries of a coordinator, a worker and a site. Each labelled metric has a value."""
    coordinator = new_registry()
    MatchMetrics(coordinator, time.monotonic, time.time)
    DeliveryMetrics(coordinator)
    coordinator.register(
        ArenaGauges(
            queue=lambda: {(MatchState.WAITING, MatchKind.RATED): 1},
            workers=lambda: (WorkerStatus(name="w", host="h", seats=5, busy=2),),
            notices=lambda: {SubscriptionKind.MAIL: 1},
            disk_free=lambda: 1,
        )
    )
    yield coordinator
    worker = new_registry()
    slots = SlotPool.for_host(4, 16384, Limits())
    worker.register(HostGauges(MatchRunner(ProcessRuntime(), "i", Path("r"), slots), slots.size, lambda: 1))
    yield worker
    site = SiteMetrics()
    site.count_request("/", "GET", 200, 0.1)
    yield site.registry


def exported() -> dict[str, Metric]:
    """Return the exported metrics as Prometheus reads them, by name without the format's suffix."""
    texts = (generate_latest(registry).decode() for registry in registries())
    return {family.name: family for text in texts for family in text_string_to_metric_families(text)}


def labels(family: Metric) -> set[str]:
    """Return the names of a metric's labels."""
    return {name for sample in family.samples for name in sample.labels} - {"le"}


def test_names_follow_the_conventions_of_prometheus() -> None:
    """Names have lower-case letters, base units and no format suffixes. Each metric has a description."""
    for name, family in exported().items():
        assert re.fullmatch(r"(kaiten|process)_[a-z]+(_[a-z]+)*", name)
        assert not re.search(r"_(ms|millis|minutes|kib|mib|gib|percent|count|sum|bucket|total)$", name)
        assert family.documentation.strip()
        if family.type == "histogram":
            assert name.endswith("_seconds")


def test_the_examples_use_existing_metrics() -> None:
    """Each metric in an example is exported with the example's labels and values."""
    scraped, rules = blocks(PAGE, "yaml")
    assert scraped.count("targets:") == 2
    found = exported()
    asked = re.findall(r"(kaiten_[a-z_]+)(?:\{(\w+)=~?\"(\w+)\"\})?", rules)
    assert len(asked) >= 4
    for name, label, value in asked:
        family = found[name.removesuffix("_total")]
        assert not label or label in labels(family)
        assert not value or value in {*Outcome, *MatchState}
    assert rules.count("- alert: ") == 4
