"""The image of the database, for docker-compose.yml: PostgreSQL from a registry or from Debian packages."""

import shutil
import tempfile
from pathlib import Path
from typing import Final

import docker
from docker.errors import DockerException
from requests.exceptions import RequestException

import arena
from arena.images.build import Say, build, ignore
from arena.images.debian import Root
from arena.images.errors import ImageTrouble
from arena.images.parent import Parents, ensure_parent

DATABASE_IMAGE: Final = "localhost/kaiten/postgresql:15"
"""Under localhost, so that no registry is ever asked for it."""

_OFFICIAL: Final = "postgres:15-bookworm"
_RECIPE: Final = "deploy/postgresql"

_PARENTS: Final = Parents(
    official=_OFFICIAL,
    root=Root(
        name="postgresql",
        packages=("postgresql-15", "tzdata"),
        # The compiler of queries, the largest part by far: it is worth nothing for queries this short.
        left_out=("/usr/lib/*/libLLVM*", "/usr/lib/postgresql/15/lib/bitcode/*", "/usr/share/perl/*"),
        official=_OFFICIAL,
    ),
    official_arguments={},
    root_arguments={},
)


def build_database_image(client: docker.DockerClient, say: Say = ignore) -> str:
    """Build DATABASE_IMAGE from this checkout.

    Args:
        client: of the engine that is to have it.
        say: is told each stage, in a few words.

    Returns:
        The image's id.

    Raises:
        ImageTrouble: it could not be made.
    """
    recipe = Path(arena.__file__).parent.parent / _RECIPE
    if not recipe.is_dir():
        raise ImageTrouble(f"{DATABASE_IMAGE} is made from a checkout, and there is no {recipe}")
    try:
        stand = ensure_parent(client, _PARENTS, say)
    except (DockerException, RequestException) as error:
        raise ImageTrouble(f"The Docker engine could not make {DATABASE_IMAGE}: {error}") from error
    with tempfile.TemporaryDirectory(prefix="kaiten-database-") as name:
        context = Path(name, "context")
        shutil.copytree(recipe, context)
        say(f"Building {DATABASE_IMAGE}")
        return build(client, context, tag=DATABASE_IMAGE, labels={}, arguments={"PARENT": stand.image})
