"""Tests of the database's image: who can connect, and what survives a kill."""

import json
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import docker
import pytest
from docker.models.containers import Container

from arena.images.build.server import build_database_image
from arena.sandbox.builder import ImageBuilder
from tests.patience import WAIT_SECONDS, wait_until

pytestmark = pytest.mark.docker

COMPOSE_FILE = Path(__file__).parents[2] / "docker-compose.yml"
ARENA, SITE, STRANGER = "0", "62000", "62005"


@pytest.fixture(scope="module")
def image(image_builder: ImageBuilder) -> str:
    """Return the image."""
    return build_database_image(image_builder)


@pytest.fixture
def volume(docker_client: docker.DockerClient) -> Iterator[str]:
    """Yield the name of an empty volume."""
    volume = docker_client.volumes.create(f"kaiten-test-{uuid.uuid4().hex[:8]}")
    yield volume.name
    volume.remove()


@contextmanager
def running(client: docker.DockerClient, image: str, volume: str) -> Iterator[Container]:
    """Yield a container that runs like the one in docker-compose.yml."""
    container = client.containers.run(
        image,
        detach=True,
        network_mode="none",
        read_only=True,
        tmpfs={"/tmp": "", "/run/postgresql": "uid=62001"},  # noqa: S108 - in the container
        cap_drop=["ALL"],
        security_opt=["no-new-privileges:true"],
        volumes={volume: {"bind": "/var/lib/postgresql/data", "mode": "rw"}},
    )
    try:
        yield container
    finally:
        container.remove(force=True, v=True)


def ask(database: Container, user: str, role: str, statement: str) -> str:
    """Run a statement as one of the container's users. Return the output, or nothing if it failed."""
    code, output = database.exec_run(
        ["psql", "--host", "/run/postgresql", "--username", role, "-Atc", statement, "kaiten"],
        user=user,
        workdir="/",
    )
    assert isinstance(output, bytes)
    return output.decode().strip() if code == 0 else ""


def test_only_the_arena_and_its_site_can_connect(
    docker_client: docker.DockerClient, image: str, volume: str
) -> None:
    """Only the arena and its site can connect. Their data survives a stop, which is quick, and a kill.

    The health check logs nothing, since it uses a user that the database knows. With another one each check
    would log three lines.
    """
    with running(docker_client, image, volume) as database:
        wait_until(lambda: ask(database, SITE, "kaiten", "SELECT 1") == "1", "the database")
        assert ask(database, ARENA, "kaiten", "CREATE TABLE kept AS SELECT 7 AS seven") == "SELECT 1"
        assert ask(database, STRANGER, "kaiten", "SELECT 1") == ""
        assert ask(database, SITE, "postgres", "SELECT 1") == ""
        database.stop(timeout=WAIT_SECONDS)
        assert database.wait()["StatusCode"] == 0
    with running(docker_client, image, volume) as database:
        wait_until(lambda: ask(database, SITE, "kaiten", "SELECT seven FROM kept") == "7", "what was kept")
        database.kill()
        database.start()
        wait_until(lambda: ask(database, SITE, "kaiten", "SELECT seven FROM kept") == "7", "what was kept")
        [found] = re.findall(r'test: (\["CMD", "pg_isready".*\])', COMPOSE_FILE.read_text())
        check = json.loads(found)[1:]
        wait_until(lambda: database.exec_run(check).exit_code == 0, "its health")
        assert b"FATAL:  Peer" not in database.logs()
        database.exec_run([*check[:4], "kaiten", *check[5:]])
        wait_until(lambda: b"FATAL:  Peer" in database.logs(), "the log of a refused user")


def test_a_first_start_that_was_killed_is_repeated(
    docker_client: docker.DockerClient, image: str, volume: str
) -> None:
    """If the first start was killed, the next one starts over and never uses the incomplete cluster."""
    with running(docker_client, image, volume) as database:
        wait_until(lambda: "creating subdirectories" in database.logs().decode(), "the beginning")
        database.kill()
        database.start()
        wait_until(lambda: ask(database, SITE, "kaiten", "SELECT 1") == "1", "the database")
