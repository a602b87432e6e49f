"""Tests of docker-compose.yml: the arena and its site in containers, from this checkout's image."""

import ipaddress
import json
import os
import socket
import subprocess
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import docker
import httpx2
import pytest
from docker.models.containers import Container

from arena.images.build.server import build_database_image, build_server_image
from arena.sandbox.builder import ImageBuilder
from arena.sandbox.runtime import INSTALL_LABEL
from tests.patience import wait_until
from tests.ports import free_port

pytestmark = [pytest.mark.docker, pytest.mark.timeout(1800)]

ROOT = Path(__file__).parents[2]
PROJECT_LABEL = "com.docker.compose.project"
SOCKET = "/var/run/docker.sock"
LAYERS = "/var/lib/docker/overlay2"
CALL_SECONDS = 900
"""Timeout of a Compose command; Compose gives services 600 s to stop."""
CAPABILITIES = {
    "arena": {"DAC_OVERRIDE", "KILL", "SETGID", "SETUID"},
    "worker": {"CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID", "SYSLOG"},
}
"""The services that have capabilities."""
KEYS = ["ca.pem", "member.key", "member.pem"]


@dataclass(frozen=True, slots=True)
class Project:
    """A Compose project."""

    command: tuple[str, ...]
    name: str
    client: docker.DockerClient
    file: str = "docker-compose.yml"
    variables: dict[str, str] = field(default_factory=dict)

    def run(self, *arguments: str) -> str:
        """Run a Compose command, and return its output."""
        done = subprocess.run(  # noqa: S603 - our own argument list
            [*self.command, "--file", self.file, "--project-name", self.name, *arguments],
            cwd=ROOT,
            env={**os.environ, **self.variables},
            capture_output=True,
            text=True,
            timeout=CALL_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def containers(self) -> list[Container]:
        """Return the project's containers, in any state."""
        return self.client.containers.list(all=True, filters={"label": f"{PROJECT_LABEL}={self.name}"})

    def service(self, name: str) -> Container:
        """Return a service's current container."""
        [found] = [c for c in self.containers() if c.labels["com.docker.compose.service"] == name]
        return found


@pytest.fixture
def project(docker_client: docker.DockerClient, compose_command: tuple[str, ...]) -> Iterator[Project]:
    """Yield the arena's project, with its own name and free ports, and remove it afterwards."""
    # A bridge with IPv6 has a second subnet.
    bridge, *_ = docker_client.networks.get("bridge").attrs["IPAM"]["Config"]
    gateway = bridge.get("Gateway") or next(ipaddress.ip_network(bridge["Subnet"]).hosts())
    project = Project(
        compose_command,
        f"kaiten-test-{uuid.uuid4().hex[:8]}",
        docker_client,
        # The scheduler's port is on the bridge instead of the loopback, so that containers reach it too.
        variables={
            "KAITEN_PORT": "0",
            "KAITEN_CLUSTER": f"{gateway}:",
            "KAITEN_OPS": "127.0.0.1:",
            "KAITEN_WEB_OPS": "127.0.0.1:",
            "KAITEN_SUBMISSIONS_A_DAY": "7",
        },
    )
    yield project
    remove(project)


@pytest.fixture
def elsewhere(project: Project, tmp_path: Path) -> Iterator[Project]:
    """Yield the project of a worker that shares only the network with the arena.

    :func:`bring_keys` gives it what it needs from the running arena.
    """
    project = Project(
        project.command,
        f"{project.name}-elsewhere",
        project.client,
        file="deploy/worker.yml",
        variables={
            "KAITEN_CLUSTER": "192.0.2.1:8786",
            "KAITEN_IMAGES": str(tmp_path),
            "KAITEN_KEYS": str(tmp_path / "keys"),
            "KAITEN_WORKER_PORT": str(free_port()),
            "KAITEN_OPS_PORT": str(free_port()),
        },
    )
    yield project
    remove(project)


def remove(project: Project) -> None:
    """Remove everything that a project has created."""
    label = {"label": f"{PROJECT_LABEL}={project.name}"}
    if project.containers() or project.client.networks.list(filters=label):
        project.run("down", "--volumes")
    assert project.containers() == []
    assert project.client.volumes.list(filters=label) == []


def bring_keys(arena: Project, worker: Project) -> None:
    """Create a worker's keys, and give it these, the scheduler's address and the images."""
    arena.run("run", "--rm", "-T", "keys", "python3", "-m", "arena", "admin", "cluster-keys", "/keys", "w2")
    archive = arena.run("run", "--rm", "-T", "keys", "tar", "-C", "/keys/w2", "-c", *KEYS).encode()
    folder = Path(worker.variables["KAITEN_KEYS"])
    folder.mkdir()
    subprocess.run(["tar", "-C", folder, "-x"], input=archive, check=True)  # noqa: S603, S607 - our own
    [published] = arena.service("scheduler").attrs["NetworkSettings"]["Ports"]["8786/tcp"]
    worker.variables["KAITEN_CLUSTER"] = f"{published['HostIp']}:{published['HostPort']}"
    images = arena.client.volumes.get(f"{arena.name}_images")
    worker.variables["KAITEN_IMAGES"] = images.attrs["Mountpoint"]


def mounts(container: Container) -> dict[str, bool]:
    """Return a container's mount points, with whether each is writable."""
    return {mount["Destination"]: mount["RW"] for mount in container.attrs["Mounts"]}


def volumes(container: Container) -> set[str]:
    """Return the names of a container's volumes."""
    return {mount["Name"] for mount in container.attrs["Mounts"] if mount["Type"] == "volume"}


def check_keys(project: Project) -> list[str]:
    """Check that each member has its own key, and only the service `keys` the authority's.

    Return the keys.
    """
    members = ("scheduler", "worker", "arena")
    for name in members:
        assert project.run("exec", "-T", name, "ls", "/keys").split() == KEYS
    seen = [project.run("exec", "-T", name, "cat", "/keys/member.key") for name in members]
    assert len(set(seen)) == len(members)
    has = {
        each.labels["com.docker.compose.service"]
        for each in project.containers()
        if f"{project.name}_keys" in volumes(each)
    }
    assert has == {"keys"}
    return seen


def reader(web: Container) -> Callable[[str], Any]:
    """Return a function that reads a path of the site's API. It returns None if the site doesn't respond."""
    [published] = web.attrs["NetworkSettings"]["Ports"]["8000/tcp"]
    assert published["HostIp"] == "127.0.0.1"

    def read(path: str) -> Any:  # noqa: ANN401 - any JSON
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{published['HostPort']}/api/v1/{path}", timeout=5
            ) as answer:
                return json.load(answer)
        except OSError:
            return None

    return read


