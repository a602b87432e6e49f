"""Exported files of days, as the arena leaves them for the site, with made-up content."""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Final

from arena.ops.export.manifest import JSON_LINES, PARQUET, ExportedFile, ExportManifest, write_manifest
from tests.db.builders import START

SIZE: Final = 300_000
_GAMES: Final = 1200


def name_of(day: date, kind: str = PARQUET) -> str:
    """Return the name of a day's file."""
    return f"games-{day}.{kind}"


def content_of(name: str) -> bytes:
    """Return what is in a file: nothing that can be compressed."""
    return hashlib.shake_256(name.encode()).digest(SIZE)


def manifest_of(days: Sequence[date]) -> ExportManifest:
    """Return the manifest of days with 1,200 games each."""
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
    """Put the files of some days into a folder, from ``START`` on."""
    folder.mkdir()
    manifest = manifest_of([START.date() + timedelta(days=index) for index in range(days)])
    for file in manifest.files:
        (folder / file.name).write_bytes(content_of(file.name))
    write_manifest(folder, manifest)
    return manifest
