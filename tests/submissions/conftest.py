"""Fixtures for the tests of submissions."""

from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from arena.platform.settings import Settings
from arena.sandbox.runtime import INSTALL_LABEL
from tests.submissions.opened import settings_in, submitted_images


@pytest.fixture
def settings(tmp_path: Path, run_dir: Path, docker_client: docker.DockerClient) -> Iterator[Settings]:
    """Yield the settings of a new arena, whose containers and images are removed after the test."""
    settings = settings_in(tmp_path / "data", run_dir)
    yield settings
    install = (settings.data_dir / "install").read_text().strip()
    left = docker_client.containers.list(
        all=True, ignore_removed=True, filters={"label": f"{INSTALL_LABEL}={install}"}
    )
    for container in left:
        container.remove(force=True)
    for tag in submitted_images(docker_client, install):
        docker_client.images.remove(tag, force=True)
    assert not left
