"""What a backup says of itself: the last part of the file, so that a file that was cut off has none."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

MANIFEST: Final = "manifest.json"
FORMAT: Final = "kaiten-backup/1"

TABLES: Final = "tables"
UPLOADS: Final = "uploads"
IMAGES: Final = "images"
BLOBS: Final = f"{IMAGES}/blobs/sha256"
"""Folders of the parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One of the files within.

    Attributes:
        size: Bytes.
        sha256: Hexadecimal.
    """

    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSummary:
    """A table of the database; its rows are in the part ``tables/NAME``.

    Attributes:
        columns: Names, in the order of the values of a row.
        rows: How many there are.
    """

    columns: tuple[str, ...]
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a backup holds.

    Attributes:
        format: ``kaiten-backup/1``.
        made: When it was begun, UTC.
        version: Of the program that made it.
        install: Id of the installation that it is of.
        revision: Of the database's tables.
        tables: By name.
        parts: All others than the manifest, by name.
    """

    format: str
    made: datetime
    version: str
    install: str
    revision: str
    tables: dict[str, TableSummary]
    parts: dict[str, Part]

    def rows(self, table: str) -> int:
        """Return how many rows a table has; none where there was no such table yet."""
        return self.tables[table].rows if table in self.tables else 0

    def names(self, folder: str) -> tuple[str, ...]:
        """Return the names of the parts in a folder, without it, in their order."""
        prefix = f"{folder}/"
        return tuple(name.removeprefix(prefix) for name in self.parts if name.startswith(prefix))
