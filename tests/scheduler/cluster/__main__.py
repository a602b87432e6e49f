"""Print the figures of a run: ``python -m tests.scheduler.cluster MATCHES KILLS [SCHEDULER_KILLS]``."""

import sys
from dataclasses import asdict

from structlog.testing import capture_logs

from tests.scheduler.cluster.runs import cluster_run

with capture_logs():
    figures = cluster_run(*map(int, sys.argv[1:]))
for name, value in asdict(figures).items():
    print(f"{name:16} {value}")  # noqa: T201 - prints figures