def registered(web: Container, name: str) -> httpx2.Client:
    """Register an account on the site, as a browser does, and return its client."""
    [published] = web.attrs["NetworkSettings"]["Ports"]["8000/tcp"]
    url = f"http://127.0.0.1:{published['HostPort']}"
    visitor = httpx2.Client(base_url=url, headers={"Origin": url}, timeout=30)
    answer = visitor.post("/register", data={"name": name, "password": "correct horse battery staple"})
    assert answer.status_code == 303, answer.text
    assert answer.headers["location"] == "/account"
    return visitor


def submit(visitor: httpx2.Client, bot: str, source: bytes) -> str:
    """Submit a bot's source file, and return its stage when it is active or rejected."""
    answer = visitor.put(f"/api/v1/bots/{bot}/submissions", params={"kind": "python"}, content=source)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = {}

    def decided() -> bool:
        found.update(visitor.get(answer.headers["location"]).json())
        return found["stage"] in {"active", "rejected"}

    wait_until(decided, "the end of the submission")
    assert not found["cause"], found
    return str(found["stage"])


def test_the_files_are_valid(project: Project, elsewhere: Project) -> None:
    """Compose accepts the files."""
    project.run("config", "--quiet")
    elsewhere.run("config", "--quiet")


def check_logs(containers: list[Container]) -> None:
    """Check that the size of each service's log is limited."""
    for each in containers:
        assert each.attrs["HostConfig"]["LogConfig"] == {
            "Type": "json-file",
            "Config": {"max-file": "6", "max-size": "10m"},
        }


def check_rights(containers: list[Container]) -> None:
    """Check that no service can gain privileges, and that each has only the capabilities that it needs."""
    for each in containers:
        host = each.attrs["HostConfig"]
        needed = CAPABILITIES.get(each.labels["com.docker.compose.service"], set())
        assert host["CapDrop"] == ["ALL"]
        assert {name.removeprefix("CAP_") for name in host["CapAdd"] or ()} == needed
        assert "no-new-privileges:true" in host["SecurityOpt"]
        assert not host["Privileged"]


def check_metrics(project: Project) -> None:
    """Check that Prometheus reaches the arena and the site on this host, and workers in their network."""
    for name, port, metric in (("arena", 9464, "kaiten_games_total"), ("web", 9465, "kaiten_http_requests")):
        [published] = project.service(name).attrs["NetworkSettings"]["Ports"][f"{port}/tcp"]
        assert published["HostIp"] == "127.0.0.1"
        with urllib.request.urlopen(f"http://127.0.0.1:{published['HostPort']}/metrics", timeout=30) as told:
            assert metric in told.read().decode()
    program = "import urllib.request as r; print(r.urlopen('http://worker:9464/metrics').read().decode())"
    assert "kaiten_host_slots" in project.run("exec", "-T", "scheduler", "python3", "-c", program)


# Takes over 20 s if the database's image must be built first.
def test_the_database_starts_and_stops(project: Project, image_builder: ImageBuilder) -> None:
    """The database becomes healthy without unnecessary privileges; its data is in the project's volumes."""
    build_database_image(image_builder)
    project.run("up", "-d", "database")
    wait_until(lambda: project.service("database").health == "healthy", "the database's health")
    database = project.service("database")
    check_logs([database])
    check_rights([database])
    assert volumes(database) == {f"{project.name}_postgresql", f"{project.name}_database-socket"}
    fatal = [line for line in database.logs().decode().splitlines() if "FATAL" in line]
    assert not [
        line for line in fatal if "starting up" not in line
    ]  # the health check may have run before the server was ready
    project.run("stop")
    assert project.service("database").attrs["State"]["ExitCode"] == 0


