"""Where a command's data goes: stdout, or a file that appears only when it is whole."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from arena.files import sync

_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


@contextmanager
def opened(target: str, *, private: bool = False) -> Iterator[BinaryIO]:
    """Open a target for writing.

    A file is written beside its place under another name and takes its place
    at the end, when it is on the disk; after an error or an interruption nothing of it is left. Stdout
    (``-``) and devices get the data as it comes.

    Args:
        target: Path of a file, or ``-``.
        private: Whether nobody else may read a file.

    Raises:
        OSError: The target can't be written.
    """
    if target == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(target).resolve()
    if path.is_dir():
        raise IsADirectoryError(f"{target} is a folder; name a file in it")
    if path.exists() and not path.is_file():
        with path.open("wb") as device:
            yield device
        return
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with os.fdopen(os.open(part, _NEW, 0o600 if private else 0o666), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        sync(path.parent)
    finally:
        part.unlink(missing_ok=True)
