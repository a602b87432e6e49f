"""Export files with made-up content, in the form in which the arena provides them to the site."""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Final

from arena.ops.export.manifest import JSON_LINES, PARQUET, ExportedFile, ExportManifest, write_manifest
from tests.db.builders import START

SIZE: Final = 300_000
_GAMES: Final = 1200
_NOISE: Final = hashlib.shake_256().digest(SIZE)


def name_of(day: date, kind: str = PARQUET) -> str:
    """Return the name of a day's export file."""
    return f"games-{day}.{kind}"


def content_of(name: str) -> bytes:
    """Return a file's content: its name, and then incompressible bytes."""
    return name.encode() + _NOISE[len(name) :]


def manifest_of(days: Sequence[date]) -> ExportManifest:
    """Return a manifest with 1,200 games per day."""
    return ExportManifest(files=tuple(_files(days)))


def _files(days: Sequence[date]) -> Iterator[ExportedFile]:
    for index, day in enumerate(days):
        for name in (name_of(day, JSON_LINES), name_of(day)):
            yield ExportedFile(
                name=name,
                day=day,
                bytes=SIZE,
                rows=_GAMES,
                sha256=hashlib.sha256(content_of(name)).hexdigest(),
                first=_GAMES * index + 1,
                last=_GAMES * index + _GAMES,
            )


def put_files(folder: Path, days: int) -> ExportManifest:
    """Write the files and the manifest for this number of days, beginning with ``START``, to a new folder."""
    folder.mkdir()
    manifest = manifest_of([START.date() + timedelta(days=index) for index in range(days)])
    for file in manifest.files:
        (folder / file.name).write_bytes(content_of(file.name))
    write_manifest(folder, manifest)
    return manifest
