"""A root file system with Python 3.11 from Debian's packages, made with mmdebstrap and kept as an image.

The packages are unpacked, not configured: no package manager's state is needed at run time, no maintainer
script runs, and it takes seconds. What their scripts would have made and a bot needs is added by a hook.
apt checks the archive's signatures against Debian's keyring.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

import docker
from docker.errors import DockerException, ImageNotFound
from requests.exceptions import RequestException

from arena.images.build import Say
from arena.images.errors import ImageTrouble

_RELEASE = "bookworm"
IMAGE = f"kaiten/debian-python:{_RELEASE}"

_PACKAGES = (
    "base-files",  # the folders of a Debian system
    "coreutils",  # what the RUN lines of a bot's Dockerfile expect
    "dash",  # /bin/sh
    "libpython3.11-stdlib",
    "libstdc++6",  # compiled wheels take it as given
    "python3-minimal",
)
_UNWANTED = ("doc", "info", "lintian", "locale", "man")  # under /usr/share
_HOOK = """
printf '%s\\n' root:x:0:0:root:/root:/bin/sh nobody:x:65534:65534:nobody:/:/bin/false > "$1/etc/passwd"
printf '%s\\n' root:x:0: nogroup:x:65534: > "$1/etc/group"
rm -rf "$1/etc/hostname" "$1/etc/resolv.conf" "$1/var/lib/dpkg"
"""
_ARGUMENTS = (
    "--variant=extract",
    "--include=" + ",".join(_PACKAGES),
    *(f"--dpkgopt=path-exclude=/usr/share/{folder}/*" for folder in _UNWANTED),
    f"--extract-hook={_HOOK}",
    _RELEASE,
)
RECIPE = hashlib.sha256("\0".join(_ARGUMENTS).encode()).hexdigest()

_LABEL = "kaiten.recipe"
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_NEEDED = ("mmdebstrap", "debian-archive-keyring")
_BOOTSTRAP_SECONDS = 900
_TAIL_LINES = 25


def is_present(client: docker.DockerClient) -> bool:
    """Say whether the engine has the file system of this very recipe."""
    try:
        image = client.images.get(IMAGE)
    except ImageNotFound:
        return False
    return image.labels.get(_LABEL) == RECIPE


def bootstrap(client: docker.DockerClient, say: Say) -> None:
    """Make the file system and give it to the engine as IMAGE.

    Raises:
        ImageTrouble: mmdebstrap is missing and can't be installed here, or it failed.
    """
    _require_mmdebstrap(say)
    say(f"Making a Python image from Debian {_RELEASE} packages with mmdebstrap")
    with tempfile.TemporaryDirectory(prefix="kaiten-debian-") as folder:
        archive = Path(folder) / "root.tar"
        with archive.open("wb") as out:
            _run(["mmdebstrap", *_ARGUMENTS, "-"], out.fileno())
        try:
            repository, tag = IMAGE.split(":")
            client.api.import_image_from_file(
                str(archive), repository=repository, tag=tag, changes=[f"LABEL {_LABEL}={RECIPE}"]
            )
        except (DockerException, RequestException) as error:
            raise ImageTrouble(f"The Docker engine could not import {IMAGE}: {error}") from error
    if not is_present(client):
        raise ImageTrouble(f"The Docker engine imported {IMAGE} but does not show it: see its log")


def _require_mmdebstrap(say: Say) -> None:
    if shutil.which("mmdebstrap") and _KEYRING.exists():
        return
    wanted = " ".join(_NEEDED)
    if os.geteuid() != 0 or not _is_debian():
        raise ImageTrouble(
            f"No image registry gave Python's image, and {wanted} (to make it from Debian packages) are not "
            f"installed. Either let the engine pull python:3.11-slim-bookworm, or on Debian or Ubuntu run: "
            f"sudo apt-get install {wanted}"
        )
    say(f"Installing {wanted} with apt-get: Python's image is made from Debian packages")
    _apt_get("update")
    _apt_get("install", "--yes", "--no-install-recommends", *_NEEDED)


def _is_debian() -> bool:
    try:
        return platform.freedesktop_os_release()["ID"] in {"debian", "ubuntu"}
    except OSError:
        return False


def _apt_get(*arguments: str) -> None:
    _run(["apt-get", "-o", "Acquire::Retries=3", "-o", "DPkg::Lock::Timeout=120", *arguments])


def _run(command: list[str], out: int | None = None) -> None:
    """Run a program of the system; its output goes to the descriptor `out`, its errors into ours."""
    try:
        done = subprocess.run(  # noqa: S603 - our own argument lists
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if out is None else out,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            timeout=_BOOTSTRAP_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ImageTrouble(f"{command[0]} did not do its work: {error}") from error
    if done.returncode:
        tail = done.stderr.splitlines()[-_TAIL_LINES:]
        raise ImageTrouble("\n".join([f"{command[0]} ended with {done.returncode}; it said:", *tail]))
