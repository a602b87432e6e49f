"""Finds the image in an archive, which is an OCI layout or has an older engine's format.

Docker 25 and later write OCI layouts, and so do other builders.

Source: OCI image specification 1.1, "Image Layout", "Image Index" and "Image Manifest"; for attestations,
BuildKit's documentation, "Image attestation storage".
"""

import hashlib
from dataclasses import dataclass
from typing import Annotated, Final, TypeVar

import msgspec

from arena.images.archive.outer import Archive, parse, shown, split
from arena.images.image import ImageSettings, IntakeLimits, Platform, Rejected


class RootFs(msgspec.Struct, frozen=True):
    """The digests of the layers' uncompressed tars."""

    diff_ids: list[str]


class ImageConfig(msgspec.Struct, frozen=True):
    """An image's configuration (OCI image specification 1.1, "Image Configuration")."""

    os: str
    architecture: str
    rootfs: RootFs
    config: ImageSettings | None = None

    @property
    def platform(self) -> Platform:
        """The platform the image runs on."""
        return Platform(self.os, self.architecture)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundLayer:
    """A layer in the archive."""

    name: str  # name of its file in the archive
    digest: str | None  # digest of that file, compressed or not; None if the archive doesn't state it
    diff_id: str  # digest of the uncompressed tar


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundImage:
    """An image in the archive: its configuration and its layers, lowest first."""

    config: ImageConfig
    layers: tuple[FoundLayer, ...]


def wrong_platform(found: str, expected: Platform) -> Rejected:
    """Return the error for an image that is only for the platforms in ``found``."""
    return Rejected(
        f"the archive's image is for {found}, but bots run on {expected}: "
        f"build and save it with --platform={expected}"
    )


def pair(config: ImageConfig, files: list[tuple[str, str | None]], max_layers: int) -> FoundImage:
    """Combine a configuration and its layers' files (name and digest, lowest first) into an image.

    Raises Rejected if there are no layers, more than ``max_layers``, or a different number than the
    configuration lists.
    """
    if not files:
        raise Rejected(
            "the image has no layers: start its Dockerfile with FROM and an image that has your language's "
            "runtime"
        )
    if len(files) > max_layers:
        raise Rejected(
            f"the image has more than {max_layers} layers: merge RUN and COPY steps in its Dockerfile"
        )
    if len(files) != len(config.rootfs.diff_ids):
        raise Rejected(
            f"the archive has {len(files)} layers, but the image's configuration lists "
            f"{len(config.rootfs.diff_ids)}: save the image again"
        )
    return FoundImage(
        config=config,
        layers=tuple(
            FoundLayer(name=name, digest=digest, diff_id=diff_id)
            for (name, digest), diff_id in zip(files, config.rootfs.diff_ids, strict=True)
        ),
    )


INDEX: Final = "index.json"
MAX_MANIFESTS: Final = 256
"""Maximum number of entries in one index."""
MAX_READ: Final = 32
"""Maximum number of indexes, manifests and configurations to read in order to find the image."""

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


class Descriptor(msgspec.Struct, frozen=True, rename="camel"):
    """A reference to a blob."""

    media_type: str
    digest: Annotated[str, msgspec.Meta(pattern=r"^sha256:[0-9a-f]{64}$")]
    size: Annotated[int, msgspec.Meta(ge=0)]
    platform: Platform | None = None  # platform of a manifest, as stated in its index
    annotations: dict[str, str] | None = None
    urls: list[str] | None = None

    @property
    def file(self) -> str:
        """The blob's name in the archive."""
        return f"blobs/sha256/{self.digest.removeprefix('sha256:')}"

    @property
    def is_attestation(self) -> bool:
        """True if this is an attestation rather than an image."""
        stands_for_none = (
            self.platform is not None and self.platform.os == self.platform.architecture == _UNKNOWN
        )
        return stands_for_none or _ATTESTATION in (self.annotations or {})


