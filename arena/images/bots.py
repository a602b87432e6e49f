"""The image of one bot, from a folder with a Dockerfile."""

import re
from pathlib import Path

import docker

from arena.images.build import Say, build, ignore
from arena.images.errors import ImageTrouble

_LABEL = "kaiten.bot"


def build_bot_image(client: docker.DockerClient, folder: Path, say: Say = ignore) -> str:
    """Build the image `kaiten/bot-<folder's name>:latest`.

    Nothing is pulled and the steps have no network. The engine's layer cache makes it quick, and the id the
    same, when nothing has changed.

    Args:
        client: of the engine that is to have it.
        folder: with a Dockerfile, as a rule `FROM kaiten/bot-base-python`.
        say: is told once that the build begins.

    Returns:
        The image's id.

    Raises:
        ImageTrouble: with the build's output.
    """
    name = folder.resolve().name
    if not re.fullmatch(r"[a-z0-9]+([_-][a-z0-9]+)*", name):
        raise ImageTrouble(
            f"{folder}: an image can't be called after {name!r}; use lower-case letters, digits, - and _"
        )
    if not (folder / "Dockerfile").is_file():
        raise ImageTrouble(f"{folder}: there is no Dockerfile; copy one from a sample bot in bots/")
    say(f"Building the image of {name}")
    tag = f"kaiten/bot-{name}:latest"
    return build(client, folder, tag=tag, labels={_LABEL: name}, arguments={})
