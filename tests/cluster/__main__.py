"""``python -m tests.cluster MATCHES KILLS [SCHEDULER_KILLS]``: being killed, in figures."""

import sys
from dataclasses import asdict

from tests.cluster.runs import cluster_run

for name, value in asdict(cluster_run(*map(int, sys.argv[1:]))).items():
    print(f"{name:16} {value}")  # noqa: T201 - it prints figures
