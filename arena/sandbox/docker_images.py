"""The images that bots are started from, as the engine has them."""

import re
from dataclasses import dataclass
from typing import Final

import docker

from arena.sandbox.docker_engine import engine_errors
from arena.sandbox.errors import LaunchRefused, RuntimeTrouble

_IMAGE_ID: Final = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineImage:
    """An image that can be run by the template.

    Attributes:
        id: By which the engine starts it.
        command: Its entry point with its arguments; at least one word.
    """

    id: str
    command: tuple[str, ...]


class DockerImages:
    """The images of one engine.

    Args:
        client: Of the engine.
    """

    def __init__(self, client: docker.APIClient) -> None:
        self._client = client

    def find(self, source: str) -> EngineImage:
        """Return the image with this id.

        Raises:
            LaunchRefused: It starts nothing, or wants volumes.
            RuntimeTrouble: It is not here, or ``source`` is a name that others could move.
        """
        if not _IMAGE_ID.fullmatch(source):
            raise RuntimeTrouble(f"{source!r} is not the id of an image; give sha256: and 64 digits")
        with engine_errors(f"inspect image {source}"):
            image = self._client.inspect_image(source)  # type: ignore[no-untyped-call] # so in its stubs
        config = image["Config"]
        command = (*(config.get("Entrypoint") or ()), *(config.get("Cmd") or ()))
        if not command:
            raise LaunchRefused("the image starts nothing: give its Dockerfile an ENTRYPOINT")
        if config.get("Volumes"):
            raise LaunchRefused("the image declares a VOLUME, but bots may write to /tmp alone: remove it")
        return EngineImage(id=image["Id"], command=command)
