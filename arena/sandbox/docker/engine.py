"""Finds the Docker engine, and classifies its failures."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import docker
from docker.credentials.errors import StoreError
from docker.errors import APIError, DockerException, ImageNotFound, StreamParseError
from docker.utils import kwargs_from_env
from requests import RequestException
from urllib3.exceptions import HTTPError

from arena.sandbox.kernel.disks import disk_of_btrfs, disk_of_device
from arena.sandbox.runtime import EngineUnavailable, LaunchRefused, RuntimeFailure

PING_SECONDS: Final = 5
"""Timeout for calls that an engine answers immediately."""

_CALL_SECONDS: Final = 60
_CONNECTIONS: Final = 64
"""Maximum number of open connections. A running bot uses two: one to wait for its end, and one to read its
stderr."""

_IMAGE_FAULTS: Final = {
    "not a directory": "it has a file where a folder must be: at /tmp, in /run or in the path of its WORKDIR",
    "chdir to cwd": "its WORKDIR can't be entered",
}
"""Errors that only a faulty image can cause: the engine's text, and ours, which contains no paths on this
host."""


def connect() -> docker.APIClient:
    """Return a client for the engine at DOCKER_HOST, by default this host's. Raises EngineUnavailable."""
    address = os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
    try:
        where = kwargs_from_env()
        client = docker.APIClient(version="auto", timeout=PING_SECONDS, max_pool_size=_CONNECTIONS, **where)
    except (DockerException, OSError) as error:
        raise EngineUnavailable(
            f"no Docker engine responds at {address}: {error}. Start one, make sure that you are allowed "
            "to use it (join the docker group), or set DOCKER_HOST to another engine's address. Without an "
            "engine, bots can run only as plain processes, which is safe only for your own bots."
        ) from error
    client.timeout = _CALL_SECONDS
    return client


def with_timeout(client: docker.APIClient, seconds: int) -> docker.APIClient:
    """Return a client that shares the connections but has a different timeout. It needn't be closed."""
    copy = docker.APIClient.__new__(docker.APIClient)
    vars(copy).update(vars(client))  # copy.copy copies only what requests.Session pickles
    copy.timeout = seconds
    return copy


@contextmanager
def engine_errors(doing: str) -> Iterator[None]:
    """Convert the engine's failures to the runtime's exceptions.

    ``doing`` describes the action, such as ``start container arena-…``.

    Raises EngineUnavailable if the engine is not responding, or RuntimeFailure for any other failure, so that
    no bot is blamed without evidence.
    """
    try:
        yield
    except ImageNotFound as error:
        raise RuntimeFailure(
            f"could not {doing}: the image is missing ({error.explanation}); build or load it again"
        ) from error
    except APIError as error:
        raise RuntimeFailure(
            f"could not {doing}: the engine reported: {error.explanation or error}"
        ) from error
    except (RequestException, HTTPError, StreamParseError, ConnectionError, TimeoutError) as error:
        raise EngineUnavailable(f"could not {doing}: the engine is not responding: {error}") from error
    except (DockerException, StoreError, OSError) as error:
        raise RuntimeFailure(f"could not {doing}: {error}") from error


def check_report(report: Iterable[Mapping[str, Any]], doing: str) -> None:
    """Read the engine's report about an action. Raises RuntimeFailure if it contains an error."""
    for message in report:
        if "error" in message:
            raise RuntimeFailure(f"could not {doing}: the engine reported: {message['error']}")


@contextmanager
def launch_errors(doing: str) -> Iterator[None]:
    """Like :func:`engine_errors`, but recognises a faulty image.

    Raises LaunchRefused if the engine's message says that the image can't be run, or RuntimeFailure for
    anything else.
    """
    with engine_errors(doing):
        try:
            yield
        except APIError as error:
            for sign, words in _IMAGE_FAULTS.items():
                if sign in str(error.explanation):
                    raise LaunchRefused(f"the image can't be started: {words}") from error
            raise


def is_being_removed(error: APIError) -> bool:
    """Return whether a call failed because the container is already being removed."""
    return error.status_code == HTTPStatus.CONFLICT and "in progress" in str(error.explanation)


_INTERFERING_EVENTS: Final = ("kill", "pause", "restart", "stop", "update")
"""The engine's events for requests to end, stop or slow a container. A ``die`` event doesn't show its
cause."""


_FEW_EVENTS: Final = 128
"""The engine keeps its last 256 events, across all containers. If it returns fewer than this many, it has
dropped none since it started. The margin allows for events after ``until``, which aren't returned."""


def requests_to_engine(client: docker.APIClient, container: str, until: float) -> tuple[str, ...]:
    """Return the requests that the engine received to end, stop or slow a container, in order.

    ``until`` is in seconds since 1970 by the engine's clock. Raises EngineUnavailable if the engine has
    restarted since it created the container. It has then lost its events, and may have stopped the container
    itself. A request may reach the new engine without an error if systemd keeps the socket open.
    """
    events = client.events(since=0, until=until, decode=True)  # type: ignore[call-overload] # float
    with closing(events):
        remembered = list(events)
    own = [event["Action"] for event in remembered if event["Actor"]["ID"] == container]
    if "create" not in own and len(remembered) < _FEW_EVENTS:
        raise EngineUnavailable(f"the engine has restarted since it created container {container[:12]}")
    return tuple(action for action in own if action in _INTERFERING_EVENTS)


_LOCAL: Final = "http+docker://localhost"
"""docker-py's base URL for an engine that listens on a unix socket."""

_LAYERS: Final = "overlay2"
"""The folder in the data root that contains the layers. An arena in a container may see only this part of the
data root."""

_FROM_THE_ENGINE: Final = "/etc/hostname"
"""In a container, this file comes from the engine's data root."""


def disk_of_engine(base_url: str, info: dict[str, Any]) -> str:
    """Return the block device of the engine's data root, such as ``/dev/sda``; empty if unknown.

    The device is unknown if the engine isn't on a unix socket or runs on another kernel, or if there is no
    single device, as with ZFS, tmpfs and btrfs on several disks. ``info`` is the result of
    ``APIClient.info``.
    """
    if base_url != _LOCAL or info["KernelVersion"] != os.uname().release:
        return ""
    root = Path(info["DockerRootDir"])
    for path in (root / _LAYERS, root, Path(_FROM_THE_ENGINE)):
        try:
            device = path.stat().st_dev
        except OSError:
            continue  # the arena is in a container and can't see this path
        return disk_of_device(os.major(device), os.minor(device)) or disk_of_btrfs(path)
    return ""
