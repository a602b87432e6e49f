"""Fixtures that run programs in each runtime."""

from collections.abc import Iterator

import docker
import pytest

from tests.sandbox.stage import DockerStage, ProcessStage, Stage


@pytest.fixture(scope="session")
def docker_stage(docker_client: docker.DockerClient, base_image: str) -> Iterator[DockerStage]:
    """Return a stage that runs programs in containers."""
    stage = DockerStage(docker_client, base_image)
    yield stage
    stage.close()


@pytest.fixture(scope="session")
def gvisor_stage(docker_client: docker.DockerClient, base_image: str) -> Iterator[DockerStage]:
    """Return a stage that runs programs under gVisor; skip the test if the engine has no gVisor."""
    runtimes = docker_client.info()["Runtimes"]
    if "runsc" not in runtimes:
        pytest.skip("the engine has no runtime runsc (scripts/gvisor registers it)")
    stage = DockerStage(docker_client, base_image, "runsc")
    yield stage
    stage.close()


@pytest.fixture(params=["docker", "gvisor"])
def container_stage(request: pytest.FixtureRequest) -> DockerStage:
    """Return a stage with the engine's default runtime, then one with gVisor."""
    chosen: DockerStage = request.getfixturevalue(f"{request.param}_stage")
    return chosen


@pytest.fixture(scope="session")
def process_stage() -> Iterator[ProcessStage]:
    """Return a stage that runs programs as plain processes."""
    stage = ProcessStage()
    yield stage
    stage.close()


@pytest.fixture(params=[pytest.param("docker", marks=pytest.mark.docker), "process"])
def stage(request: pytest.FixtureRequest) -> Stage:
    """Return a stage for each runtime in turn."""
    chosen: Stage = request.getfixturevalue(f"{request.param}_stage")
    return chosen
