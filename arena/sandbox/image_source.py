"""The seam between an engine and wherever submitted images are kept."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptImage:
    """An image that can be given to an engine.

    Attributes:
        config: Its configuration, of which its id is the digest.
        archive: Gives it in pieces, as ``docker save`` writes it, under the name that it is called with.
            May raise RuntimeTrouble at any piece; the pieces before it then are no image.
    """

    config: bytes
    archive: Callable[[str], Iterator[bytes]]


class ImageSource(Protocol):
    """Images by their ids. Every method may be called from any thread, and may raise RuntimeTrouble."""

    @property
    def repository(self) -> str:
        """Under which an engine is to know these images, and no others, such as ``kaiten/submitted-1a2b``."""

    def find(self, id_: str) -> KeptImage | None:
        """Return the image with this id, which is about to be used, or None where it is not kept."""

    def ids(self) -> Collection[str]:
        """Return the ids of all images that are kept."""