def bots_of(project: Project, *installs: str) -> set[str]:
    """Return the ids of these installations' bots, in any state."""
    return {
        str(bot.id)
        for install in installs
        for bot in project.client.containers.list(
            all=True, ignore_removed=True, filters={"label": f"{INSTALL_LABEL}={install}"}
        )
    }


def kill_and_replace_worker(project: Project, install: str) -> None:
    """Kill a worker while it has bots, replace its container, and check that these bots are removed."""
    wait_until(lambda: len(bots_of(project, install)) > 0, "a bot at play")
    project.run("kill", "worker")
    project.run("rm", "--force", "worker")
    left = bots_of(project, install)
    project.run("up", "-d", "worker")
    wait_until(lambda: not left & bots_of(project, install), "the end of the killed worker's bots")


@pytest.mark.soak
def test_games_are_played_and_shown_and_nothing_is_left(
    project: Project, elsewhere: Project, image_builder: ImageBuilder
) -> None:
    """The site shows rated games, with few privileges. A stop ends the arena and all bots cleanly.

    One worker is added as if it were on another host. When the first one is killed, its new container removes
    the bots that are left.
    """
    build_server_image(image_builder)
    build_database_image(image_builder)
    project.run("up", "-d")
    bring_keys(project, elsewhere)
    elsewhere.run("up", "-d")
    arena, web, worker = (project.service(name) for name in ("arena", "web", "worker"))
    assert mounts(arena) == {
        "/data": True,
        "/data/exports": True,
        "/data/uploads": True,
        "/run/postgresql": True,
        "/images": True,
        "/keys": False,
        SOCKET: True,
        LAYERS: False,
    }
    assert mounts(worker) == {
        "/data": True,
        "/images": False,
        "/keys": False,
        SOCKET: True,
        LAYERS: False,
        "/run/kaiten": True,
        "/sys/fs/cgroup": True,
    }
    assert mounts(web) == {"/data/exports": False, "/data/uploads": True, "/run/postgresql": True}
    keys = check_keys(project)
    services = [*project.containers(), *elsewhere.containers()]
    check_logs(services)
    check_rights(services)
    assert web.exec_run(["id", "-u"]).output == b"62000\n"
    reads = "from arena.sandbox.kernel.log import kernel_log; print(next(kernel_log(), None) is not None)"
    assert worker.exec_run(["python3", "-c", reads]).output == b"True\n"

    read = reader(web)
    wait_until(
        lambda: sum(row["games"] for row in (read("leaderboard") or {"rows": []})["rows"]) > 0, "a rated game"
    )
    wait_until(lambda: project.service("web").health == "healthy", "the site's health")
    with closing(registered(web, "ann")) as ann:
        assert submit(ann, "anns-bot", (ROOT / "bots" / "greedy" / "bot.py").read_bytes()) == "active"
    shown = project.run(
        "exec", "-T", "arena", "python3", "-m", "arena", "admin", "show-user", "ann", "--json"
    )
    assert json.loads(shown)["quotas"]["submissions_a_day"] == {"limit": 7, "from": "arena"}
    check_metrics(project)
    assert "FATAL" not in project.service("database").logs().decode()
    wait_until(
        lambda: sum(each["busy"] > 0 for each in read("status")["workers"]) == 2, "both workers at play"
    )
    assert project.run("exec", "-T", "scheduler", "cat", "/keys/member.key") == keys[0]  # created only once
    hosts = read("status")["hosts"]
    assert [control["name"] for host in hosts for control in host["missing"]] == []
    assert all(host["strangers"] for host in hosts)
    installs = [
        each.run("exec", "-T", "worker", "cat", "/data/install").strip() for each in (project, elsewhere)
    ]
    shown = json.loads(project.run("exec", "-T", "arena", "python3", "-m", "arena", "workers", "--json"))
    where = {each["name"].removeprefix(f"{each['host']}-"): each["host"] for each in shown["workers"]}
    assert where == dict.fromkeys(installs, socket.gethostname())
    wait_until(lambda: elsewhere.service("worker").health == "healthy", "the other worker's health")
    kill_and_replace_worker(project, installs[0])
    wait_until(lambda: len(read("status")["workers"]) == 2, "the new worker")
    wait_until(lambda: len(bots_of(project, *installs)) > 0, "a bot at play")
    elsewhere.run("kill", "-s", "SIGTERM")
    project.run("stop")
    wait_until(lambda: elsewhere.service("worker").status == "exited", "the other worker's end")
    assert bots_of(project, *installs) == set()
    for ended in (*project.containers(), *elsewhere.containers()):
        if ended.labels["com.docker.compose.service"] in {"arena", "worker"}:
            logs = ended.logs().decode()
            assert ended.attrs["State"]["ExitCode"] == 0, logs
            assert "nothing is left running" in logs
