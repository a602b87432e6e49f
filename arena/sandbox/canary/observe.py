"""Asks the engine what it knows of itself and of a container: the canary's evidence from outside."""

from datetime import datetime
from typing import Any, Final

import docker

from arena.sandbox.canary.evidence import Engine, Share
from arena.sandbox.docker_engine import engine_errors

_SECOND: Final = 1e9
_FRACTION: Final = 6


class Observer:
    """Reads only.

    Args:
        client: Of the engine. The observer may be used from several threads.
    """

    def __init__(self, client: docker.APIClient) -> None:
        self._client = client

    def engine(self) -> Engine:
        """Describe the engine.

        Raises:
            RuntimeTrouble: It does not answer.
        """
        with engine_errors("read what the engine is"):
            info: dict[str, Any] = self._client.info()
        return Engine(
            host=info["Name"],
            version=info["ServerVersion"],
            kernel=info["KernelVersion"],
            cgroup_version=info.get("CgroupVersion", "1"),
            cgroup_driver=info["CgroupDriver"],
        )

    def environment(self, image: str) -> dict[str, str]:
        """Return the variables that an image brings."""
        with engine_errors(f"inspect image {image}"):
            config = self._client.inspect_image(image)["Config"]  # type: ignore[no-untyped-call] # so in its stubs
        return dict(line.split("=", 1) for line in config.get("Env") or ())

    def inspect(self, name: str) -> dict[str, Any]:
        """Return all that the engine says of a container."""
        with engine_errors(f"inspect container {name}"):
            found: dict[str, Any] = self._client.inspect_container(name)
        return found

    def log_bytes(self, name: str) -> int:
        """Return how much of a container's output was kept."""
        with engine_errors(f"read the log of container {name}"):
            if self._client.inspect_container(name)["HostConfig"]["LogConfig"]["Type"] == "none":
                return 0
            kept: bytes = self._client.logs(name, stdout=True, stderr=False)
        return len(kept)

    def usage(self, name: str) -> dict[str, Any]:
        """Return what a running container has used so far, and the time of that."""
        with engine_errors(f"read the use of container {name}"):
            used: dict[str, Any] = self._client.stats(name, stream=False, one_shot=True)
        return used


def share_between(before: dict[str, Any], after: dict[str, Any]) -> Share:
    """Return the share of the processor between two usages.

    Raises:
        ValueError: The container has ended, so the engine does not say.
    """
    try:
        return _share_between(before, after)
    except (KeyError, ZeroDivisionError) as error:
        raise ValueError("there is no use of a container that has ended") from error


def _share_between(before: dict[str, Any], after: dict[str, Any]) -> Share:
    seconds = (_moment(after["read"]) - _moment(before["read"])).total_seconds()
    used = after["cpu_stats"]["cpu_usage"]["total_usage"] - before["cpu_stats"]["cpu_usage"]["total_usage"]
    periods = "throttled_periods"
    throttled = (
        after["cpu_stats"]["throttling_data"][periods] - before["cpu_stats"]["throttling_data"][periods]
    )
    return Share(cores=used / _SECOND / seconds, throttled=throttled)


def seconds_of_life(state: dict[str, Any]) -> float:
    """Return how long a container that has ended ran, by the engine's clock."""
    return (_moment(state["FinishedAt"]) - _moment(state["StartedAt"])).total_seconds()


def _moment(text: str) -> datetime:
    """Read Go's moments, whose seconds have up to nine decimals."""
    whole, _, rest = text.rstrip("Z").partition(".")
    return datetime.fromisoformat(f"{whole}.{rest[:_FRACTION].ljust(_FRACTION, '0')}+00:00")
