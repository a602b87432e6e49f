"""Which image, where the archive is what ``docker save`` wrote before it wrote OCI layouts.

Source: Docker image specification 1.2, "Combined Image JSON + Filesystem Changeset Format".
"""

from typing import Final

import msgspec

from arena.intake.archive.found import FoundImage, ImageConfig, pair, wrong_platform
from arena.intake.archive.names import split
from arena.intake.archive.outer import Archive, parse
from arena.intake.errors import Rejected
from arena.intake.image import Platform
from arena.intake.limits import IntakeLimits

MANIFEST: Final = "manifest.json"


class Entry(msgspec.Struct, frozen=True):
    """One image in the manifest. The names that its owner gave it are not looked at."""

    config: str = msgspec.field(name="Config")
    layers: list[str] = msgspec.field(name="Layers")


def find_image(archive: Archive, platform: Platform, limits: IntakeLimits) -> FoundImage:
    """Return the archive's only image.

    Raises:
        Rejected: There are several or none, it is for another platform, or its description is damaged.
    """
    entries = parse(archive.document(MANIFEST), list[Entry], MANIFEST)
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
