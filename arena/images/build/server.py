"""The images for docker-compose.yml, built from a checkout: the arena itself, and its database."""

import shutil
import tempfile
from pathlib import Path
from typing import Final

import arena
from arena.images.build.base import PACKAGES, fetch_errors, fetch_packages
from arena.images.build.context import Say, build
from arena.images.build.parent import PARENT_LABEL, ensure_parent
from arena.languages.language import Parents
from arena.languages.packages import PINS, fetch_wheels
from arena.languages.python import PYTHON
from arena.sandbox.builder import ImageBuilder
from arena.sandbox.runtime import RuntimeFailure

SERVER_IMAGE: Final = "localhost/kaiten/server:latest"
DATABASE_IMAGE: Final = "localhost/kaiten/postgresql:15"
"""These names begin with localhost, so that no registry is ever queried for the images."""

_FOLDERS = ("arena", "bots", "docs", "proto", "web")
_CACHES = ("__pycache__", "node_modules")
_ROOT_MARKER = "pyproject.toml"  # marks a source tree, in which the arena looks for sample bots
_DOCKERFILE = "deploy/Dockerfile"
_CLUSTER_PINS = "requirements-cluster.lock"  # includes a cluster's dependencies


def build_server_image(builder: ImageBuilder, say: Say = lambda _: None) -> str:
    """Build SERVER_IMAGE from this checkout, on the parent of the Python base image, and return its id.

    The engine's layer cache makes repeated builds fast; the id stays the same if nothing has changed. Raises
    RuntimeFailure.
    """
    checkout = Path(arena.__file__).parent.parent
    if not (checkout / _DOCKERFILE).is_file():
        raise RuntimeFailure(
            f"{SERVER_IMAGE} is built from a checkout, but {checkout} has no {_DOCKERFILE}: "
            "run this in a checkout"
        )
    parent = ensure_parent(builder, PYTHON.recipe.parents, say)
    _, architecture = builder.platform()
    with tempfile.TemporaryDirectory(prefix="kaiten-server-") as name:
        context = Path(name)
        shutil.copy(checkout / _DOCKERFILE, context)
        say("Fetching the packages for the arena and for the bots' base image")
        wheels = context / "wheels"
        with fetch_errors():
            fetch_wheels(checkout, architecture, wheels, pins=_CLUSTER_PINS, tools=checkout / PINS)
        project = context / "project"
        for folder in _FOLDERS:
            shutil.copytree(checkout / folder, project / folder, ignore=shutil.ignore_patterns(*_CACHES))
        shutil.copy(checkout / _ROOT_MARKER, project)
        inside = project / PYTHON.recipe.folder.relative_to(checkout)
        fetch_packages(PYTHON.recipe, architecture, inside / PACKAGES)
        say(f"Building {SERVER_IMAGE}")
        labels = {PARENT_LABEL: parent.digest}
        arguments = {"PARENT": parent.image}
        return build(builder, context, tag=SERVER_IMAGE, labels=labels, arguments=arguments)


_DATABASE_FOLDER: Final = "deploy/postgresql"

_PARENTS: Final = Parents(
    name="postgresql",
    official="postgres:15-bookworm",
    packages=("postgresql-15", "tzdata"),
    # The query compiler (JIT) is by far the largest component, and doesn't help the arena's short queries.
    left_out=("/usr/lib/*/libLLVM*", "/usr/lib/postgresql/15/lib/bitcode/*", "/usr/share/perl/*"),
)


def build_database_image(builder: ImageBuilder, say: Say = lambda _: None) -> str:
    """Build DATABASE_IMAGE from this checkout and return its id; ``say`` reports each stage.

    Raises RuntimeFailure.
    """
    recipe = Path(arena.__file__).parent.parent / _DATABASE_FOLDER
    if not recipe.is_dir():
        raise RuntimeFailure(
            f"{DATABASE_IMAGE} is built from a checkout, but there is no {recipe}: run this in a checkout"
        )
    parent = ensure_parent(builder, _PARENTS, say)
    with tempfile.TemporaryDirectory(prefix="kaiten-database-") as name:
        context = Path(name, "context")
        shutil.copytree(recipe, context)
        say(f"Building {DATABASE_IMAGE}")
        labels = {PARENT_LABEL: parent.digest}
        arguments = {"PARENT": parent.image}
        return build(builder, context, tag=DATABASE_IMAGE, labels=labels, arguments=arguments)
