"""The arena's own bots: their folders, and their images where bots run in containers."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import docker

from arena.botfiles import known, samples
from arena.images import build_bot_image, ensure_base_image
from arena.languages import PYTHON
from arena.match import RuntimeName


def house_bots(runtime: RuntimeName, say: Callable[[str], None]) -> tuple[tuple[str, str], ...]:
    """Return (name, source) of every sample bot; for containers make what images are missing.

    Raises:
        ImageTrouble: An image can't be made.
    """
    folders = [samples() / name for name in known(samples())]
    if runtime is RuntimeName.PROCESS:
        return tuple((folder.name, str(folder.resolve())) for folder in folders)
    with closing(docker.from_env()) as client:
        ensure_base_image(client, PYTHON, say)
        return tuple((folder.name, _image(client, folder, say)) for folder in folders)


def _image(client: docker.DockerClient, folder: Path, say: Callable[[str], None]) -> str:
    say(f"image of {folder.name}, on {PYTHON.base_image}")
    return build_bot_image(client, folder)
