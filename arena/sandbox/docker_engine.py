"""Finds the Docker engine, and tells its failures apart."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Final

import docker
from docker.errors import APIError, DockerException, ImageNotFound, NotFound
from docker.utils import kwargs_from_env

from arena.sandbox.errors import EngineGone, LaunchRefused, RuntimeTrouble

_PING_SECONDS: Final = 5
_CALL_SECONDS: Final = 60
_CONNECTIONS: Final = 64
"""Kept open at most. Every running bot holds two: for its end and for its stderr."""

_IMAGE_FAULTS: Final = {
    "not a directory": "it has a file where a folder must be: in /tmp, in /run or in its WORKDIR",
    "chdir to cwd": "its WORKDIR can't be entered",
}
"""What only a wrong image can cause, in the engine's words and in ours, which show no path of this host."""


def connect() -> docker.APIClient:
    """Return a client of the engine that the environment names, by default this host's.

    Raises:
        EngineGone: None answers.
    """
    address = os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
    try:
        where = kwargs_from_env()
        client = docker.APIClient(version="auto", timeout=_PING_SECONDS, max_pool_size=_CONNECTIONS, **where)
    except (DockerException, OSError) as error:
        raise EngineGone(
            f"No Docker engine answers at {address}: {error}. Start it, see that you may use it "
            "(group docker), or name another in DOCKER_HOST. Without one, bots can only be run as "
            "plain processes, which is for your own bots alone."
        ) from error
    client.timeout = _CALL_SECONDS
    return client


def impatient(client: docker.APIClient) -> docker.APIClient:
    """Return a client of the same engine, over the same connections, that waits a few seconds for an answer.

    It needs not be closed.
    """
    asks = docker.APIClient.__new__(docker.APIClient)
    vars(asks).update(vars(client))  # copy.copy takes only what a session would pickle
    asks.timeout = _PING_SECONDS
    return asks


@contextmanager
def engine_errors(doing: str) -> Iterator[None]:
    """Turn the engine's failures into ours.

    Args:
        doing: What was being done to what, such as ``start container arena-…``.

    Raises:
        EngineGone: It does not answer.
        RuntimeTrouble: All else, so that no bot is blamed without evidence.
    """
    try:
        yield
    except ImageNotFound as error:
        raise RuntimeTrouble(
            f"could not {doing}: the image is not here ({error.explanation}); build or load it again"
        ) from error
    except APIError as error:
        raise RuntimeTrouble(
            f"could not {doing}: the engine answered: {error.explanation or error}"
        ) from error
    except (DockerException, OSError) as error:
        raise EngineGone(f"could not {doing}: the engine does not answer: {error}") from error


@contextmanager
def launch_errors(doing: str) -> Iterator[None]:
    """Do as :func:`engine_errors`, but see where the image is to blame.

    Raises:
        LaunchRefused: By the engine's own words the image can't be run.
        RuntimeTrouble: All else.
    """
    with engine_errors(doing):
        try:
            yield
        except APIError as error:
            for sign, words in _IMAGE_FAULTS.items():
                if sign in str(error.explanation):
                    raise LaunchRefused(f"the image can't be started: {words}") from error
            raise


def is_gone(error: APIError) -> bool:
    """Whether a call failed because the container is not there, or is being removed by someone else."""
    return isinstance(error, NotFound) or (
        error.response is not None
        and error.response.status_code == HTTPStatus.CONFLICT
        and "in progress" in str(error.explanation)
    )
