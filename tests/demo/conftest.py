"""Fixtures that give each test its own place."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import docker
import pytest
from docker.models.containers import Container

from arena.play.botfiles import FILE, bot_names
from arena.sandbox.runtime import INSTALL_LABEL
from tests.demo.running import Place
from tests.submissions.opened import submitted_images


@pytest.fixture
def place(tmp_path: Path, run_dir: Path) -> Place:
    """Return a place with its own data directory and folder for sockets."""
    return Place(tmp_path / "data", run_dir)


With = Callable[..., Place]

_UNFINISHED = shutil.ignore_patterns("*.pyc.*")
"""Bytecode that another process is writing, and may rename at any moment."""


@pytest.fixture
def place_with(place: Place, tmp_path: Path) -> With:
    """Return a function that returns the place with a checkout in which only these house bots exist.

    Bots that think long would take more time than the rest of a test.
    """

    def made(*bots: str) -> Place:
        target = tmp_path / "checkout"
        for folder in ("arena", "bots", "docs", "proto", "web"):
            shutil.copytree(place.checkout / folder, target / folder, ignore=_UNFINISHED)
        shutil.copy(place.checkout / "pyproject.toml", target)
        for name in {*bot_names(target / "bots")} - {*bots}:
            (target / "bots" / name / FILE).unlink()
        return replace(place, checkout=target)

    return made


@pytest.fixture
def docker_place(place: Place, docker_client: docker.DockerClient, base_image: str) -> Iterator[Place]:
    """Yield a place whose bots run in containers, none of which may be left at the end."""
    assert base_image
    yield place
    left = containers_of(docker_client, place)
    for container in left:
        container.remove(force=True)
    assert not left


def containers_of(client: docker.DockerClient, place: Place) -> list[Container]:
    """Return the containers of a place's installation, in any state."""
    if not place.install:
        return []
    return client.containers.list(
        all=True, ignore_removed=True, filters={"label": f"{INSTALL_LABEL}={place.install}"}
    )


def loaded(client: docker.DockerClient, place: Place) -> list[str]:
    """Return the names of a place's submitted images in the engine."""
    return submitted_images(client, place.install) if place.install else []


@pytest.fixture
def arena(docker_place: Place, docker_client: docker.DockerClient) -> Iterator[Place]:
    """Yield a place. At the end, its submitted images are removed from the engine."""
    yield docker_place
    for tag in loaded(docker_client, docker_place):
        # Another test's container may be running the same image: equal bots have equal images.
        docker_client.images.remove(tag, force=True)
