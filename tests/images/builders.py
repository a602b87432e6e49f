"""Small images, and stores for them."""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from arena.images.image import BotImage, Command, Layer, Platform
from arena.images.objects import Objects
from arena.images.store import ImageStore, PrunePolicy

NOW = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)
"""Later than anything that a test writes, so that nothing is too recent to be pruned."""

PLENTY = PrunePolicy(quota=1 << 40, keep=frozenset)


def layer(content: bytes) -> Layer:
    """Return the layer with this content."""
    return Layer(digest=f"sha256:{hashlib.sha256(content).hexdigest()}", size=len(content))


def image(*contents: bytes, name: str = "bot") -> BotImage:
    """Return an image whose layers have these contents, and which starts the program ``name``."""
    return BotImage(
        platform=Platform("linux", "amd64"),
        command=Command(entrypoint=(name,)),
        layers=tuple(map(layer, contents)),
    )


class Contents:
    """Provides the layers' contents, and records which were requested."""

    def __init__(self, *contents: bytes) -> None:
        self.asked: list[str] = []
        self._contents = {layer(content).digest: content for content in contents}

    def __call__(self, wanted: Layer) -> Iterator[bytes]:
        """Yield a layer's content in two pieces."""
        self.asked.append(wanted.digest)
        content = self._contents[wanted.digest]
        yield content[:3]
        yield content[3:]


def store_in(folder: Path) -> ImageStore:
    """Return a store in a folder of this host."""
    return ImageStore(Objects(str(folder / "images")), folder / "images.lock")


def keep(
    store: ImageStore, *contents: bytes, name: str = "bot", now: datetime = NOW, policy: PrunePolicy = PLENTY
) -> BotImage:
    """Add an image with these layers and return it."""
    added = image(*contents, name=name)
    store.add(added, Contents(*contents), policy, now)
    return added


def blobs(folder: Path) -> set[str]:
    """Return the digests of all blobs of the store in a folder."""
    return {f"sha256:{file.name}" for file in (folder / "images" / "blobs" / "sha256").iterdir()}
