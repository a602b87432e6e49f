"""Makes the files for finished days, oldest first.

Games are in the order in which they were rated, and each pair of files continues where the previous pair
ended. Therefore, every game is in exactly one pair, even if the clock was wrong: a game that was stored too
late for its day's files is in the next pair.
"""

import hashlib
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec
import structlog

from arena.db.errors import StoreError
from arena.db.public_games import PublicGame, PublicGames
from arena.ops.export.manifest import (
    JSON_LINES,
    MANIFEST,
    PARQUET,
    ExportedFile,
    ExportError,
    ExportManifest,
    exports_folder,
    read_manifest,
    write_manifest,
)
from arena.platform.files import Disk, sync
from arena.platform.periodic import PeriodicTask
from arena.platform.settings import Settings

_log = structlog.get_logger()

_INTERVAL_SECONDS: Final = 600.0

_DAY_END_DELAY: Final = timedelta(hours=1)
"""Time from the end of a day until its files are made, long enough for its last results to be stored."""

_BATCH: Final = 50
_DAY: Final = timedelta(days=1)
_TEMPORARY_PREFIX: Final = "making-"
_BEFORE_FIRST_GAME: Final = date(2000, 1, 1)
"""A day earlier than any game."""


class Exporter:
    """Writes the games of each finished day (UTC) to files, in a process that gets only idle CPU time.

    Files go to ``folder``. A day's files are removed after ``keep_days``, like its replays; 0 means never.
    ``now`` returns the time in UTC.
    """

    def __init__(
        self, games: PublicGames, folder: Path, keep_days: int, disk: Disk, now: Callable[[], datetime]
    ) -> None:
        self._games = games
        self._folder = folder
        self._keep_days = keep_days
        self._disk = disk
        self._now = now
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def make(self) -> None:
        """Make all missing files for finished days, and remove old files.

        Raises ExportError, OSError or StoreError. After an error, the days already exported are kept, and the
        next call exports the rest.
        """
        manifest = read_manifest(self._folder)
        max_age = timedelta(days=self._keep_days)
        oldest = (self._now() - max_age).date() + _DAY if self._keep_days else _BEFORE_FIRST_GAME
        if manifest != (manifest := manifest.since(oldest)):
            write_manifest(self._folder, manifest)
        self._remove_unlisted(manifest)
        while not self._closed and (day := self._next_day(manifest, oldest)) is not None:
            try:
                manifest = self._make_day(day, manifest, oldest)
            except ExportError:
                if not self._closed:
                    raise

    def close(self) -> None:
        """Abandon the day in progress, and don't start another."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.kill()

    def _next_day(self, manifest: ExportManifest, oldest: date) -> date | None:
        """Return the next finished day that has games but no files."""
        last = manifest.files[-1] if manifest.files else None
        first = self._games.first_ended(_since(manifest, oldest), 0 if last is None else last.last)
        if first is None:
            return None
        day = first.date() if last is None else max(first.date(), last.day + _DAY)
        return day if day < (self._now() - _DAY_END_DELAY).date() else None

    def _make_day(self, day: date, manifest: ExportManifest, oldest: date) -> ExportManifest:
        """Make a day's files and return a manifest that includes them."""
        first, last = self._games.numbers(_since(manifest, oldest), _midnight(day + _DAY))
        if manifest.files:
            first = manifest.files[-1].last + 1
        self._folder.mkdir(exist_ok=True)
        files = []
        with TemporaryDirectory(dir=self._folder, prefix=_TEMPORARY_PREFIX) as name:
            temporary = Path(name)
            rows = self._write(temporary, range(first, last + 1), _midnight(oldest))
            for kind in (JSON_LINES, PARQUET):
                with (temporary / kind).open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                new = ExportedFile(
                    name=f"games-{day}.{kind}",
                    day=day,
                    bytes=(temporary / kind).stat().st_size,
                    rows=rows,
                    sha256=digest,
                    first=first,
                    last=last,
                )
                (temporary / kind).replace(self._folder / new.name)
                files.append(new)
        sync(self._folder)
        manifest = replace(manifest, files=(*manifest.files, *files))
        write_manifest(self._folder, manifest)
        _log.info("day exported", day=str(day), games=rows, bytes=sum(file.bytes for file in files))
        return manifest

    def _write(self, folder: Path, numbers: range, since: datetime) -> int:
        """Write both files in another process; return the number of games."""
        rows = 0
        with self._start(folder) as process:
            assert process.stdin is not None  # noqa: S101 - both are pipes
            assert process.stderr is not None  # noqa: S101 - as above
            try:
                with suppress(BrokenPipeError):  # the process has ended: its exit code is checked below
                    for game in self._read_games(numbers, since):
                        process.stdin.write(msgspec.json.encode(game) + b"\n")
                        rows += 1
                    process.stdin.write(b"\n")
            except BaseException:
                process.kill()
                raise
            finally:
                with suppress(BrokenPipeError):
                    process.stdin.close()
            output = process.stderr.read().decode(errors="replace").strip()
        if process.returncode:
            reason = output.splitlines()[-1] if output else f"exit code {process.returncode}"
            raise ExportError(f"the files for one day could not be written: {reason}")
        return rows

    def _read_games(self, numbers: range, since: datetime) -> Iterator[PublicGame]:
        for start in range(0, len(numbers), _BATCH):
            if not self._disk.has_room():
                raise ExportError(
                    f"a day's files were not written: the disk that holds {self._folder} has less free "
                    "space than ARENA_DISK_FLOOR_GIB requires. Free some space"
                )
            yield from self._games.find(numbers[start : start + _BATCH], since)

    def _start(self, folder: Path) -> "subprocess.Popen[bytes]":
        with self._lock:
            if self._closed:
                raise ExportError("the arena is stopping")
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-I", "-m", "arena.ops.export", str(folder)],
                stdin=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
            return self._process

    def _remove_unlisted(self, manifest: ExportManifest) -> None:
        """Remove files that the manifest doesn't list: old ones, and those left by a killed arena."""
        named = {MANIFEST, *(file.name for file in manifest.files)}
        for each in self._folder.iterdir() if self._folder.is_dir() else ():
            if each.name.startswith(_TEMPORARY_PREFIX):
                shutil.rmtree(each)
            elif each.name.startswith("games-") and each.name not in named:
                each.unlink()


def _since(manifest: ExportManifest, oldest: date) -> datetime:
    """Return the earliest time at which a game in the next files may have ended."""
    late = manifest.files[-1].day - _DAY if manifest.files else oldest
    return _midnight(max(oldest, late))


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


@contextmanager
def exporter(games: PublicGames, settings: Settings, now: Callable[[], datetime]) -> Iterator[None]:
    """Export finished days within the context; see :class:`Exporter`."""
    folder = exports_folder(settings)
    disk = Disk(folder, settings.least_free)
    day_exporter = Exporter(games, folder, settings.keep_replays_days, disk, now)
    with PeriodicTask(
        day_exporter.make,
        name="exporter",
        seconds=_INTERVAL_SECONDS,
        expected=(ExportError, OSError, StoreError),
    ):
        try:
            yield
        finally:
            day_exporter.close()
