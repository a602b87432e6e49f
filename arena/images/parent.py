"""What a base image stands on: an interpreter from an image registry, or from Debian's packages.

The registry is the short way where one answers. Where none does (no access, a closed network), Debian's
packages make the same: the interpreter, a shell and the C libraries that compiled packages expect.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import docker
from docker.errors import DockerException, ImageNotFound
from requests.exceptions import RequestException

from arena.images import debian
from arena.images.build import Say

_REGISTRY_SECONDS = 8  # what a registry has to answer in; the engine itself would wait for a minute


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """An image with an interpreter.

    Attributes:
        image: its name.
        arguments: what a build on it has to be told about it.
    """

    image: str
    arguments: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parents:
    """The two images that will do for one language.

    Attributes:
        official: of a registry.
        root: from Debian's packages.
        official_arguments: what a build on the first has to be told.
        root_arguments: what a build on the second has to be told.
    """

    official: str
    root: debian.Root
    official_arguments: Mapping[str, str]
    root_arguments: Mapping[str, str]


def ensure_parent(client: docker.DockerClient, parents: Parents, say: Say) -> Parent:
    """Give what the engine already has, else what a registry has, else make it from Debian's packages.

    Raises:
        ImageTrouble: neither way worked.
    """
    from_debian = Parent(image=parents.root.image, arguments=parents.root_arguments)
    if debian.is_present(client, parents.root):
        return from_debian
    if _is_present(client, parents.official) or _pull(parents.official, say):
        return Parent(image=parents.official, arguments=parents.official_arguments)
    debian.bootstrap(client, parents.root, say)
    return from_debian


def _is_present(client: docker.DockerClient, name: str) -> bool:
    try:
        client.images.get(name)
    except ImageNotFound:
        return False
    return True


def _pull(name: str, say: Say) -> bool:
    """Pull an image; False where no registry answers in time."""
    say(f"Asking the image registry for {name}")
    try:
        client = docker.from_env(timeout=_REGISTRY_SECONDS)
    except DockerException:
        return False
    try:
        client.images.get_registry_data(name)
        say(f"Pulling {name}")
        client.images.pull(name)
    except (DockerException, RequestException) as error:
        say(f"No image registry answers ({_first_line(error)})")
        return False
    finally:
        client.close()
    return True


def _first_line(error: Exception) -> str:
    text = getattr(error, "explanation", None) or str(error)
    return str(text).strip().splitlines()[0][:160] if str(text).strip() else type(error).__name__
