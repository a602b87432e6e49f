"""Tests of the bots' base image: its content, and when it is built again."""

import shutil
import uuid
from dataclasses import replace
from pathlib import Path

import docker
import pytest

from arena.images.build.base import ensure_base_image
from arena.images.build.context import build_bot_image
from arena.languages.javascript import JAVASCRIPT
from arena.languages.language import Language
from arena.languages.python import PYTHON
from arena.sandbox.builder import ImageBuilder
from arena.sandbox.runtime import RuntimeFailure
from tests.locks import host_lock

pytestmark = pytest.mark.docker


def run(client: docker.DockerClient, image: str, code: str) -> str:
    """Run Python with a bot's restrictions, and return its output."""
    output = client.containers.run(
        image,
        ["python3", "-c", code],
        network_mode="none",
        read_only=True,
        user="64000:64000",
        cap_drop=["ALL"],
        remove=True,
    )
    return bytes(output).decode()


def test_the_base_image_holds_what_a_bot_imports(docker_client: docker.DockerClient, base_image: str) -> None:
    """A bot's user can import the SDK, gRPC and the compiled protobuf on a read-only root."""
    code = (
        "import arena.sdk, grpc; from google.protobuf.internal.api_implementation import Type; print(Type())"
    )
    assert run(docker_client, base_image, code) == "upb\n"


def test_the_base_image_holds_nothing_of_the_server(
    docker_client: docker.DockerClient, base_image: str
) -> None:
    """The base image lacks the modules that only the arena's own processes need."""
    code = """
import importlib
for name in ("arena.db", "arena.play.referee", "arena.images.build", "fastapi", "docker", "pip", "arena.sdk"):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        continue
    print(name)
"""
    assert run(docker_client, base_image, code) == "arena.sdk\n"


def test_what_the_sdk_imports_is_compiled(docker_client: docker.DockerClient, base_image: str) -> None:
    """No module that the SDK imports has to be compiled at each start."""
    code = (
        "import arena.sdk, importlib.util as u, os, sys; "
        "files = [m.__spec__.origin for m in list(sys.modules.values()) if getattr(m, '__spec__', None)]; "
        "print([f for f in files if f and f.endswith('.py')"
        " and not os.path.exists(u.cache_from_source(f))])"
    )
    assert run(docker_client, base_image, code) == "[]\n"


def test_the_base_image_runs_as_nobody(docker_client: docker.DockerClient, base_image: str) -> None:
    """A bot isn't root even if no user is set."""
    output = docker_client.containers.run(
        base_image, ["python3", "-c", "import os; print(os.getuid())"], network_mode="none", remove=True
    )
    assert bytes(output) == b"65534\n"


@pytest.mark.parametrize(
    ("language", "fixture"),
    [(PYTHON, "base_image"), (JAVASCRIPT, "javascript_image")],
    ids=(PYTHON.name, JAVASCRIPT.name),
)
def test_an_image_of_the_same_sources_is_kept(
    docker_client: docker.DockerClient,
    image_builder: ImageBuilder,
    request: pytest.FixtureRequest,
    language: Language,
    fixture: str,
) -> None:
    """A second build of the same sources prints and builds nothing, and returns the same id."""
    request.getfixturevalue(fixture)
    # Tests of another checkout may have built an image of other sources since the fixture did.
    with host_lock(f"{language.name}-image"):
        image = ensure_base_image(image_builder, language)
        said: list[str] = []
        assert ensure_base_image(image_builder, language, said.append) == image
        assert said == []
        assert docker_client.images.get(language.base_image).id == image


def test_an_incomplete_recipe_is_named(image_builder: ImageBuilder, tmp_path: Path) -> None:
    """A recipe without its pins is refused before anything is built."""
    shutil.copy(PYTHON.recipe.folder / "Dockerfile", tmp_path)
    with pytest.raises(RuntimeFailure, match=r"requirements\.lock"):
        ensure_base_image(image_builder, replace(PYTHON, recipe=replace(PYTHON.recipe, folder=tmp_path)))


def write_bot(folder: Path, steps: str) -> Path:
    """Create a bot's folder."""
    folder.mkdir()
    (folder / "bot.py").write_text("print('here')\n")
    (folder / "Dockerfile").write_text(f"FROM kaiten/bot-base-python\nCOPY bot.py /bot/bot.py\n{steps}\n")
    return folder


@pytest.mark.usefixtures("base_image")
def test_a_bots_folder_becomes_an_image(
    docker_client: docker.DockerClient, image_builder: ImageBuilder, tmp_path: Path
) -> None:
    """The image runs the bot's file, whatever its permissions. Building it again returns the same id."""
    # A unique name, because other checkouts may be running this test.
    name = f"host-test-{uuid.uuid4().hex[:8]}"
    folder = write_bot(tmp_path / name, 'ENTRYPOINT ["python3", "/bot/bot.py"]')
    # Unique content: if another checkout's image were identical, removing it would also remove shared layers.
    (folder / "bot.py").write_text(f"print('here')  # {name}\n")
    (folder / "bot.py").chmod(0o600)
    # Other checkouts may also build the base image.
    with host_lock(f"{PYTHON.name}-image"):
        image = build_bot_image(image_builder, folder)
        again = build_bot_image(image_builder, folder)
    try:
        assert again == image
        said = docker_client.containers.run(image, network_mode="none", user="64000:64000", remove=True)
        assert bytes(said) == b"here\n"
    finally:
        docker_client.images.remove(f"kaiten/bot-{name}")


@pytest.mark.usefixtures("base_image")
def test_a_failing_build_shows_its_output(image_builder: ImageBuilder, tmp_path: Path) -> None:
    """The error for a failed build has the output of the failed step."""
    folder = write_bot(tmp_path / "host-test-bad", "RUN echo the reason is here; exit 7")
    with pytest.raises(RuntimeFailure, match="the reason is here") as trouble:
        build_bot_image(image_builder, folder)
    assert "7" in str(trouble.value)


@pytest.mark.usefixtures("base_image")
def test_a_build_reaches_no_network(image_builder: ImageBuilder, tmp_path: Path) -> None:
    """A build step has no network interface except loopback."""
    step = "RUN python3 -c 'import socket; print(\"cards\", socket.if_nameindex()); raise SystemExit(3)'"
    with pytest.raises(RuntimeFailure, match=r"cards \[\(1, 'lo'\)\]"):
        build_bot_image(image_builder, write_bot(tmp_path / "host-test-net", step))


def test_a_folder_without_a_dockerfile_is_refused(image_builder: ImageBuilder, tmp_path: Path) -> None:
    """The error for a folder without a Dockerfile names the missing file."""
    with pytest.raises(RuntimeFailure, match="no Dockerfile"):
        build_bot_image(image_builder, tmp_path)


@pytest.mark.parametrize(
    ("name", "why"), [("Bad Name", "lower-case"), ("base-python", "would replace the base image")]
)
def test_a_name_that_no_image_can_have_is_refused(
    image_builder: ImageBuilder, tmp_path: Path, name: str, why: str
) -> None:
    """A folder is refused if its name, which becomes part of the image's, isn't valid or is taken."""
    with pytest.raises(RuntimeFailure, match=why):
        build_bot_image(image_builder, write_bot(tmp_path / name, ""))
