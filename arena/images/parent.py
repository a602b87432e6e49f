"""What the base image stands on: Python 3.11 from an image registry, or from Debian's packages.

The registry is the short way where one answers. Where none does (no access, a closed network), Debian's
packages make the same: Python, a shell and the C libraries that wheels expect.
"""

from dataclasses import dataclass

import docker
from docker.errors import DockerException, ImageNotFound
from requests.exceptions import RequestException

from arena.images import debian
from arena.images.build import Say

OFFICIAL = "python:3.11-slim-bookworm"

_REGISTRY_SECONDS = 8  # what a registry has to answer in; the engine itself would wait for a minute


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """An image with Python 3.11.

    Attributes:
        image: its name.
        site: the folder its Python imports added packages from.
    """

    image: str
    site: str


_FROM_REGISTRY = Parent(image=OFFICIAL, site="/usr/local/lib/python3.11/site-packages")
_FROM_DEBIAN = Parent(image=debian.IMAGE, site="/usr/local/lib/python3.11/dist-packages")


def ensure_parent(client: docker.DockerClient, say: Say) -> Parent:
    """Give what the engine already has, else what a registry has, else make it from Debian's packages.

    Raises:
        ImageTrouble: neither way worked.
    """
    if debian.is_present(client):
        return _FROM_DEBIAN
    if _is_present(client, OFFICIAL) or _pull(say):
        return _FROM_REGISTRY
    debian.bootstrap(client, say)
    return _FROM_DEBIAN


def _is_present(client: docker.DockerClient, name: str) -> bool:
    try:
        client.images.get(name)
    except ImageNotFound:
        return False
    return True


def _pull(say: Say) -> bool:
    """Pull the official image; False where no registry answers in time."""
    say(f"Asking the image registry for {OFFICIAL}")
    try:
        client = docker.from_env(timeout=_REGISTRY_SECONDS)
    except DockerException:
        return False
    try:
        client.images.get_registry_data(OFFICIAL)
        say(f"Pulling {OFFICIAL}")
        client.images.pull(OFFICIAL)
    except (DockerException, RequestException) as error:
        say(f"No image registry answers ({_first_line(error)})")
        return False
    finally:
        client.close()
    return True


def _first_line(error: Exception) -> str:
    text = getattr(error, "explanation", None) or str(error)
    return str(text).strip().splitlines()[0][:160] if str(text).strip() else type(error).__name__
