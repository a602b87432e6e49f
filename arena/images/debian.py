"""A root file system with what Debian's packages hold, made with mmdebstrap and kept as an image.

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
from dataclasses import dataclass
from pathlib import Path

import docker
from docker.errors import DockerException, ImageNotFound
from requests.exceptions import RequestException

from arena.images.build import Say
from arena.images.errors import ImageTrouble

_RELEASE = "bookworm"

_COMMON = (
    "base-files",  # the folders of a Debian system
    "coreutils",  # what the RUN lines of a bot's Dockerfile expect
    "dash",  # /bin/sh
)
_UNWANTED = ("doc", "info", "lintian", "locale", "man")  # under /usr/share
_HOOK = """
printf '%s\\n' root:x:0:0:root:/root:/bin/sh nobody:x:65534:65534:nobody:/:/bin/false > "$1/etc/passwd"
printf '%s\\n' root:x:0: nogroup:x:65534: > "$1/etc/group"
rm -rf "$1/etc/hostname" "$1/etc/resolv.conf" "$1/var/lib/dpkg"
"""
_LABEL = "kaiten.recipe"
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_NEEDED = ("mmdebstrap", "debian-archive-keyring")
_BOOTSTRAP_SECONDS = 900
_TAIL_LINES = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """A root file system.

    Attributes:
        name: Of what it holds, such as ``python``.
        packages: Of Debian, beside what every one has; what they depend on comes with them.
        official: An image of a registry that would have done instead; named in errors.
        left_out: Patterns of files in these packages that nobody needs.
    """

    name: str
    packages: tuple[str, ...]
    official: str
    left_out: tuple[str, ...] = ()

    @property
    def image(self) -> str:
        """Its name as an image."""
        return f"kaiten/debian-{self.name}:{_RELEASE}"

    @property
    def arguments(self) -> tuple[str, ...]:
        """What mmdebstrap is told."""
        return (
            "--variant=extract",
            "--include=" + ",".join((*_COMMON, *self.packages)),
            *(f"--dpkgopt=path-exclude=/usr/share/{folder}/*" for folder in _UNWANTED),
            *(f"--dpkgopt=path-exclude={pattern}" for pattern in self.left_out),
            f"--extract-hook={_HOOK}",
            _RELEASE,
        )

    @property
    def recipe(self) -> str:
        """A hash of all that decides what it is."""
        return hashlib.sha256("\0".join(self.arguments).encode()).hexdigest()


def is_present(client: docker.DockerClient, root: Root) -> bool:
    """Say whether the engine has the file system of this very recipe."""
    try:
        image = client.images.get(root.image)
    except ImageNotFound:
        return False
    return image.labels.get(_LABEL) == root.recipe


def bootstrap(client: docker.DockerClient, root: Root, say: Say) -> None:
    """Make the file system and give it to the engine as an image.

    Raises:
        ImageTrouble: mmdebstrap is missing and can't be installed here, or it failed.
    """
    _require_mmdebstrap(root, say)
    say(f"Making {root.image} from Debian's packages with mmdebstrap")
    with tempfile.TemporaryDirectory(prefix="kaiten-debian-") as folder:
        archive = Path(folder) / "root.tar"
        with archive.open("wb") as out:
            _run(["mmdebstrap", *root.arguments, "-"], out.fileno())
        try:
            repository, tag = root.image.split(":")
            client.api.import_image_from_file(
                str(archive), repository=repository, tag=tag, changes=[f"LABEL {_LABEL}={root.recipe}"]
            )
        except (DockerException, RequestException) as error:
            raise ImageTrouble(f"The Docker engine could not import {root.image}: {error}") from error
    if not is_present(client, root):
        raise ImageTrouble(f"The Docker engine imported {root.image} but does not show it: see its log")


def _require_mmdebstrap(root: Root, say: Say) -> None:
    if shutil.which("mmdebstrap") and _KEYRING.exists():
        return
    wanted = " ".join(_NEEDED)
    if os.geteuid() != 0 or not _is_debian():
        raise ImageTrouble(
            f"No image registry gave {root.official}, and {wanted} (to make the same from Debian packages) "
            f"are not installed. Either let the engine pull that image, or on Debian or Ubuntu run: "
            f"sudo apt-get install {wanted}"
        )
    say(f"Installing {wanted} with apt-get: {root.image} is made from Debian packages")
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
