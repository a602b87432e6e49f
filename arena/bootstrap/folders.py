"""The folders of an installation: its data, alone or shared, its id, its sockets."""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from arena.backup.note import UNFINISHED
from arena.bootstrap.errors import CannotStart
from arena.settings import Settings


@contextmanager
def alone(folder: Path, *, restoring: bool = False) -> Iterator[None]:
    """Hold the data directory's lock. It goes with this process, however that ends.

    Args:
        folder: The data directory.
        restoring: Whether a backup is restored into it.

    Raises:
        CannotStart: Somebody else holds it, it can't be made, or a backup was restored into it in part only.
    """
    try:
        # A referee that was taken over has another user, and must not read the database.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (folder / "lock").open("w")
    except OSError as error:
        raise CannotStart(f"the data directory {folder.absolute()}: {error.strerror}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotStart(
                f"another arena is running in {folder.absolute()}: end it first, "
                "or name another folder in ARENA_DATA_DIR"
            ) from None
        if not restoring:
            check_restored(folder)
        yield


def check_restored(folder: Path) -> None:
    """Make sure that nobody was ended while a backup was restored into a data directory.

    Raises:
        CannotStart: So it was, or it is done now.
    """
    if (folder / UNFINISHED).exists():
        raise CannotStart(
            f"a backup was restored into {folder.absolute()} in part only: run `arena restore` again"
        )


def install_id(folder: Path) -> str:
    """Return the installation's id, made when the data directory is."""
    file = folder / "install"
    if not file.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = folder / f"install.{os.getpid()}.part"
        part.write_text(secrets.token_hex(4) + "\n")
        with suppress(FileExistsError):  # another process was first
            file.hardlink_to(part)
        part.unlink()
    return file.read_text().strip()


def private_folder(folder: Path, *, setting: str = "ARENA_RUN_DIR") -> Path:
    """Make a folder that nobody else can write to, or make sure that it is one.

    Args:
        folder: It.
        setting: The variable that names another one.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o711)
        status = folder.lstat()
    except OSError as error:
        raise CannotStart(f"the folder {folder} ({setting}): {error.strerror}") from error
    if folder.is_symlink() or status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise CannotStart(
            f"{folder} belongs to somebody else or can be written by others: "
            f"remove it, or name another folder in {setting}"
        )
    return folder


def incoming(settings: Settings) -> Path:
    """Folder of the files on their way."""
    return settings.data_dir / "incoming"
