"""An installation's folders, lock and id, and its sources of time and randomness."""

import fcntl
import os
import random
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from arena.db.store import Store, open_store
from arena.platform.files import UNFINISHED_RESTORE, sync
from arena.platform.settings import Settings
from arena.scheduler.ladder import Entropy


class CannotStart(Exception):
    """The arena can't start. The message says why and what to do."""


INSTALL_SIZE: Final = 8
"""Length of an installation's id."""


@contextmanager
def data_dir_lock(folder: Path, *, restoring: bool = False) -> Iterator[None]:
    """Lock the data directory within the context. The lock is also released if this process is killed.

    If ``restoring`` is True, an unfinished restore in the directory is accepted, so that the caller can
    restore a backup there. Raises CannotStart if another process has the lock, the directory can't be
    created, or it contains an unfinished restore.
    """
    try:
        # The referee runs as another user. Even if it is compromised, it can't read the database.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (folder / "lock").open("w")
    except OSError as error:
        raise _unusable(folder, error) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotStart(
                f"another arena is running in {folder.absolute()}: stop it first, "
                "or set ARENA_DATA_DIR to another folder"
            ) from None
        except OSError as error:  # for example, if the file system doesn't support locks
            raise _unusable(folder, error) from error
        if not restoring:
            check_restored(folder)
        yield


def check_restored(folder: Path) -> None:
    """Check that a data directory contains no unfinished restore.

    Raises CannotStart if a restore was killed or is in progress there.
    """
    if (folder / UNFINISHED_RESTORE).exists():
        raise CannotStart(f"the restore into {folder.absolute()} is incomplete: run `arena restore` again")


def install_id(folder: Path) -> str:
    """Return the installation's id. Create it and the data directory if they don't exist.

    Raises CannotStart if they can't be created or read.
    """
    file = folder / "install"
    try:
        if not file.exists():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Random, because processes in other containers may have the same id.
            part = folder / f"install.{secrets.token_hex(4)}.part"
            part.write_text(secrets.token_hex(INSTALL_SIZE // 2) + "\n")
            sync(part)  # otherwise a power failure could leave an empty file
            with suppress(FileExistsError):  # another process was faster
                file.hardlink_to(part)
            part.unlink()
            sync(folder)  # otherwise the next start could choose another id
        return file.read_text().strip()
    except OSError as error:
        raise _unusable(folder, error) from error


def _unusable(folder: Path, error: OSError) -> CannotStart:
    return CannotStart(
        f"can't use the data directory {folder.absolute()} ({error.strerror}): give this user access to "
        "it, or set ARENA_DATA_DIR to another folder"
    )


def private_folder(folder: Path, *, setting: str = "ARENA_RUN_DIR") -> Path:
    """Create a folder if it doesn't exist, and check that only this user can write to it.

    Raises CannotStart with a message that suggests setting the variable ``setting`` to another folder.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o711)
        status = folder.lstat()
    except OSError as error:
        raise CannotStart(
            f"can't create the folder {folder} ({error.strerror}): set {setting} to another folder"
        ) from error
    if folder.is_symlink() or status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise CannotStart(
            f"{folder} is a symbolic link, belongs to another user or is writable by others: "
            f"remove it, or set {setting} to another folder"
        )
    return folder


def incoming(settings: Settings) -> Path:
    """Return the folder for files that are being processed."""
    return settings.data_dir / "incoming"


_ID_BYTES: Final = 6


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def real_entropy() -> Entropy:
    """Return the real clock, and unpredictable ids, seeds and dice."""
    return Entropy(
        now=utc_now,
        new_id=lambda: secrets.token_hex(_ID_BYTES),
        new_seed=lambda: secrets.token_bytes(16),
        dice=random.SystemRandom(),
    )


def open_results(settings: Settings) -> Store:
    """Open the store of an existing arena without migrating it.

    Raises StoreError, or CannotStart if there is no arena, or only an unfinished restore.
    """
    check_restored(settings.data_dir)
    file = settings.data_dir.absolute() / "arena.sqlite3"
    if settings.database_url is None and not file.is_file():
        raise CannotStart(
            f"no arena in {settings.data_dir.absolute()}: run `make demo`, "
            "or set ARENA_DATA_DIR to an arena's folder"
        )
    return open_store(settings.url, migrates=False)
