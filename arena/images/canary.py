"""The image of the canary: the base image of bots in Python, and the probe in it."""

import shutil
import tempfile
from pathlib import Path

import docker

from arena.images.build import build
from arena.languages import PYTHON
from arena.sandbox.canary import probe

CANARY_IMAGE = "kaiten/canary:latest"

_RECIPE = f"""\
FROM {PYTHON.base_image}
COPY canary /canary
WORKDIR /canary
ENTRYPOINT ["python3", "-S", "-m", "probe"]
"""


def build_canary_image(client: docker.DockerClient) -> str:
    """Build the image that tries to break out of its container; the engine's layer cache makes it quick.

    Beside the probe there is a folder that everybody may write to, as a stranger's image may have one:
    nothing but the read-only root file system protects it.

    Returns:
        The image's id.

    Raises:
        ImageTrouble: It could not be made; the base image has to be there.
    """
    with tempfile.TemporaryDirectory(prefix="kaiten-canary-") as name:
        folder = Path(name)
        (folder / "Dockerfile").write_text(_RECIPE)
        inside = folder / "canary"
        inside.mkdir(mode=0o755)
        shutil.copytree(probe.__path__[0], inside / "probe", ignore=shutil.ignore_patterns("__pycache__"))
        (inside / "open").mkdir()
        (inside / "open").chmod(0o777)
        (inside / "open" / "kept").touch(mode=0o644)
        return build(client, folder, tag=CANARY_IMAGE, labels={}, arguments={})
