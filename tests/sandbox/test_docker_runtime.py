"""Guarantees of the Docker runtime that the common suite doesn't test."""

import gc
import os
import signal
import subprocess
import sys
import uuid
from concurrent import futures
from contextlib import closing
from pathlib import Path

import docker
import pytest
from docker.errors import APIError
from requests import Response

from arena.sandbox.docker import sandbox as docker_sandbox
from arena.sandbox.docker.engine import connect
from arena.sandbox.docker.runtime import DockerRuntime, choose_runtime
from arena.sandbox.runtime import INSTALL_LABEL, SOCKET_NAME, EngineUnavailable, LaunchRefused, RuntimeFailure
from tests.faults.engine import engine_alone
from tests.patience import WAIT_SECONDS
from tests.sandbox.stage import FOREVER, LAUNCH_LIMITS, DockerStage, launched, listening, run, spec_for

pytestmark = pytest.mark.docker

# docker-py leaves a socket that failed to connect to the garbage collector.
DIAL_FAILURES_LEAK = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)

LISTEN = """
import os, socket
channel = socket.socket(socket.AF_UNIX)
channel.connect(os.environ["ARENA_REFEREE"].removeprefix("unix://"))
channel.recv(1)
"""


def test_the_error_for_an_unknown_runtime_lists_the_known_ones() -> None:
    """The error for an unknown runtime lists the known ones and names the setting."""
    client = connect()
    with pytest.raises(
        RuntimeFailure, match=r"no container runtime 'crum'; it has .*runc.*ARENA_CONTAINER_RUNTIME"
    ):
        DockerRuntime(client, runtime="crum")
    client.close()


@pytest.mark.parametrize(
    ("program", "chosen"),
    [
        ({"path": "runsc"}, "default"),
        ({"path": "/usr/bin/crun"}, "default"),
        ({"runtimeType": "io.containerd.kata.v2"}, "default"),
        ({"path": "/opt/runsc-20260101"}, "default"),
        ({"path": "nvidia-container-runtime"}, "runc"),
        (
            {
                "runtimeType": "io.containerd.runc.v2",
                "options": {"BinaryName": "/usr/bin/nvidia-container-runtime.cdi"},
            },
            "runc",
        ),
        ({"path": "/usr/bin/amd-container-runtime"}, "runc"),
    ],
)
def test_the_default_runtime_is_used_unless_it_is_a_wrapper(program: dict[str, object], chosen: str) -> None:
    """The wrappers of GPU vendors would add the devices that an image asks for."""
    info = {"DefaultRuntime": "default", "Runtimes": {"runc": {"path": "runc"}, "default": program}}
    assert choose_runtime(info, None) == chosen
    assert choose_runtime(info, "default") == "default"


def test_the_chosen_runtime_runs_the_bot(gvisor_stage: DockerStage) -> None:
    """Under gVisor, the bot sees gVisor's kernel. The description names gVisor."""
    assert gvisor_stage.runtime.describe == "docker/runsc"
    _, said = run(gvisor_stage, "import os, sys; sys.stderr.write(os.uname().release)")
    assert said != os.uname().release


def test_only_ids_are_run(docker_stage: DockerStage) -> None:
    """An image's name is refused, since it could be moved to another image."""
    with pytest.raises(RuntimeFailure, match="is not an image id"):
        docker_stage.runtime.check_source("kaiten/bot-base-python:latest")


def test_a_volume_is_refused(docker_stage: DockerStage) -> None:
    """An image with a VOLUME, which a bot could fill, is refused with a message for its owner."""
    with pytest.raises(LaunchRefused, match="VOLUME"):
        docker_stage.runtime.check_source(docker_stage.image('VOLUME /data\nENTRYPOINT ["true"]'))


@pytest.mark.parametrize("place", ["/tmp", "/run/arena-init"])  # noqa: S108 - the image's
def test_a_file_where_a_folder_must_be_is_the_bots_fault(docker_stage: DockerStage, place: str) -> None:
    """An image on which the template can't be mounted is refused, and nothing is left behind."""
    image = docker_stage.image(f'USER 0\nRUN rm -rf {place} && touch {place}\nENTRYPOINT ["true"]')
    with (
        listening() as (folder, _),
        pytest.raises(LaunchRefused, match="has a file where a folder") as caught,
    ):
        docker_stage.runtime.launch(spec_for(docker_stage, image, folder))
    assert "/var/lib" not in str(caught.value)
    assert docker_stage.leftovers() == []


