"""A container for bots in JavaScript."""

import os
import tempfile
from collections.abc import Iterator

import docker
import pytest


@pytest.fixture(scope="session")
def javascript_container(docker_client: docker.DockerClient, javascript_image: str) -> Iterator[str]:
    """Yield the ID of a running container of the base image, which sees this host's temporary files.

    Starting programs in it takes a fraction of the time that a container for each would take.
    """
    shared = tempfile.gettempdir()
    container = docker_client.containers.run(
        javascript_image,
        ["sleep", "infinity"],
        detach=True,
        init=True,
        network_mode="none",
        read_only=True,
        user=f"{os.getuid()}:{os.getgid()}",
        volumes={shared: {"bind": shared, "mode": "ro"}},
    )
    yield str(container.id)
    container.remove(force=True)
