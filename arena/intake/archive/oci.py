"""Which image, where the archive is an OCI layout: what engines save from version 25 on, and builders.

Source: OCI image specification 1.1, "Image Layout", "Image Index" and "Image Manifest"; for attestations,
BuildKit's documentation, "Image attestation storage".
"""

import hashlib
from typing import Annotated, Final, TypeVar

import msgspec

from arena.intake.archive.found import FoundImage, ImageConfig, pair, wrong_platform
from arena.intake.archive.names import shown
from arena.intake.archive.outer import Archive, parse
from arena.intake.errors import Rejected
from arena.intake.image import Platform
from arena.intake.limits import IntakeLimits

INDEX: Final = "index.json"
MAX_MANIFESTS: Final = 256
"""In one index."""
MAX_READ: Final = 32
"""Indexes, manifests and configurations that are read to find the image."""

_INDEXES: Final = frozenset(
    {"application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json"}
)
_MANIFESTS: Final = frozenset(
    {"application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json"}
)
_CONFIGS: Final = frozenset(
    {"application/vnd.oci.image.config.v1+json", "application/vnd.docker.container.image.v1+json"}
)
_LAYERS: Final = (
    "application/vnd.oci.image.layer.v1.tar",
    "application/vnd.docker.image.rootfs.diff.tar",
)
_ATTESTATION: Final = "vnd.docker.reference.type"
_UNKNOWN: Final = "unknown"
_Document = TypeVar("_Document")


class Runs(msgspec.Struct, frozen=True):
    """The platform of a manifest, as its index has it."""

    os: str
    architecture: str


class Descriptor(msgspec.Struct, frozen=True, rename="camel"):
    """What names a blob."""

    media_type: str
    digest: Annotated[str, msgspec.Meta(pattern=r"^sha256:[0-9a-f]{64}$")]
    size: Annotated[int, msgspec.Meta(ge=0)]
    platform: Runs | None = None
    annotations: dict[str, str] | None = None
    urls: list[str] | None = None

    @property
    def file(self) -> str:
        """The blob's name in the archive."""
        return f"blobs/sha256/{self.digest.removeprefix('sha256:')}"

    @property
    def is_attestation(self) -> bool:
        """Whether it says something about an image, instead of being one."""
        stands_for_none = (
            self.platform is not None and self.platform.os == self.platform.architecture == _UNKNOWN
        )
        return stands_for_none or _ATTESTATION in (self.annotations or {})


class Index(msgspec.Struct, frozen=True):
    """A list of manifests and further indexes."""

    manifests: Annotated[list[Descriptor], msgspec.Meta(max_length=MAX_MANIFESTS)]


class Manifest(msgspec.Struct, frozen=True):
    """One image for one platform."""

    config: Descriptor
    layers: list[Descriptor]


class Search:
    """The search for the image of one platform.

    Args:
        archive: To search.
        platform: The image's.
        limits: On documents and layers.
    """

    def __init__(self, archive: Archive, platform: Platform, limits: IntakeLimits) -> None:
        self._archive = archive
        self._platform = platform
        self._limits = limits
        self._read = 0
        self._seen: set[str] = set()
        self._others: dict[str, None] = {}

    def find_image(self) -> FoundImage:
        """Return the only image for the platform.

        Raises:
            Rejected: There are several or none, or the archive is damaged.
        """
        images = self._images(parse(self._archive.document(INDEX), Index, INDEX))
        if len(images) > 1:
            raise Rejected(
                f"the archive has {len(images)} images for {self._platform}: "
                "save one, with `docker save IMAGE`"
            )
        if not images:
            if self._others:
                raise wrong_platform(", ".join(list(self._others)[:8])[:200], self._platform)
            raise Rejected("the archive has no image in it: send what `docker save IMAGE` writes")
        manifest, config = images[0]
        for layer in manifest.layers:
            _check_layer(layer)
            if self._archive.size(layer.file) != layer.size:
                raise _altered(layer)
        return pair(config, [(layer.file, layer.digest) for layer in manifest.layers], self._limits.layers)

    def _images(self, index: Index) -> list[tuple[Manifest, ImageConfig]]:
        """Return the images for the platform in an index and in those that it names."""
        images = []
        waiting = index.manifests[::-1]
        while waiting:
            descriptor = waiting.pop()
            if (
                descriptor.digest in self._seen
                or descriptor.is_attestation
                or not self._may_fit(descriptor.platform)
            ):
                continue
            self._seen.add(descriptor.digest)
            if descriptor.media_type in _INDEXES:
                waiting += self._document(descriptor, Index).manifests[::-1]
            elif descriptor.media_type in _MANIFESTS:
                manifest = self._document(descriptor, Manifest)
                if manifest.config.media_type not in _CONFIGS:
                    continue
                config = self._document(manifest.config, ImageConfig)
                if self._may_fit(Runs(config.os, config.architecture)):
                    images.append((manifest, config))
        return images

    def _may_fit(self, runs: Runs | None) -> bool:
        if runs is None or Platform(runs.os, runs.architecture) == self._platform:
            return True
        self._others[f"{runs.os}/{runs.architecture}"] = None
        return False

    def _document(self, descriptor: Descriptor, kind: type[_Document]) -> _Document:
        self._read += 1
        if self._read > MAX_READ:
            raise Rejected(f"the archive's indexes name more than {MAX_READ} documents: save one image alone")
        document = self._archive.document(descriptor.file)
        if len(document) != descriptor.size or hashlib.sha256(document).hexdigest() != descriptor.digest[7:]:
            raise _altered(descriptor)
        return parse(document, kind, descriptor.file)


def _check_layer(layer: Descriptor) -> None:
    if layer.urls or not layer.media_type.startswith(_LAYERS):
        raise Rejected(
            f"the image has a layer that is elsewhere, or of the type {shown(layer.media_type)}: "
            "only layers that are in the archive, as tars, are taken"
        )


def _altered(descriptor: Descriptor) -> Rejected:
    return Rejected(
        f"{descriptor.file} is not what its digest says: it was damaged on its way; save and send it again"
    )