def test_a_missing_socket_folder_is_the_arenas_fault(docker_stage: DockerStage, tmp_path: Path) -> None:
    """If its socket folder is missing, the bot is neither started nor blamed."""
    spec = spec_for(docker_stage, docker_stage.source("pass"), tmp_path / "none")
    with pytest.raises(RuntimeFailure, match="is not a folder"):
        docker_stage.runtime.launch(spec)


def test_a_name_in_use_leaves_the_other_alone(docker_stage: DockerStage) -> None:
    """A second container with the same name fails, and the first one keeps running."""
    with listening() as (folder, server):
        spec = spec_for(docker_stage, docker_stage.source(LISTEN), folder)
        sandbox = docker_stage.runtime.launch(spec)
        try:
            with pytest.raises(RuntimeFailure, match="already in use"):
                docker_stage.runtime.launch(spec)
            channel, _ = server.accept()
            channel.close()
            assert sandbox.wait().code == 0
        finally:
            sandbox.remove()


def test_sweep_finds_containers_in_any_state(docker_stage: DockerStage) -> None:
    """Sweep removes the installation's created, running and exited containers, and no others."""
    install = f"test-{uuid.uuid4().hex[:12]}"
    api = docker_stage.client.api
    image = docker_stage.source(FOREVER)
    ids = [api.create_container(image, labels={INSTALL_LABEL: install})["Id"] for _ in range(3)]
    other = api.create_container(image, labels={INSTALL_LABEL: f"{install}-other"})["Id"]
    try:
        api.start(ids[1])
        api.start(ids[2])
        api.kill(ids[2])
        assert docker_stage.runtime.sweep(install) == 3
        assert api.containers(all=True, filters={"label": f"{INSTALL_LABEL}={install}"}) == []
        assert api.inspect_container(other)["State"]["Status"] == "created"
    finally:
        api.remove_container(other)


def test_sweep_kills_processes_that_the_engine_has_forgotten(docker_stage: DockerStage) -> None:
    """Sweep kills processes in the control group of a removed container, but not of an existing one."""
    install = uuid.uuid4().hex[:8]
    runtime = DockerRuntime(connect(), install=install)
    parent = runtime.host.cgroup_parent.strip("/")
    forgotten = uuid.uuid4().hex * 2
    with listening() as (folder, _):
        sandbox = runtime.launch(spec_for(docker_stage, docker_stage.source(FOREVER), folder))
        tops = [
            top
            for pattern in (parent, f"*/{parent}")
            for top in Path("/sys/fs/cgroup").glob(pattern)
            if top.is_dir()
        ]
        left = subprocess.Popen([sys.executable, "-c", FOREVER])  # noqa: S603 - our own
        try:
            for top in tops:
                (top / forgotten).mkdir(exist_ok=True)  # with cgroup v1 some may be links to others
            # A new cpuset group has no cores, so no process can be in it.
            group = next(top / forgotten for top in tops if "cpuset" not in str(top))
            (group / "cgroup.procs").write_text(str(left.pid))
            assert runtime.sweep(install, lambda _: True) == 1
            assert left.wait(WAIT_SECONDS) == -signal.SIGKILL
            if group.exists():  # on a busy host the process may have ended only after the sweep
                runtime.sweep(install, lambda _: True)
            assert not any((top / forgotten).exists() for top in tops)
            assert len(docker_stage.leftovers()) == 1
        finally:
            left.kill()
            left.wait()
            sandbox.remove()
            runtime.common_group(LAUNCH_LIMITS, 1).remove()
            runtime.close()


def test_a_long_wait_goes_on(docker_stage: DockerStage, monkeypatch: pytest.MonkeyPatch) -> None:
    """``wait`` continues if the bot runs for longer than one call to the engine may take."""
    monkeypatch.setattr(docker_sandbox, "_WAIT_SECONDS", 0.3)
    with listening() as (folder, server), futures.ThreadPoolExecutor(1) as pool:
        sandbox = docker_stage.runtime.launch(spec_for(docker_stage, docker_stage.source(LISTEN), folder))
        waiting = pool.submit(sandbox.wait)
        channel, _ = server.accept()
        with channel, pytest.raises(TimeoutError):
            waiting.result(timeout=1)
        assert waiting.result(timeout=WAIT_SECONDS).code == 0
        sandbox.remove()


