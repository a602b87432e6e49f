"""What a process counts, for Prometheus."""

from prometheus_client import CollectorRegistry, ProcessCollector, disable_created_metrics

# A second series for each counter, which nobody asks for.
disable_created_metrics()  # type: ignore[no-untyped-call]


def new_registry() -> CollectorRegistry:
    """Return a registry with what is known of any process: its time, memory and open files."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    return registry
