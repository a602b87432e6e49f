"""Which images have to go when there are more than the quota allows: those that were used longest ago."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from arena.intake.image import BotImage


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """An image that is kept.

    Attributes:
        id: Of the image.
        blobs: The digests of its layers and its configuration.
        used: When it was last used; when it was added, if that was later.
    """

    id: str
    blobs: frozenset[str]
    used: datetime


def blobs_of(image: BotImage) -> dict[str, int]:
    """Return the sizes in bytes of an image's layers and of its configuration, by their digests."""
    return {layer.digest: layer.size for layer in image.layers} | {image.id: len(image.config())}


def longest_unused(
    images: Collection[Kept],
    sizes: Mapping[str, int],
    *,
    room: int,
    spared: Collection[str],
    needed: Collection[str] = (),
) -> tuple[Kept, ...]:
    """Return the images to remove, so that the blobs of all others fit.

    Args:
        images: All that are kept.
        sizes: Of all blobs, in bytes, by their digests. What no image has stays, and counts.
        room: What all blobs together may take, in bytes.
        spared: Ids of images that stay whatever it costs.
        needed: Blobs that stay, though perhaps no image that stays has them.

    Returns:
        As few as it takes, those that were used longest ago first. If even all that may go are not
        enough, all of them.
    """
    users = dict.fromkeys(sizes, 0)
    for image in images:
        for digest in image.blobs & sizes.keys():
            users[digest] += 1
    taken = sum(sizes.values())
    gone = []
    for image in sorted(images, key=lambda image: (image.used, image.id)):
        if taken <= room:
            break
        if image.id in spared:
            continue
        gone.append(image)
        for digest in image.blobs & sizes.keys():
            users[digest] -= 1
            if not users[digest] and digest not in needed:
                taken -= sizes[digest]
    return tuple(gone)