class Index(msgspec.Struct, frozen=True):
    """A list of manifests and other indexes."""

    manifests: Annotated[list[Descriptor], msgspec.Meta(max_length=MAX_MANIFESTS)]


class Manifest(msgspec.Struct, frozen=True):
    """One image for one platform."""

    config: Descriptor
    layers: list[Descriptor]


class Search:
    """Searches an OCI layout for one platform's image."""

    def __init__(self, archive: Archive, platform: Platform, limits: IntakeLimits) -> None:
        self._archive = archive
        self._platform = platform
        self._limits = limits
        self._read = 0
        self._seen: set[str] = set()
        self._others: dict[str, None] = {}

    def find_image(self) -> FoundImage:
        """Return the only image for the platform.

        Raises Rejected if there are several or none, or the archive is damaged.
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
            raise Rejected("the archive contains no image: send what `docker save IMAGE` writes")
        manifest, config = images[0]
        for layer in manifest.layers:
            _check_layer(layer)
            if self._archive.size(layer.file) != layer.size:
                raise _digest_mismatch(layer)
        return pair(config, [(layer.file, layer.digest) for layer in manifest.layers], self._limits.layers)

    def _images(self, index: Index) -> list[tuple[Manifest, ImageConfig]]:
        """Return the platform's images in an index and in the indexes that it references."""
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
                if self._may_fit(config.platform):
                    images.append((manifest, config))
        return images

    def _may_fit(self, platform: Platform | None) -> bool:
        if platform is None or platform == self._platform:
            return True
        self._others[str(platform)] = None
        return False

    def _document(self, descriptor: Descriptor, kind: type[_Document]) -> _Document:
        self._read += 1
        if self._read > MAX_READ:
            raise Rejected(f"the archive's indexes list more than {MAX_READ} documents: save only one image")
        document = self._archive.document(descriptor.file)
        if len(document) != descriptor.size or hashlib.sha256(document).hexdigest() != descriptor.digest[7:]:
            raise _digest_mismatch(descriptor)
        return parse(document, kind, descriptor.file)


def _check_layer(layer: Descriptor) -> None:
    if layer.urls:
        raise Rejected(
            f"a layer is not in the archive, but at {shown(layer.urls[0])}: "
            "use a parent image without such layers"
        )
    if not layer.media_type.startswith(_LAYERS):
        raise Rejected(
            f"a layer has the unsupported type {shown(layer.media_type)}: save the image with docker save"
        )


def _digest_mismatch(descriptor: Descriptor) -> Rejected:
    return Rejected(
        f"{descriptor.file} doesn't match its digest: it was damaged in transit; "
        "save the image and submit the archive again"
    )


MANIFEST: Final = "manifest.json"


class ManifestEntry(msgspec.Struct, frozen=True):
    """One image in the manifest; its tags are ignored."""

    config: str = msgspec.field(name="Config")
    layers: list[str] = msgspec.field(name="Layers")


def find_image(archive: Archive, platform: Platform, limits: IntakeLimits) -> FoundImage:
    """Return the only image in an archive that has an older engine's format.

    Raises Rejected if there are several or none, or if the image is for another platform or its description
    is damaged.
    """
    entries = parse(archive.document(MANIFEST), list[ManifestEntry], MANIFEST)
    if len(entries) != 1:
        raise Rejected(f"the archive has {len(entries)} images: save one, with `docker save IMAGE`")
    entry = entries[0]
    config = parse(archive.document(_name(entry.config, limits)), ImageConfig, entry.config)
    if config.platform != platform:
        raise wrong_platform(str(config.platform)[:80], platform)
    return pair(
        config, [(_name(layer, limits), None) for layer in entry.layers[: limits.layers + 1]], limits.layers
    )


def _name(name: str, limits: IntakeLimits) -> str:
    return "/".join(split(name.encode(errors="replace"), MANIFEST, limits))
