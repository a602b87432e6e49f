"""Tests of SBOMs, which list the packages in lock files and images. What can't be listed is reported."""

import json
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from tests.images.archives import members
from tests.images.tars import tar
from tests.patience import WAIT_SECONDS

_ROOT = Path(__file__).parents[2]
_FILES = {
    "var/lib/dpkg/status": (
        "Package: libc6\nStatus: install ok installed\nVersion: 2.36-9\n\n"
        "Package: gone\nStatus: deinstall ok config-files\nVersion: 1\n"
    ),
    "var/lib/dpkg/status.d/dash": "Package: dash\nVersion: 0.5.12-2\nArchitecture: amd64\n",
    "usr/lib/python3/dist-packages/numpy-2.0.dist-info/METADATA": "Name: NumPy\nVersion: 2.0\n\nwords\n",
    "srv/node_modules/@grpc/grpc-js/package.json": '{"name": "@grpc/grpc-js", "version": "1.14.0"}',
    "srv/package.json": '{"name": "bot", "version": "1"}',
}


@pytest.fixture
def image(docker_client: docker.DockerClient) -> Iterator[str]:
    """Yield the name of an image with these files."""
    name = f"kaiten/test-sbom-{uuid.uuid4().hex[:8]}:latest"
    content = tar(*members({path: text.encode() for path, text in _FILES.items()}))
    repository, _, tag = name.rpartition(":")
    docker_client.api.import_image_from_data(content, repository=repository, tag=tag)
    yield name
    docker_client.images.remove(name)


def run(folder: Path, *images: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the script, and return the finished process."""
    done = subprocess.run(  # noqa: S603 - our own script
        [sys.executable, "-m", "scripts.sbom", str(folder), *images],
        cwd=_ROOT,
        env=variables or None,
        capture_output=True,
        text=True,
        check=False,
        timeout=WAIT_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return done


def urls(file: Path, scope: str | None = None) -> set[str]:
    """Return the packages of an SBOM, or only those with this scope."""
    bom = json.loads(file.read_text())
    assert (bom["bomFormat"], bom["specVersion"]) == ("CycloneDX", "1.6")
    return {component["purl"] for component in bom["components"] if scope in {None, component.get("scope")}}


def test_the_wheels_sbom_has_every_locked_package_and_needs_no_engine(tmp_path: Path) -> None:
    """Packages of the extras are optional. A message says that no engine responds."""
    done = run(tmp_path, DOCKER_HOST="unix:///nowhere", PATH="")
    assert "SKIPPED SBOMs of images: no Docker engine is responding" in done.stderr
    file = tmp_path / "kaiten-arena.cdx.json"
    assert len(urls(file)) == len(urls(file, scope="optional")) + len(locked("")) > 20
    assert urls(file) == locked("") | locked("-cluster") | locked("-env")
    optional = {url.partition("@")[0] for url in urls(file, scope="optional")}
    assert {"pkg:pypi/distributed", "pkg:pypi/gymnasium", "pkg:pypi/numpy"} <= optional


def locked(name: str) -> set[str]:
    """Return the packages of a lock file."""
    lines = (_ROOT / f"requirements{name}.lock").read_text().splitlines()
    pins = [line.split()[0].partition("==") for line in lines if "==" in line[:60] and line[0].isalnum()]
    return {f"pkg:pypi/{package.partition('[')[0]}@{version}" for package, _, version in pins}


@pytest.mark.docker
def test_an_images_sbom_has_what_is_installed(tmp_path: Path, image: str) -> None:
    """Debian, Python and npm packages are listed, but not removed ones or the bot.

    A missing image is skipped.
    """
    done = run(tmp_path, image, "kaiten/test-none:latest")
    file = tmp_path / f"{image.partition('/')[2].partition(':')[0]}.cdx.json"
    assert urls(file) == {
        "pkg:deb/debian/libc6@2.36-9",
        "pkg:deb/debian/dash@0.5.12-2",
        "pkg:pypi/numpy@2.0",
        "pkg:npm/%40grpc/grpc-js@1.14.0",
    }
    assert "SKIPPED SBOM of kaiten/test-none:latest: it has not been built on this engine" in done.stderr
    assert "Debian's packages" not in done.stderr
