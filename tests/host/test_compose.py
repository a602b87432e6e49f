"""docker-compose.yml: the arena and its site in containers, from the image of this checkout."""

import json
import os
import subprocess
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker
import httpx2
import pytest
from docker.models.containers import Container

from arena.images import build_database_image, build_server_image
from arena.sandbox import INSTALL_LABEL
from tests.demo.running import await_that

pytestmark = pytest.mark.docker

ROOT = Path(__file__).parents[2]
PROJECT_LABEL = "com.docker.compose.project"
SOCKET = "/var/run/docker.sock"


@dataclass(frozen=True, slots=True)
class Project:
    """A Compose project of docker-compose.yml."""

    command: tuple[str, ...]
    name: str
    client: docker.DockerClient

    def run(self, *arguments: str) -> str:
        """Call Compose, on a free port, and return what it printed."""
        done = subprocess.run(  # noqa: S603 - our own argument list
            [*self.command, "--project-name", self.name, *arguments],
            cwd=ROOT,
            env={**os.environ, "KAITEN_PORT": "0"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def containers(self) -> list[Container]:
        """Return the project's containers, in any state."""
        return self.client.containers.list(all=True, filters={"label": f"{PROJECT_LABEL}={self.name}"})

    def service(self, name: str) -> Container:
        """Return the container of a service, as it is now."""
        [found] = [c for c in self.containers() if c.labels["com.docker.compose.service"] == name]
        return found


@pytest.fixture
def project(docker_client: docker.DockerClient, compose_command: tuple[str, ...]) -> Iterator[Project]:
    """Give a project with a name of its own; nothing of it stays."""
    project = Project(compose_command, f"kaiten-test-{uuid.uuid4().hex[:8]}", docker_client)
    yield project
    project.run("down", "--volumes")
    assert project.containers() == []
    assert docker_client.volumes.list(filters={"label": f"{PROJECT_LABEL}={project.name}"}) == []


def mounts(container: Container) -> dict[str, bool]:
    """Return what is mounted into a container, and whether it may write to it."""
    return {mount["Destination"]: mount["RW"] for mount in container.attrs["Mounts"]}


def reader(web: Container) -> Callable[[str], Any]:
    """Return what reads a path of the site's API; None while it does not answer."""
    [published] = web.attrs["NetworkSettings"]["Ports"]["8000/tcp"]
    assert published["HostIp"] == "127.0.0.1"

    def read(path: str) -> Any:  # noqa: ANN401 - whatever the site says
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{published['HostPort']}/api/v1/{path}", timeout=5
            ) as answer:
                return json.load(answer)
        except OSError:
            return None

    return read


def registered(web: Container, name: str) -> httpx2.Client:
    """Register somebody on the site, as a browser does, and return what is logged in now."""
    [published] = web.attrs["NetworkSettings"]["Ports"]["8000/tcp"]
    url = f"http://127.0.0.1:{published['HostPort']}"
    visitor = httpx2.Client(base_url=url, headers={"Origin": url}, timeout=30)
    answer = visitor.post("/register", data={"name": name, "password": "correct horse battery staple"})
    assert answer.status_code == 303, answer.text
    assert answer.headers["location"] == "/account"
    return visitor


def submit(visitor: httpx2.Client, bot: str, source: bytes) -> str:
    """Send a bot's source file in, and return its stage once it is in play or refused."""
    answer = visitor.put(f"/api/v1/bots/{bot}/submissions", params={"kind": "python"}, content=source)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = {}

    def decided() -> bool:
        found.update(visitor.get(answer.headers["location"]).json())
        return found["stage"] in {"active", "rejected"}

    await_that(decided, "the end of the submission")
    assert not found["cause"], found
    return str(found["stage"])


def test_the_file_is_valid(project: Project) -> None:
    """Compose understands it."""
    project.run("config", "--quiet")


def test_games_are_played_and_shown_and_nothing_is_left(project: Project) -> None:
    """The site shows rated games and can do nothing else; a stop ends the arena cleanly, with its bots."""
    build_server_image(project.client)
    build_database_image(project.client)
    project.run("up", "-d")
    arena, web, worker = (project.service(name) for name in ("arena", "web", "worker"))
    assert mounts(arena) == {
        "/data": True,
        "/data/uploads": True,
        "/run/postgresql": True,
        "/images": True,
        "/keys": False,
        SOCKET: True,
    }
    assert mounts(worker) == {
        "/images": False,
        "/keys": False,
        SOCKET: True,
        "/run/kaiten": True,
        "/sys/fs/cgroup": True,
    }
    assert mounts(web) == {"/data/uploads": True, "/run/postgresql": True}
    assert web.exec_run(["id", "-u"]).output == b"62000\n"

    read = reader(web)
    await_that(
        lambda: sum(row["games"] for row in (read("leaderboard") or {"rows": []})["rows"]) > 0, "a rated game"
    )
    [host] = read("status")["hosts"]
    assert [control["name"] for control in host["missing"]] == []
    assert host["strangers"]
    await_that(lambda: project.service("web").health == "healthy", "the site's health")
    with closing(registered(web, "ann")) as ann:
        assert submit(ann, "anns-bot", (ROOT / "bots" / "greedy" / "bot.py").read_bytes()) == "active"
    assert "ann" in project.run("exec", "-T", "arena", "python3", "-m", "arena", "admin", "list-users")
    project.run("up", "-d", "--scale", "worker=2")
    await_that(
        lambda: sum(each["busy"] > 0 for each in read("status")["workers"]) == 2, "both workers at play"
    )
    installs = [
        project.run("exec", "-T", "--index", str(number), "worker", "cat", "/data/install").strip()
        for number in (1, 2)
    ]

    def bots() -> list[Container]:
        return [
            bot
            for install in installs
            for bot in project.client.containers.list(
                all=True, ignore_removed=True, filters={"label": f"{INSTALL_LABEL}={install}"}
            )
        ]

    await_that(lambda: len(bots()) > 0, "a bot at play")
    project.run("stop")
    assert bots() == []
    ended = {each.labels["com.docker.compose.service"]: each for each in project.containers()}
    for name, said in {"arena": "nothing is left running", "worker": "nothing is left running"}.items():
        logs = ended[name].logs().decode()
        assert ended[name].attrs["State"]["ExitCode"] == 0, logs
        assert said in logs
