"""Writes SBOMs (CycloneDX, JSON) to build/sbom: for the wheel with its locked packages, and for built images.

Packages that only the wheel's extras need are marked as optional.

An image's packages are read from its files: Debian's package list, Python's metadata and npm's package.json.
No program in the image is started. If there is no engine, or an image hasn't been built, a line reports that.

Usage: .venv/bin/python -m scripts.sbom [FOLDER [IMAGE ...]]
"""

import json
import re
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from email.parser import BytesParser
from pathlib import Path
from typing import IO, Final

import docker
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from docker.errors import DockerException, ImageNotFound
from packageurl import PackageURL

from arena import __version__
from arena.images.build.server import DATABASE_IMAGE, SERVER_IMAGE
from arena.languages.registry import LANGUAGES

_ROOT: Final = Path(__file__).parents[1]
_IMAGES: Final = (*(language.base_image for language in LANGUAGES), SERVER_IMAGE, DATABASE_IMAGE)
_EXTRAS: Final = ("cluster", "env")
_ENGINE_SECONDS: Final = 300
"""Timeout for calls to the engine, which may be slow on a busy host."""
_PIN: Final = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(?:\[[^]]*\])?==(?P<version>[^\s;\\]+)")
_HASH: Final = re.compile(r"--hash=sha256:(?P<hash>[0-9a-f]{64})")
_DEBIAN: Final = re.compile(r"^var/lib/dpkg/status(?:\.d/[^/]+)?$")
_PYTHON: Final = re.compile(r"(?:^|/)[^/]+\.dist-info/METADATA$")
_NPM: Final = re.compile(r"(?:^|/)node_modules/(?:@[^/]+/)?[^/]+/package\.json$")


def locked(text: str) -> Iterator[Component]:
    """Yield the packages of a lock file, with their hashes."""
    for part in re.split(r"\n(?=\S)", text):
        if pin := _PIN.match(part):
            hashes = [
                HashType(alg=HashAlgorithm.SHA_256, content=found["hash"]) for found in _HASH.finditer(part)
            ]
            yield _component("pypi", pin["name"].lower(), pin["version"], hashes)


def wheels() -> Iterator[Component]:
    """Yield the wheel's packages, then those that its extras add."""
    needed = {str(each.purl): each for each in locked((_ROOT / "requirements.lock").read_text())}
    yield from needed.values()
    for extra in _EXTRAS:
        for each in locked((_ROOT / f"requirements-{extra}.lock").read_text()):
            if str(each.purl) not in needed:
                each.scope = ComponentScope.OPTIONAL
                yield each


def contained(tar: tarfile.TarFile) -> Iterator[Component]:
    """Yield the packages whose metadata is among an image's files."""
    for member in tar:
        if not member.isfile():
            continue
        file = tar.extractfile(member)
        if file is None:
            continue
        if _DEBIAN.search(member.name):
            yield from _debian(file)
        elif _PYTHON.search(member.name):
            found = BytesParser().parse(file, headersonly=True)
            yield _component("pypi", str(found["Name"]).lower(), str(found["Version"]))
        elif _NPM.search(member.name):
            package = json.load(file)
            if "name" in package and "version" in package:
                yield _component("npm", package["name"], package["version"])


def _debian(file: IO[bytes]) -> Iterator[Component]:
    for stanza in file.read().decode(errors="replace").split("\n\n"):
        fields = dict(line.split(": ", 1) for line in stanza.splitlines() if re.match(r"\S+: ", line))
        # Entries with a Status are from Debian's package list, which includes removed packages.
        if "Package" in fields and fields.get("Status", " installed").endswith(" installed"):
            yield _component("deb", fields["Package"], fields["Version"])


def _component(kind: str, name: str, version: str, hashes: Iterable[HashType] = ()) -> Component:
    space, _, short = name.rpartition("/")
    namespace = "debian" if kind == "deb" else space or None
    url = PackageURL(type=kind, namespace=namespace, name=short, version=version)
    return Component(
        type=ComponentType.LIBRARY, name=name, version=version, purl=url, bom_ref=str(url), hashes=hashes
    )


def write(file: Path, root: Component, components: Iterable[Component]) -> None:
    """Write an SBOM."""
    unique = {str(each.purl): each for each in components}
    bom = Bom(components=unique.values())
    bom.metadata.component = root
    bom.register_dependency(root, unique.values())
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(JsonV1Dot6(bom).output_as_string(indent=1) + "\n")
    print(f"{file}: {len(unique)} packages")


def write_image(client: docker.DockerClient, name: str, folder: Path) -> None:
    """Write the SBOM of one of the engine's images.

    Raises ImageNotFound if the engine has no such image.
    """
    image = client.images.get(name)
    container = client.api.create_container(image.id, command=["/none"])
    try:
        with tempfile.TemporaryFile() as file:
            for chunk in client.api.export(container["Id"]):
                file.write(chunk)
            file.seek(0)
            with tarfile.open(fileobj=file) as tar:
                found = list(contained(tar))
    finally:
        client.api.remove_container(container["Id"], v=True, force=True)
    if not any(each.purl is not None and each.purl.type == "deb" for each in found):
        say = f"SKIPPED Debian's packages in the SBOM of {name}: its parent image has no list of them"
        print(say, file=sys.stderr)
    root = Component(type=ComponentType.CONTAINER, name=name, version=str(image.id), bom_ref=name)
    write(folder / f"{name.rpartition('/')[2].partition(':')[0]}.cdx.json", root, found)


def main(folder: Path, images: Iterable[str]) -> None:
    """Write the wheel's SBOM and, if an engine is running, those of the images that it has."""
    root = Component(
        type=ComponentType.APPLICATION, name="kaiten-arena", version=__version__, bom_ref="kaiten-arena"
    )
    write(folder / "kaiten-arena.cdx.json", root, wheels())
    try:
        client = docker.from_env(timeout=_ENGINE_SECONDS, use_context=False)
        client.ping()
    except DockerException:
        print("SKIPPED SBOMs of images: no Docker engine is responding", file=sys.stderr)
        return
    for name in images:
        try:
            write_image(client, name, folder)
        except ImageNotFound:
            print(f"SKIPPED SBOM of {name}: it has not been built on this engine", file=sys.stderr)
    client.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if sys.argv[1:] else "build/sbom"), sys.argv[2:] or _IMAGES)
