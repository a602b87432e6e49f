"""Describes the host on which figures were measured."""

import os
import platform
from pathlib import Path

import google.protobuf
import grpc


def describe_machine(sandbox: str) -> dict[str, str]:
    """Return the machine's properties by their names, in the order of reading."""
    return {
        "cores": f"{len(os.sched_getaffinity(0))} ({_processor()})",
        "load at the start": f"{os.getloadavg()[0]:.1f}",
        "system": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
        "grpcio": grpc.__version__,
        "protobuf": google.protobuf.__version__,
        "sandbox": sandbox,
    }


def _processor() -> str:
    """Return the processor's name as Linux knows it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