def test_a_hung_engine_raises_an_error(
    docker_stage: DockerStage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wait fails if the engine accepts requests but no longer responds."""
    monkeypatch.setattr(docker_sandbox, "_WAIT_SECONDS", 0.3)
    door = tmp_path / "engine.sock"
    door.symlink_to("/var/run/docker.sock")
    client = docker.APIClient(base_url=f"unix://{door}", version="auto")
    runtime = DockerRuntime(client)
    with listening() as (folder, _), listening() as (hung, _):
        sandbox = runtime.launch(spec_for(docker_stage, docker_stage.source(FOREVER), folder))
        door.unlink()
        door.symlink_to(hung / SOCKET_NAME)
        patience, client.timeout = client.timeout, 1  # only for calls that get no answer
        with pytest.raises(RuntimeFailure, match="is not responding"):
            sandbox.wait()
        door.unlink()
        door.symlink_to("/var/run/docker.sock")
        client.timeout = patience
        sandbox.remove()
    runtime.close()


@DIAL_FAILURES_LEAK
def test_the_error_without_an_engine_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """If no engine responds, the error has the address and a remedy."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    with pytest.raises(RuntimeFailure, match=r"none\.sock.*DOCKER_HOST"):
        connect()
    gc.collect()  # collected here, where its warnings are expected


def test_incomplete_settings_of_the_engine_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """TLS without certificates is reported as a wrong setting."""
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    monkeypatch.setenv("DOCKER_CERT_PATH", "/nowhere")
    with pytest.raises(RuntimeFailure, match="certificate"):
        connect()


@DIAL_FAILURES_LEAK
def test_an_engine_that_disappears_raises_an_error(docker_stage: DockerStage, tmp_path: Path) -> None:
    """If the engine disappears, all calls raise RuntimeFailure."""
    door = tmp_path / "engine.sock"
    door.symlink_to("/var/run/docker.sock")
    client = docker.APIClient(base_url=f"unix://{door}", version="auto")
    runtime = DockerRuntime(client)
    source = docker_stage.source("pass")
    runtime.check_source(source)
    door.unlink()
    with listening() as (folder, _), pytest.raises(RuntimeFailure, match="is not responding"):
        runtime.launch(spec_for(docker_stage, source, folder))
    with pytest.raises(RuntimeFailure, match="is not responding"):
        runtime.sweep("any")
    runtime.close()
    gc.collect()  # collected here, where its warnings are expected


@pytest.mark.parametrize("ends", [True, False])
def test_a_removal_already_in_progress_is_awaited(
    docker_stage: DockerStage, monkeypatch: pytest.MonkeyPatch, *, ends: bool
) -> None:
    """A container counts as removed only once it is gone."""
    monkeypatch.setattr(docker_sandbox, "_REMOVAL_SECONDS", WAIT_SECONDS if ends else 0.2)
    client = docker_stage.client.api
    container = client.create_container(docker_stage.source("pass"))["Id"]

    def conflict(*_: object, **__: object) -> None:
        response = Response()
        response.status_code = 409
        raise APIError("409", response, f"removal of container {container} is already in progress")

    with monkeypatch.context() as patch, futures.ThreadPoolExecutor(1) as pool:
        patch.setattr(client, "remove_container", conflict)
        waiting = pool.submit(docker_sandbox.remove_container, client, container, "bot")
        if not ends:
            with pytest.raises(RuntimeFailure, match="bot is still being removed"):
                waiting.result()
        patch.undo()
        assert not ends or not waiting.done()
        client.remove_container(container)
        if ends:
            waiting.result()


@DIAL_FAILURES_LEAK
@pytest.mark.usefixtures("root")
def test_no_bot_is_blamed_for_an_engine_restart(base_image: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has forgotten that it ended the container. If systemd keeps its socket, no request fails."""
    with engine_alone() as engine:
        engine.take_images(base_image)
        monkeypatch.setenv("DOCKER_HOST", engine.address)
        with (
            closing(docker.DockerClient(base_url=engine.address)) as client,
            closing(DockerStage(client, base_image)) as stage,
            launched(stage, stage.source(FOREVER)) as (sandbox, _),
        ):
            sandbox.check_untouched()
            engine.stop(killed=False)
            engine.start()
            with pytest.raises(EngineUnavailable, match="the engine has restarted"):
                sandbox.check_untouched()
    gc.collect()  # collected here, where its warnings are expected
