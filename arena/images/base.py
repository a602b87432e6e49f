"""The base image of bots in Python: Python 3.11, grpcio, protobuf and the SDK; nothing of the server."""

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import docker
from docker.errors import DockerException, ImageNotFound
from requests.exceptions import RequestException

import arena
from arena.botfiles import samples
from arena.images import debian, parent
from arena.images.build import Say, build, ignore
from arena.images.errors import ImageTrouble
from arena.images.wheels import fetch_wheels

BASE_IMAGE = "kaiten/bot-base-python:latest"

_LABEL = "kaiten.recipe"
_PACKAGES = ("rules", "wire", "sdk")  # of arena, with its own __init__.py
PINS = "requirements.lock"
READY_WHEELS = "wheels"
"""In a recipe's folder: the packages, fetched already, as the server's image has them."""


def ensure_base_image(client: docker.DockerClient, recipe: Path | None = None, say: Say = ignore) -> str:
    """Make BASE_IMAGE unless the engine has it from these very sources.

    Args:
        client: of the engine that is to have it.
        recipe: the folder with its Dockerfile and pins; `base` beside the sample bots when not given.
        say: is told each stage that takes time, in a few words; nothing when the image is up to date.

    Returns:
        The image's id.

    Raises:
        ImageTrouble: it could not be made.
    """
    recipe = recipe or samples() / "base-python"
    wanted = _fingerprint(recipe)
    try:
        return _find(client, wanted) or _make(client, recipe, wanted, say)
    except (DockerException, RequestException) as error:
        raise ImageTrouble(f"The Docker engine could not make {BASE_IMAGE}: {error}") from error


def _find(client: docker.DockerClient, wanted: str) -> str | None:
    try:
        image = client.images.get(BASE_IMAGE)
    except ImageNotFound:
        return None
    return str(image.id) if image.labels.get(_LABEL) == wanted else None


def _make(client: docker.DockerClient, recipe: Path, wanted: str, say: Say) -> str:
    stand = parent.ensure_parent(client, say)
    with tempfile.TemporaryDirectory(prefix="kaiten-base-") as name:
        context = Path(name)
        shutil.copy(recipe / "Dockerfile", context)
        ready = recipe / READY_WHEELS
        if ready.is_dir():
            shutil.copytree(ready, context / "wheels")
        else:
            say("Fetching grpcio and protobuf for the bots' base image")
            fetch_wheels(recipe / PINS, str(client.info()["Architecture"]), context / "wheels")
        for path, inside in _sources():
            target = context / "arena" / inside
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        say(f"Building {BASE_IMAGE}")
        return build(
            client,
            context,
            tag=BASE_IMAGE,
            labels={_LABEL: wanted},
            arguments={"PARENT": stand.image, "SITE": stand.site},
        )


def _sources() -> Iterator[tuple[Path, str]]:
    """Give the files of arena that go into the image, each with its path below `arena/`."""
    root = Path(arena.__file__).parent
    yield root / "__init__.py", "__init__.py"
    for package in _PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            yield path, path.relative_to(root).as_posix()


def _fingerprint(recipe: Path) -> str:
    """Hash all that the image is made of: files by name and content, and what it stands on."""
    digest = hashlib.sha256(f"{debian.RECIPE} {parent.OFFICIAL}".encode())
    own = [(recipe / name, f"recipe/{name}") for name in ("Dockerfile", PINS)]
    for path, inside in (*own, *_sources()):
        try:
            content = path.read_bytes()
        except OSError as error:
            raise ImageTrouble(f"The recipe of {BASE_IMAGE} is incomplete: {error}") from error
        digest.update(f"\0{inside}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()
