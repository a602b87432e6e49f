"""The manifest and the folder of exported files, which the site serves. Doesn't import pyarrow."""

from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Final

import msgspec

from arena.platform.files import sync
from arena.platform.settings import Settings
from arena.protocol.decoding import prepared

FORMAT: Final = "kaiten-games/1"
MANIFEST: Final = "manifest.json"
PARQUET: Final = "parquet"
JSON_LINES: Final = "jsonl.gz"


class ExportError(Exception):
    """No files can be made or read now. The message gives the reason and the remedy, if any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedFile:
    """A file with a day's games. It never changes."""

    name: str  # games-DAY.parquet or games-DAY.jsonl.gz
    day: date  # UTC
    bytes: int
    rows: int  # number of games
    sha256: str  # 64 hexadecimal digits
    first: int  # number of the first game
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportManifest:
    """All exported files, oldest day first. A day has both files or neither."""

    format: str = FORMAT
    files: tuple[ExportedFile, ...] = ()

    def since(self, day: date) -> "ExportManifest":
        """Return the manifest without the files of earlier days."""
        return replace(self, files=tuple(file for file in self.files if file.day >= day))


def exports_folder(settings: Settings) -> Path:
    """Return the folder of the exported files."""
    return settings.data_dir / "exports"


def read_manifest(folder: Path) -> ExportManifest:
    """Read a folder's manifest; it is empty if there is no file.

    Raises ExportError if the file is damaged.
    """
    file = folder / MANIFEST
    try:
        return msgspec.json.decode(file.read_bytes(), type=prepared(ExportManifest))
    except FileNotFoundError:
        return ExportManifest()
    except msgspec.DecodeError as error:
        raise ExportError(
            f"{file} is damaged ({error}): delete it, and the arena will recreate all the files"
        ) from error


def encoded(manifest: ExportManifest) -> bytes:
    """Return a manifest as JSON."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"


def write_manifest(folder: Path, manifest: ExportManifest) -> None:
    """Replace a folder's manifest atomically. Raises OSError."""
    new = folder / f"{MANIFEST}.new"
    new.write_bytes(encoded(manifest))
    sync(new)
    new.replace(folder / MANIFEST)
    sync(folder)
