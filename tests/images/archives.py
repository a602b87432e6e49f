"""Small image archives in the formats of several engines and builders, and helpers that read them."""

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from arena.images.image import DEFAULT_LIMITS, BotImage, IntakeLimits, Platform
from arena.images.reader import INTAKE_UID, repack
from tests.images.tars import file, folder, symlink, tar, zipped
from tests.patience import WAIT_SECONDS

PATIENT = msgspec.structs.replace(DEFAULT_LIMITS, wall_seconds=WAIT_SECONDS)
"""The usual limits, but more elapsed time: on a busy host just starting the reader takes seconds."""

AMD64 = Platform("linux", "amd64")
ARM64 = Platform("linux", "arm64")
BASE = tar(
    folder(b"etc"),
    file(b"etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n"),
    file(b"etc/group", b"root:x:0:\n"),
    folder(b"proc"),
    folder(b"tmp", mode=0o1777),
    folder(b"usr"),
    symlink(b"bin", b"usr/bin"),
)
BOT = tar(folder(b"bot"), file(b"bot/bot.py", b"print('hello')\n", mode=0o755))
COMMAND: dict[str, Any] = {
    "Entrypoint": ["python", "/bot/bot.py"],
    "Cmd": None,
    "Env": ["PATH=/usr/bin"],
    "WorkingDir": "/bot",
}
Json = dict[str, Any]


@dataclass(kw_only=True)
class Draft:
    """An image that isn't in an archive yet."""

    layers: list[bytes] = field(default_factory=lambda: [BASE, BOT])  # uncompressed, from the lowest
    config: Json = field(default_factory=dict)  # changes to the configuration's part ``config``
    platform: Platform = AMD64  # as in its configuration
    packed: Callable[[bytes], bytes] = bytes  # the layers' compression
    diff_ids: list[str] | None = None  # digests of the layers; None: the correct ones

    def config_bytes(self) -> bytes:
        """Return the image's configuration."""
        whole = {
            "architecture": self.platform.architecture,
            "os": self.platform.os,
            "created": "2026-01-01T00:00:00Z",
            "config": COMMAND | self.config,
            "rootfs": {
                "type": "layers",
                "diff_ids": self.diff_ids or [sha256(layer) for layer in self.layers],
            },
            "history": [{"created_by": "RUN something"} for _ in self.layers],
        }
        return json.dumps(whole).encode()


def sha256(content: bytes) -> str:
    """Return the content's digest in the form that archives use."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def members(files: Mapping[str, bytes]) -> list[bytes]:
    """Return files as members of a tar."""
    return [file(name.encode(), content) for name, content in files.items()]


def old_docker(draft: Draft, tags: Sequence[str] = ("someone/bot:latest",)) -> dict[str, bytes]:
    """Return the files that ``docker save`` wrote before version 25: a folder per layer, and a manifest."""
    config = draft.config_bytes()
    name = f"{sha256(config)[7:]}.json"
    files, layers = {name: config}, []
    for number, layer in enumerate(draft.layers):
        identity = sha256(b"%d" % number + layer)[7:]
        layers.append(f"{identity}/layer.tar")
        files[f"{identity}/VERSION"] = b"1.0"
        files[f"{identity}/json"] = b"{}"
        files[layers[-1]] = draft.packed(layer)
    files["manifest.json"] = json.dumps([{"Config": name, "RepoTags": list(tags), "Layers": layers}]).encode()
    files["repositories"] = json.dumps({"someone/bot": {"latest": layers[-1][:64]}}).encode()
    return files


class Layout:
    """An OCI layout under construction."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}'}

    def blob(self, content: bytes, media_type: str, **more: object) -> Json:
        """Add a blob, and return its descriptor."""
        digest = sha256(content)
        self.files[f"blobs/sha256/{digest[7:]}"] = content
        return {"mediaType": media_type, "digest": digest, "size": len(content), **more}

    def image(self, draft: Draft, **more: object) -> Json:
        """Add an image, and return its manifest's descriptor."""
        layers = [draft.packed(layer) for layer in draft.layers]
        suffix = "+gzip" if layers[0].startswith(b"\x1f\x8b") else ""
        manifest = {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": self.blob(draft.config_bytes(), "application/vnd.oci.image.config.v1+json"),
            "layers": [
                self.blob(layer, f"application/vnd.oci.image.layer.v1.tar{suffix}") for layer in layers
            ],
        }
        return self.blob(json.dumps(manifest).encode(), str(manifest["mediaType"]), **more)

    def attestation(self, subject: Json) -> Json:
        """Add an attestation like those of BuildKit, and return its descriptor."""
        statement = b'{"_type":"https://in-toto.io/Statement/v0.1"}'
        about = {"vnd.docker.reference.type": "attestation-manifest"}
        about |= {"vnd.docker.reference.digest": subject["digest"]}
        draft = Draft(layers=[statement], platform=Platform("unknown", "unknown"))
        return self.image(draft, platform=platform_of(draft), annotations=about)

    def index(self, manifests: Iterable[Json]) -> Json:
        """Add an index, and return its descriptor."""
        media_type = "application/vnd.oci.image.index.v1+json"
        content = json.dumps({"schemaVersion": 2, "mediaType": media_type, "manifests": list(manifests)})
        return self.blob(content.encode(), media_type)

    def finish(self, manifests: Iterable[Json]) -> dict[str, bytes]:
        """Return all files, with a top-level index of these manifests."""
        top = {"schemaVersion": 2, "manifests": list(manifests)}
        return {**self.files, "index.json": json.dumps(top).encode()}


