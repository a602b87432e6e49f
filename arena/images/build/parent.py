"""The parent of a base image: an image from a registry, or one made from Debian packages.

A registry is faster. If none is reachable, Debian packages provide equivalent content: the interpreter, a
shell and the C libraries that compiled packages expect.

A registry may later serve a different image under the same tag. The tag is therefore resolved only once: the
image is pulled by its digest, unless the engine already has it, and tagged ``kaiten/registry-NAME``, which
later builds use.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import docker
from docker.errors import DockerException, ImageNotFound
from docker.models.images import Image
from requests.exceptions import RequestException

from arena.images.build.context import ImageError, Say
from arena.languages.language import DEBIAN_RELEASE, Parents

_COMMON = (
    "base-files",  # the folders of a Debian system
    "coreutils",  # expected by the RUN lines of bots' Dockerfiles
    "dash",  # /bin/sh
)
_UNWANTED = ("doc", "info", "lintian", "locale", "man")  # under /usr/share
_HOOK = """
set -e
printf '%s\\n' root:x:0:0:root:/root:/bin/sh nobody:x:65534:65534:nobody:/:/bin/false > "$1/etc/passwd"
printf '%s\\n' root:x:0: nogroup:x:65534: > "$1/etc/group"
rm -rf "$1/etc/hostname" "$1/etc/resolv.conf" "$1/var/lib/dpkg"
mkdir -p "$1/var/lib/dpkg/status.d"
for package in "$1"/var/cache/apt/archives/*.deb; do
    dpkg-deb --field "$package" >"$1/var/lib/dpkg/status.d/$(dpkg-deb --field "$package" Package)"
done
"""
# SBOM tools find the packages in status.d, as in distroless images.
_LABEL = "kaiten.recipe"
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_TOOLS = ("mmdebstrap", "debian-archive-keyring")
_BOOTSTRAP_SECONDS = 900
_LOCK_SECONDS = 120  # time to wait for other programs that use apt-get or dpkg
_TAIL_LINES = 25


def _bootstrap_arguments(parents: Parents) -> tuple[str, ...]:
    """Return arguments for mmdebstrap."""
    return (
        "--variant=extract",
        "--include=" + ",".join((*_COMMON, *parents.packages)),
        *(f"--dpkgopt=path-exclude=/usr/share/{folder}/*" for folder in _UNWANTED),
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in parents.left_out),
        f"--extract-hook={_HOOK}",
        DEBIAN_RELEASE,
    )


def debian_recipe(parents: Parents) -> str:
    """Return a hash of all inputs of the image made from Debian packages."""
    return hashlib.sha256("\0".join(_bootstrap_arguments(parents)).encode()).hexdigest()


def find_image(client: docker.DockerClient, name: str) -> Image | None:
    """Return the engine's image with this name, or None if it has none."""
    try:
        return client.images.get(name)
    except ImageNotFound:
        return None


def is_present(client: docker.DockerClient, parents: Parents) -> bool:
    """Return True if the engine has the image made from Debian packages, built with exactly this recipe."""
    image = find_image(client, parents.debian_image)
    return image is not None and image.labels.get(_LABEL) == debian_recipe(parents)


def bootstrap(client: docker.DockerClient, parents: Parents, say: Say) -> None:
    """Make the image from Debian packages.

    Raises ImageError if mmdebstrap fails, or if it is missing and can't be installed here.
    """
    _require_mmdebstrap(parents, say)
    say(f"Building {parents.debian_image} from Debian packages with mmdebstrap")
    with tempfile.TemporaryDirectory(prefix="kaiten-debian-") as folder:
        archive = Path(folder) / "root.tar"
        with archive.open("wb") as out:
            _run(["mmdebstrap", *_bootstrap_arguments(parents), "-"], out.fileno())
        try:
            repository, tag = parents.debian_image.split(":")
            client.api.import_image_from_file(
                str(archive),
                repository=repository,
                tag=tag,
                changes=[f"LABEL {_LABEL}={debian_recipe(parents)}"],
            )
        except (DockerException, RequestException) as error:
            raise ImageError(f"the Docker engine could not import {parents.debian_image}: {error}") from error
    if not is_present(client, parents):
        raise ImageError(
            f"the Docker engine imported {parents.debian_image} but does not list it: see the engine's log"
        )


def _require_mmdebstrap(parents: Parents, say: Say) -> None:
    if shutil.which("mmdebstrap") and _KEYRING.exists():
        return
    if os.geteuid() != 0 or not _is_debian():
        raise ImageError(
            f"the engine could not pull {parents.official}. Building the image from Debian packages instead "
            f"requires {' and '.join(_TOOLS)}. Give the engine access to the registry or, on Debian or "
            f"Ubuntu, run: sudo apt-get install {' '.join(_TOOLS)}"
        )
    say(f"Installing {' and '.join(_TOOLS)} with apt-get, to make {parents.debian_image}")
    _update_lists()
    _apt_get("install", "--yes", "--no-install-recommends", *_TOOLS)


def _is_debian() -> bool:
    try:
        return platform.freedesktop_os_release()["ID"] in {"debian", "ubuntu"}
    except OSError:
        return False


def _update_lists() -> None:
    """Update the package lists once no other program is doing so: apt-get waits only for dpkg's lock."""
    last = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            _apt_get("update")
        except ImageError as error:
            if "Could not get lock" not in str(error) or time.monotonic() > last:
                raise
            time.sleep(1)
        else:
            return


def _apt_get(*arguments: str) -> None:
    _run(["apt-get", "-o", "Acquire::Retries=3", "-o", f"DPkg::Lock::Timeout={_LOCK_SECONDS}", *arguments])


def _run(command: list[str], out: int | None = None) -> None:
    """Run a system program; its stdout goes to the descriptor ``out``. Raises ImageError with its stderr."""
    try:
        done = subprocess.run(  # noqa: S603 - our own argument lists
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if out is None else out,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"},
            timeout=_BOOTSTRAP_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ImageError(f"{command[0]} failed to run: {error}") from error
    if done.returncode:
        tail = done.stderr.splitlines()[-_TAIL_LINES:]
        raise ImageError("\n".join([f"{command[0]} failed with code {done.returncode}; its output:", *tail]))


PARENT_LABEL: Final = "kaiten.parent"
"""The label with the digest of an image's parent."""

_REGISTRY_SECONDS = 8  # timeout for a registry; the Docker client's default is a minute


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """An image to build on."""

    image: str
    digest: str  # `REPOSITORY@sha256:…`, or the engine's id if the image isn't from a registry
    arguments: Mapping[str, str]  # build arguments for images built on it


def ensure_parent(client: docker.DockerClient, parents: Parents, say: Say) -> Parent:
    """Return a parent: one that the engine has, else one from a registry, else one from Debian packages.

    Raises ImageError if neither the registry nor Debian packages can provide one.
    """
    if not is_present(client, parents):
        if image := _find_recorded(client, parents, say) or _pull_and_record(client, parents, say):
            return Parent(image=parents.recorded, digest=_digest(image), arguments=parents.official_arguments)
        bootstrap(client, parents, say)
    image = client.images.get(parents.debian_image)
    return Parent(image=parents.debian_image, digest=str(image.id), arguments=parents.debian_arguments)


def _find_recorded(client: docker.DockerClient, parents: Parents, say: Say) -> Image | None:
    """Return the image that was recorded earlier. Report if the engine's official tag has since moved."""
    image = find_image(client, parents.recorded)
    tagged = find_image(client, parents.official)
    if image and tagged and tagged.id != image.id:
        say(
            f"{parents.official} is now {_digest(tagged)}, but {_digest(image)} is still in use. To use the "
            f"new one: docker tag {parents.official} {parents.recorded}"
        )
    return image


def _pull_and_record(client: docker.DockerClient, parents: Parents, say: Say) -> Image | None:
    image = find_image(client, parents.official) or _pull(client, parents.official, say)
    if image:
        repository, tag = parents.recorded.split(":")
        image.tag(repository, tag)
        say(f"{parents.official} is {_digest(image)}, tagged as {parents.recorded}")
    return image


def _digest(image: Image) -> str:
    return str(next(iter(image.attrs.get("RepoDigests") or ()), image.id))


def _pull(engine: docker.DockerClient, name: str, say: Say) -> Image | None:
    """Pull an image by the digest of its tag; return None if that fails."""
    say(f"Asking the image registry for {name}")
    try:
        client = docker.from_env(timeout=_REGISTRY_SECONDS)
    except DockerException:
        return None
    try:
        digest = str(client.images.get_registry_data(name).id)
        pinned = f"{name.rpartition(':')[0]}@{digest}"
        say(f"Pulling {pinned}")
        client.images.pull(pinned)
        return engine.images.get(pinned)
    except (DockerException, RequestException) as error:
        say(f"Could not pull {name} ({_first_line(error)})")
        return None
    finally:
        client.close()


def _first_line(error: Exception) -> str:
    text = getattr(error, "explanation", None) or str(error)
    return str(text).strip().splitlines()[0][:160] if str(text).strip() else type(error).__name__
