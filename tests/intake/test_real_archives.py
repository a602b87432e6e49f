"""What a real engine saves is taken, and it loads what comes of it under the very id that was computed."""

import gzip
import io
import shutil
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from arena.intake.image import BotImage, Platform
from tests.intake.archives import docker_archive
from tests.intake.reading import read
from tests.intake.tars import file, folder, tar

pytestmark = pytest.mark.docker

DOCKERFILE = """
FROM {base}
USER 0:0
COPY program.py /x/program.py
COPY program.py /x/program.py
RUN ["python", "-c", "import os; os.link('/x/program.py', '/x/again.py'); os.remove('/usr/bin/dpkg') if os.path.exists('/usr/bin/dpkg') else None; os.chmod('/x/again.py', 0o6755)"]
LABEL kaiten.match=forged
EXPOSE 22
STOPSIGNAL SIGTERM
HEALTHCHECK CMD true
WORKDIR /x
ENTRYPOINT ["python", "again.py"]
CMD ["word"]
"""
PROGRAM = b"import os, sys\nprint(os.getcwd(), sys.argv[1:], oct(os.stat('again.py').st_mode), os.getuid())\n"


@pytest.fixture(scope="module")
def saved(
    docker_client: docker.DockerClient, base_image: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """Give what `docker save` writes of an image of several layers, two of them equal."""
    context = tar(
        file(b"Dockerfile", DOCKERFILE.format(base=base_image).encode()), file(b"program.py", PROGRAM)
    )
    image, _ = docker_client.images.build(
        fileobj=io.BytesIO(context), custom_context=True, rm=True, network_mode="none"
    )
    archive = tmp_path_factory.mktemp("saved") / "bot.tar"
    with archive.open("wb") as sink:
        for chunk in image.save():
            sink.write(chunk)
    yield archive
    docker_client.images.remove(image.id, force=True)


@pytest.fixture(scope="module")
def platform(docker_client: docker.DockerClient) -> Platform:
    """Give the engine's own platform."""
    version = docker_client.version()
    return Platform(version["Os"], version["Arch"])


@pytest.fixture(scope="module")
def loaded(
    docker_client: docker.DockerClient,
    saved: Path,
    platform: Platform,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[BotImage]:
    """Give a repacked image that the engine has loaded."""
    output = tmp_path_factory.mktemp("repacked") / "layers"
    image = read(saved, output, platform)
    found = docker_client.images.load(docker_archive(image, output))
    assert [str(each.id) for each in found] == [image.id]
    yield image
    docker_client.images.remove(image.id, force=True)


def test_the_engine_gives_it_the_same_id(docker_client: docker.DockerClient, loaded: BotImage) -> None:
    """The id of an image is computed without an engine, and is what the engine computes."""
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
        ["python", "again.py"],
        ["word"],
        "/x",
    )


def test_two_layers_that_are_equal_stay_two(loaded: BotImage) -> None:
    """The engine saved the second of them as a link."""
    digests = [layer.digest for layer in loaded.layers]
    assert len(digests) - len(set(digests)) == 1


def test_it_runs(docker_client: docker.DockerClient, loaded: BotImage) -> None:
    """A container of it starts the bot, where it wants to be, and without rights of its owner's."""
    container = docker_client.containers.create(
        loaded.id, network_disabled=True, user="64999:64999", read_only=True
    )
    try:
        container.start()
        assert container.wait(timeout=60)["StatusCode"] == 0
        assert container.logs().decode().split("\n")[0] == "/x ['word'] 0o100755 64999"
    finally:
        container.remove(force=True)


def test_gzip_around_it_changes_nothing(
    saved: Path, loaded: BotImage, platform: Platform, tmp_path: Path
) -> None:
    """`docker save | gzip` is the same image."""
    archive = tmp_path / "bot.tar.gz"
    with saved.open("rb") as source, gzip.open(archive, "wb", compresslevel=1) as sink:
        shutil.copyfileobj(source, sink)
    assert read(archive, tmp_path / "output", platform) == loaded


def test_the_base_image_itself(
    docker_client: docker.DockerClient, base_image: str, platform: Platform, tmp_path: Path
) -> None:
    """An image from Debian's packages, with all of its devices, links and marks, is taken but for a command."""
    context = tar(folder(b"."), file(b"Dockerfile", f'FROM {base_image}\nCMD ["python", "-V"]\n'.encode()))
    image, _ = docker_client.images.build(
        fileobj=io.BytesIO(context), custom_context=True, rm=True, network_mode="none"
    )
    archive = tmp_path / "bot.tar"
    with archive.open("wb") as sink:
        for chunk in image.save():
            sink.write(chunk)
    docker_client.images.remove(image.id, force=True)
    assert read(archive, tmp_path / "output", platform).command.cmd == ("python", "-V")
