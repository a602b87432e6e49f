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

from arena.images.build.context import Say
from arena.languages.language import DEBIAN_RELEASE, Parents
from arena.sandbox.builder import BuiltImage, ImageBuilder
from arena.sandbox.runtime import RuntimeFailure

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


def find_debian_image(builder: ImageBuilder, parents: Parents) -> BuiltImage | None:
    """Return the image made from Debian packages with exactly this recipe, or None if the engine has none."""
    image = builder.find(parents.debian_image)
    return image if image and image.labels.get(_LABEL) == debian_recipe(parents) else None


def bootstrap(builder: ImageBuilder, parents: Parents, say: Say) -> BuiltImage:
    """Make the image from Debian packages, and return it.

    Raises RuntimeFailure, for example if mmdebstrap is missing and can't be installed here.
    """
    _require_mmdebstrap(parents, say)
    say(f"Building {parents.debian_image} from Debian packages with mmdebstrap")
    with tempfile.TemporaryDirectory(prefix="kaiten-debian-") as folder:
        archive = Path(folder) / "root.tar"
        with archive.open("wb") as out:
            _run(["mmdebstrap", *_bootstrap_arguments(parents), "-"], out.fileno())
        builder.import_root(archive, parents.debian_image, {_LABEL: debian_recipe(parents)})
    image = find_debian_image(builder, parents)
    if image is None:
        raise RuntimeFailure(
            f"the engine imported {parents.debian_image} but does not list it: see the engine's log"
        )
    return image


def _require_mmdebstrap(parents: Parents, say: Say) -> None:
    if shutil.which("mmdebstrap") and _KEYRING.exists():
        return
    if os.geteuid() != 0 or not _is_debian():
        raise RuntimeFailure(
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
    """Update the package lists, after waiting for other programs that are doing so.

    apt-get itself waits only for dpkg's lock.
    """
    last = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            _apt_get("update")
        except RuntimeFailure as error:
            if "Could not get lock" not in str(error) or time.monotonic() > last:
                raise
            time.sleep(1)
        else:
            return


def _apt_get(*arguments: str) -> None:
    _run(["apt-get", "-o", "Acquire::Retries=3", "-o", f"DPkg::Lock::Timeout={_LOCK_SECONDS}", *arguments])


def _run(command: list[str], out: int | None = None) -> None:
    """Run a system program, and send its stdout to the descriptor ``out``. Raises RuntimeFailure."""
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
        raise RuntimeFailure(f"could not run {command[0]} to the end: {error}") from error
    if done.returncode:
        tail = done.stderr.splitlines()[-_TAIL_LINES:]
        raise RuntimeFailure(
            "\n".join([f"{command[0]} exited with {done.returncode}; the end of its output:", *tail])
        )


PARENT_LABEL: Final = "kaiten.parent"
"""The label with the digest of an image's parent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """An image to build on."""

    image: str
    digest: str  # `REPOSITORY@sha256:…`, or the engine's id if the image isn't from a registry
    arguments: Mapping[str, str]  # build arguments for images built on it


def ensure_parent(builder: ImageBuilder, parents: Parents, say: Say) -> Parent:
    """Return a parent: one that the engine has, else one from a registry, else one from Debian packages.

    Raises RuntimeFailure, for example if neither the registry nor Debian packages can provide one.
    """
    image = find_debian_image(builder, parents)
    if image is None:
        if recorded := _find_recorded(builder, parents, say) or _pull_and_record(builder, parents, say):
            arguments = parents.official_arguments
            return Parent(image=parents.recorded, digest=recorded.digest, arguments=arguments)
        image = bootstrap(builder, parents, say)
    return Parent(image=parents.debian_image, digest=image.id, arguments=parents.debian_arguments)


def _find_recorded(builder: ImageBuilder, parents: Parents, say: Say) -> BuiltImage | None:
    """Return the recorded image, or None. Report if the engine's official tag has moved since."""
    image = builder.find(parents.recorded)
    tagged = builder.find(parents.official)
    if image and tagged and tagged.id != image.id:
        say(
            f"{parents.official} is now {tagged.digest}, but {image.digest} is still in use. To use the "
            f"new one: docker tag {parents.official} {parents.recorded}"
        )
    return image


def _pull_and_record(builder: ImageBuilder, parents: Parents, say: Say) -> BuiltImage | None:
    image = builder.find(parents.official) or _pull(builder, parents.official, say)
    if image:
        builder.tag(image, parents.recorded)
        say(f"{parents.official} is {image.digest}, tagged as {parents.recorded}")
    return image


def _pull(builder: ImageBuilder, name: str, say: Say) -> BuiltImage | None:
    """Pull an image by the digest of its tag; return None if that fails."""
    say(f"Asking the image registry for {name}")
    try:
        pinned = builder.resolve(name)
        say(f"Pulling {pinned}")
        return builder.pull(pinned)
    except RuntimeFailure as error:
        say(str(error).splitlines()[0])
        return None
