"""Images saved by a real engine are accepted, and the engine loads the result under the computed ID."""

import io
import uuid
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from arena.images.image import BotImage, Platform
from tests.images.archives import docker_archive, members, read
from tests.images.tars import tar
from tests.patience import WAIT_SECONDS

# tests/scheduler/cluster/test_images.py also reads what the engine saves, and loads it under its computed ID.
pytestmark = [pytest.mark.docker, pytest.mark.soak]

STEPS = """
USER 0:0
WORKDIR /x
COPY program.py /
COPY program.py /
COPY program.py /x/
COPY change.py /x/
RUN ["python3", "change.py"]
LABEL kaiten.match=forged
EXPOSE 22
STOPSIGNAL SIGTERM
HEALTHCHECK CMD true
ENTRYPOINT ["python3", "again.py"]
CMD ["word"]
"""
CHANGE = b'import os; os.link("program.py", "again.py"); os.chmod("again.py", 0o6755); os.remove("change.py")'
PROGRAM = b"import os, sys\nprint(os.getcwd(), sys.argv[1:], oct(os.stat('again.py').st_mode), os.getuid())\n"


def _save(client: docker.DockerClient, base: str, steps: str, archive: Path) -> None:
    """Build an image, write its ``docker save`` archive, and remove the image.

    The image is unique, since tests that run in parallel share an engine.
    """
    dockerfile = f"FROM {base}\nENV ONLY={uuid.uuid4()}\n{steps}".encode()
    context = tar(*members({"Dockerfile": dockerfile, "program.py": PROGRAM, "change.py": CHANGE}))
    image, _ = client.images.build(
        fileobj=io.BytesIO(context), custom_context=True, rm=True, nocache=True, network_mode="none"
    )
    with archive.open("wb") as sink:
        for chunk in image.save():
            sink.write(chunk)
    client.images.remove(str(image.id), force=True)


@pytest.fixture(scope="module")
def saved(
    docker_client: docker.DockerClient, base_image: str, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return the ``docker save`` archive of an image with several layers, two of them equal.

    The equal layers contain no folder, because a folder has the time of the build, which may differ by a
    second between them.
    """
    archive = tmp_path_factory.mktemp("saved") / "bot.tar"
    _save(docker_client, base_image, STEPS, archive)
    return archive


@pytest.fixture(scope="module")
def platform(docker_client: docker.DockerClient) -> Platform:
    """Return the engine's own platform."""
    version = docker_client.version()
    return Platform(version["Os"], version["Arch"])


@pytest.fixture(scope="module")
def loaded(
    docker_client: docker.DockerClient,
    saved: Path,
    platform: Platform,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[BotImage]:
    """Yield a repacked image that the engine has loaded."""
    output = tmp_path_factory.mktemp("repacked") / "layers"
    image = read(saved, output, platform)
    found = docker_client.images.load(docker_archive(image, output))
    assert [str(each.id) for each in found] == [image.id]
    yield image
    docker_client.images.remove(image.id, force=True)


def test_the_engine_gives_it_the_same_id(docker_client: docker.DockerClient, loaded: BotImage) -> None:
    """The engine computes the same ID as the arena, which computes it without an engine."""
    found = docker_client.images.get(loaded.id)
    assert found.attrs["RootFS"]["Layers"] == [layer.digest for layer in loaded.layers]
    assert found.tags == []
    config = found.attrs["Config"]
    assert (config["User"], config["Labels"], config.get("Healthcheck"), config["Volumes"]) == (
        "",
        None,
        None,
        None,
    )
    assert (config["Entrypoint"], config["Cmd"], config["WorkingDir"]) == (
        ["python3", "again.py"],
        ["word"],
        "/x",
    )


def test_two_layers_that_are_equal_stay_two(loaded: BotImage) -> None:
    """The engine saved the second one as a link."""
    digests = [layer.digest for layer in loaded.layers]
    assert len(digests) - len(set(digests)) == 1


def test_the_image_runs(docker_client: docker.DockerClient, loaded: BotImage) -> None:
    """A container starts the bot in its working directory, without the setuid bit."""
    container = docker_client.containers.create(
        loaded.id, network_disabled=True, user="64999:64999", read_only=True
    )
    try:
        container.start()
        assert container.wait(timeout=WAIT_SECONDS)["StatusCode"] == 0
        assert container.logs().decode().split("\n")[0] == "/x ['word'] 0o100755 64999"
    finally:
        container.remove(force=True)
