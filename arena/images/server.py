"""The image of the arena itself, for docker-compose.yml: made from a checkout."""

import shutil
import tempfile
from pathlib import Path

import docker
from docker.errors import DockerException
from requests.exceptions import RequestException

import arena
from arena.images import python
from arena.images.build import Say, build, ignore
from arena.images.errors import ImageTrouble
from arena.images.parent import ensure_parent
from arena.images.wheels import PINS, fetch_wheels

SERVER_IMAGE = "localhost/kaiten/server:latest"
"""Under localhost, so that no registry is ever asked for it."""

_FOLDERS = ("arena", "bots", "docs", "proto", "web")
_CACHES = ("__pycache__", "node_modules")
_MARK = "pyproject.toml"  # of a source tree, which is where the sample bots are looked for
_RECIPE = "deploy/Dockerfile"
_CLUSTER_PINS = "requirements-cluster.lock"  # with what a cluster needs


def build_server_image(client: docker.DockerClient, say: Say = ignore) -> str:
    """Build SERVER_IMAGE from this checkout, on what the bots' base image stands on too.

    The engine's layer cache makes it quick, and the id the same, when nothing has changed.

    Args:
        client: of the engine that is to have it.
        say: is told each stage, in a few words.

    Returns:
        The image's id.

    Raises:
        ImageTrouble: it could not be made.
    """
    checkout = Path(arena.__file__).parent.parent
    if not (checkout / _RECIPE).is_file():
        raise ImageTrouble(f"{SERVER_IMAGE} is made from a checkout, and {checkout} has no {_RECIPE}")
    try:
        stand = ensure_parent(client, python.PARENTS, say)
        machine = str(client.info()["Architecture"])
    except (DockerException, RequestException) as error:
        raise ImageTrouble(f"The Docker engine could not make {SERVER_IMAGE}: {error}") from error
    with tempfile.TemporaryDirectory(prefix="kaiten-server-") as name:
        context = Path(name)
        shutil.copy(checkout / _RECIPE, context)
        say("Fetching the packages of the arena and of the bots' base image")
        wheels = context / "wheels"
        fetch_wheels(checkout, machine, wheels, pins=_CLUSTER_PINS, tools=checkout / PINS)
        project = context / "project"
        for folder in _FOLDERS:
            shutil.copytree(checkout / folder, project / folder, ignore=shutil.ignore_patterns(*_CACHES))
        shutil.copy(checkout / _MARK, project)
        recipe = python.recipe()
        inside = project / "bots" / recipe.folder.name
        recipe.fetch(inside, machine, inside / recipe.packed)
        say(f"Building {SERVER_IMAGE}")
        return build(client, context, tag=SERVER_IMAGE, labels={}, arguments={"PARENT": stand.image})