def platform_of(draft: Draft) -> Json:
    """Return an image's platform in the form that indexes use."""
    return {"os": draft.platform.os, "architecture": draft.platform.architecture}


def oci(*drafts: Draft) -> dict[str, bytes]:
    """Return the files of an OCI layout with these images and one manifest per image."""
    layout = Layout()
    return layout.finish([layout.image(draft, platform=platform_of(draft)) for draft in drafts])


def docker_25(draft: Draft) -> dict[str, bytes]:
    """Return the files that ``docker save`` writes since version 25: an OCI layout with a manifest.json."""
    layout = Layout()
    name = {"io.containerd.image.name": "docker.io/someone/bot:latest"}
    files = layout.finish([layout.image(draft, annotations=name)])
    config = sha256(draft.config_bytes())[7:]
    layers = [f"blobs/sha256/{sha256(draft.packed(layer))[7:]}" for layer in draft.layers]
    entry = {"Config": f"blobs/sha256/{config}", "RepoTags": ["someone/bot:latest"], "Layers": layers}
    return {**files, "manifest.json": json.dumps([entry]).encode()}


def docker_29(*drafts: Draft, tags: int = 1) -> dict[str, bytes]:
    """Return the files that ``docker save`` writes since version 29, with an index of platforms."""
    layout = Layout()
    images = [layout.image(draft, platform=platform_of(draft)) for draft in drafts]
    index = layout.index([*images, *map(layout.attestation, images)])
    names = [{"io.containerd.image.name": f"docker.io/someone/bot:{number}"} for number in range(tags)]
    return layout.finish([{**index, "annotations": name} for name in names])


def listed(image: BotImage, layers: Path) -> list[dict[str, tarfile.TarInfo]]:
    """Return the members of each layer of a repacked image, by name."""
    content = io.BytesIO(layers.read_bytes())
    found = []
    for layer in image.layers:
        with tarfile.open(fileobj=io.BytesIO(content.read(layer.size))) as archive:
            found.append({member.name: member for member in archive})
    return found


def write(path: Path, files: Mapping[str, bytes], *, compressed: bool = False) -> Path:
    """Write an archive of these files, and return its path."""
    whole = tar(*members(files))
    path.write_bytes(zipped(whole) if compressed else whole)
    return path


READER = INTAKE_UID if os.geteuid() == 0 else None
"""The reader's user ID, or None if the tests don't run as root."""


def read(archive: Path, output: Path, platform: Platform = AMD64, limits: IntakeLimits = PATIENT) -> BotImage:
    """Repack an archive as the arena does, however long it takes."""
    return repack(archive, output, platform, uid=READER, limits=limits)
