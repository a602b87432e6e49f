"""Folders for what is being taken in: gone afterwards, or with the next prune where a process was killed."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from arena.intake.errors import IntakeTrouble
from arena.intake.store import GRACE


@contextmanager
def workspace(parent: Path) -> Iterator[Path]:
    """Give an empty folder for this process's user alone, and remove it afterwards.

    Raises:
        IntakeTrouble: It can't be made.
    """
    try:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = tempfile.TemporaryDirectory(dir=parent, ignore_cleanup_errors=True)
    except OSError as error:
        raise IntakeTrouble(f"could not make a folder in {parent}: {error}") from error
    with folder as name:
        yield Path(name)


def remove_left(parent: Path, now: datetime) -> None:
    """Remove the folders that killed processes have left."""
    if not parent.is_dir():
        return
    for folder in parent.iterdir():
        with suppress(FileNotFoundError):  # its own process has removed it meanwhile
            if now - datetime.fromtimestamp(folder.lstat().st_mtime, UTC) >= GRACE:
                shutil.rmtree(folder, ignore_errors=True)
