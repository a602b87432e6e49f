"""The author's Docker engine: builds images from folders, and exports images."""

import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import docker
import requests
from docker.errors import DockerException, ImageNotFound
from docker.models.images import Image

from arena.client.sites import CannotSend

_TIMEOUT_SECONDS: Final = 600
"""An engine may take a long time to start exporting a large image."""

_FAST: Final = 1
_GZIP: Final = zlib.MAX_WBITS + 16
_PIECE: Final = 2 * 1024 * 1024


def build(folder: Path) -> str:
    """Build a folder's image with ``docker build``, which prints to stderr, and return the image's id.

    Raises CannotSend if there is no ``docker`` command, or it fails.
    """
    program = shutil.which("docker")
    if program is None:
        raise CannotSend(
            f"building {folder} requires the docker command, which is not installed: install it, or give a "
            "source file"
        )
    with tempfile.TemporaryDirectory(prefix="kaiten-build-") as scratch:
        written = Path(scratch, "id")
        command = [program, "build", "--iidfile", str(written), str(folder)]
        if subprocess.run(command, stdout=sys.stderr, check=False).returncode:  # noqa: S603 - an argument list
            raise CannotSend(f"docker can't build {folder}: see Docker's output above")
        return written.read_text().strip()


@contextmanager
def found(name: str) -> Iterator[Image]:
    """Find an image in the engine by name or id, and yield it.

    Raises CannotSend if the engine is not responding, or has no such image.
    """
    try:
        client = docker.from_env(timeout=_TIMEOUT_SECONDS)
    except DockerException as error:
        raise CannotSend(
            f"there is no file or folder called {name}, and the Docker engine can't be queried for an "
            f"image with that name ({error}): start Docker, or check the name"
        ) from error
    with closing(client):
        try:
            image = client.images.get(name)
        except ImageNotFound as error:
            raise CannotSend(
                f"there is no file, folder or image called {name}: see `docker images`"
            ) from error
        except (DockerException, requests.RequestException) as error:
            raise CannotSend(f"the Docker engine can't send the image {name} ({error})") from error
        yield image


def packed(image: Image) -> Iterator[tuple[bytes, int]]:
    """Yield the output of ``docker save``, gzip-compressed on the fly.

    Each item is (compressed bytes, total uncompressed bytes so far). Raises CannotSend if the engine fails
    midway.
    """
    packer = zlib.compressobj(_FAST, zlib.DEFLATED, _GZIP)
    taken = 0
    try:
        for raw in image.save(chunk_size=_PIECE):
            taken += len(raw)
            if piece := packer.compress(raw):
                yield piece, taken
    except (DockerException, requests.RequestException) as error:
        raise CannotSend(f"the Docker engine stopped sending the image ({error}): try again") from error
    yield packer.flush(), taken
