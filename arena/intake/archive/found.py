"""An image as an archive describes it, before anything of it is believed."""

from dataclasses import dataclass

import msgspec

from arena.intake.command import Settings
from arena.intake.errors import Rejected
from arena.intake.image import Platform


class RootFs(msgspec.Struct, frozen=True):
    """The layers, by the digests of their uncompressed tars."""

    diff_ids: list[str]


class ImageConfig(msgspec.Struct, frozen=True):
    """An image's configuration (OCI image specification 1.1, "Image Configuration")."""

    os: str
    architecture: str
    rootfs: RootFs
    config: Settings | None = None

    @property
    def platform(self) -> Platform:
        """What the image runs on."""
        return Platform(self.os, self.architecture)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundLayer:
    """A layer in the archive.

    Attributes:
        name: Of its file there.
        digest: Of that file, compressed as it may be; None where the archive states none.
        diff_id: Of its tar, uncompressed.
    """

    name: str
    digest: str | None
    diff_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundImage:
    """An image in the archive: its configuration and its layers, the lowest first."""

    config: ImageConfig
    layers: tuple[FoundLayer, ...]


def wrong_platform(found: str, wanted: Platform) -> Rejected:
    """Return the refusal of an image for another platform.

    Args:
        found: The platforms that there are, in words.
        wanted: The arena's.
    """
    return Rejected(
        f"the archive's image is for {found}, but bots run on {wanted}: "
        f"build and save it with --platform={wanted}"
    )


def pair(config: ImageConfig, files: list[tuple[str, str | None]], most: int) -> FoundImage:
    """Return the image of a configuration and its layers' files.

    Args:
        config: The image's configuration.
        files: Name and digest of each layer's file, the lowest first.
        most: So many layers are taken.

    Raises:
        Rejected: There are none, too many, or not those of the configuration.
    """
    if not files:
        raise Rejected("the image has no layers: give its Dockerfile a FROM with your language in it")
    if len(files) > most:
        raise Rejected(f"the image has more than {most} layers: join RUN and COPY steps of its Dockerfile")
    if len(files) != len(config.rootfs.diff_ids):
        raise Rejected(
            f"the archive names {len(files)} layers, but the image's configuration "
            f"{len(config.rootfs.diff_ids)}: save the image again"
        )
    return FoundImage(
        config=config,
        layers=tuple(
            FoundLayer(name=name, digest=digest, diff_id=diff_id)
            for (name, digest), diff_id in zip(files, config.rootfs.diff_ids, strict=True)
        ),
    )
