"""The interface for building bots' images and the arena's own."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltImage:
    """An image in the engine's store, whether built, pulled or imported."""

    id: str  # the engine's id for the image
    digest: str  # `REPOSITORY@sha256:…`, or the id if the image isn't from a registry
    labels: Mapping[str, str]


class ImageBuilder(Protocol):
    """Builds, pulls and exports an engine's images. Thread-safe. Every method may raise RuntimeFailure."""

    def platform(self) -> tuple[str, str]:
        """Return the images' platform in Go's terms, such as ``("linux", "amd64")``."""

    def find(self, name: str) -> BuiltImage | None:
        """Return the image with this name or id, or None if there is none."""

    def build(
        self, folder: Path, *, tag: str, labels: Mapping[str, str], arguments: Mapping[str, str]
    ) -> BuiltImage:
        """Build an image from a folder with a Dockerfile. Nothing is pulled, and the steps have no network.

        The engine caches steps, so repeated builds are fast, and the id stays the same if nothing has
        changed. If a step fails, the error contains the end of the build's output.
        """

    def import_root(self, archive: Path, name: str, labels: Mapping[str, str]) -> None:
        """Create an image from a tar archive of a root file system."""

    def resolve(self, name: str) -> str:
        """Ask the registry which image a tag refers to now, and return it as ``REPOSITORY@sha256:…``."""

    def pull(self, name: str) -> BuiltImage:
        """Pull an image from its registry."""

    def tag(self, image: BuiltImage, name: str) -> None:
        """Give an image another name."""

    def export(self, id_: str) -> Iterator[bytes]:
        """Yield an image in chunks, in the format of ``docker save``."""

    def close(self) -> None:
        """Close connections."""
