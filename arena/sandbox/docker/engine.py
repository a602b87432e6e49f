"""Finds the Docker engine, and classifies its failures."""

import os
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Final

import docker
from docker.credentials.errors import StoreError
from docker.errors import APIError, DockerException, ImageNotFound, NotFound, StreamParseError
from docker.utils import kwargs_from_env
from requests import RequestException
from urllib3.exceptions import HTTPError

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
            f"No Docker engine answers at {address}: {error}. Start one, make sure that you are allowed "
            "to use it (join the docker group), or set DOCKER_HOST to another one. Without an engine, bots "
            "can run only as plain processes, which is safe only for your own bots."
        ) from error
    client.timeout = _CALL_SECONDS
    return client


def with_timeout(client: docker.APIClient, seconds: int) -> docker.APIClient:
    """Return a client with the same connections and another timeout. It needn't be closed."""
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


def is_already_removed(error: APIError) -> bool:
    """Return whether a call failed because the container doesn't exist or is already being removed."""
    return isinstance(error, NotFound) or (
        error.response is not None
        and error.response.status_code == HTTPStatus.CONFLICT
        and "in progress" in str(error.explanation)
    )


_LOG: Final = Path("/dev/kmsg")
_RECORD_BYTES: Final = 8192
"""The kernel's limit for one record."""

_INTERFERING_EVENTS: Final = ("kill", "pause", "restart", "stop", "update")
"""The engine's events for requests to end, stop or slow a container. A ``die`` event doesn't show its
cause."""


def requests_to_engine(client: docker.APIClient, container: str, until: float) -> tuple[str, ...]:
    """Return the requests that the engine received to end, stop or slow a container, in order.

    The engine remembers only its last 256 events, across all containers. ``until`` is in seconds since 1970
    by the engine's clock.
    """
    filters = {"container": container, "event": list(_INTERFERING_EVENTS)}
    events = client.events(since=0, until=until, filters=filters, decode=True)  # type: ignore[call-overload] # float
    with closing(events):
        return tuple(event["Action"] for event in events)


def ran_out_of_memory_outside(log: Iterable[str], container: str) -> bool:
    """Return True if the kernel killed a container's process because memory ran out outside the container.

    Memory ran out on the host, or in a control group above the container's. ``log`` contains the kernel's
    records without prefixes, in which a control group's path contains its container's id.
    """
    return any(container in killed and container not in limit for killed, limit in _killed_for_memory(log))


def reached_its_limit(log: Iterable[str], container: str) -> bool:
    """Return True if the kernel killed a process because the container reached its own memory limit.

    ``log`` is as for :func:`ran_out_of_memory_outside`.
    """
    return any(container in limit for _, limit in _killed_for_memory(log))


def _killed_for_memory(log: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each killed process's control group, and the control group whose memory limit was reached."""
    for record in log:
        facts, name, _ = record.partition(",task=")  # the rest begins with a name that the bot has chosen
        if name and facts.startswith("oom-kill:constraint="):
            groups = dict(fact.split("=", 1) for fact in facts.split(",") if "=" in fact)
            yield groups.get("task_memcg", ""), groups.get("oom_memcg", "")


def kernel_log() -> Iterator[str]:
    """Yield the kernel's records, oldest first; none if they can't be read, as in most containers."""
    with suppress(OSError):
        log = os.open(_LOG, os.O_RDONLY | os.O_NONBLOCK)
        try:
            while True:
                with suppress(BrokenPipeError):  # this record was overwritten; the next one is available
                    yield os.read(log, _RECORD_BYTES).decode(errors="replace").partition(";")[2].rstrip("\n")
        finally:
            os.close(log)
