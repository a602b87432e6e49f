"""A folder of objects, on this host's disk or wherever else fsspec reaches.

Only what object stores have too is relied on: an object appears whole or not at all, is never changed in
place, and has a name, a size and the time at which it was written.
"""

import io
import os
import posixpath
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final

import fsspec
from fsspec.implementations.local import LocalFileSystem

from arena.intake.errors import IntakeTrouble

CHUNK: Final = 1024 * 1024
_PASSWORD: Final = re.compile(r"://.*@")
"""What may stand before a host: errors reach logs, and authors whose submissions wait."""

INCOMING: Final = "incoming"
"""Where objects are until they are whole; what a killed process leaves here is nobody's."""


class Objects:
    """Objects by their names, such as ``images/1234``.

    Args:
        url: Of the folder, as fsspec writes it; a plain path is one on this host.
        make: Whether it is made where it is missing, on this host for its user alone.

    Raises:
        IntakeTrouble: It can't be used.
    """

    def __init__(self, url: str, *, make: bool = True) -> None:
        self._shown = _PASSWORD.sub("://***@", url)
        try:
            # Other processes write there too, so no listing may be remembered.
            self._files, self._root = fsspec.url_to_fs(url, use_listings_cache=False)
            if isinstance(self._files, LocalFileSystem) and not make:
                next(Path(self._root).iterdir(), None)
            elif isinstance(self._files, LocalFileSystem):
                Path(self._root).mkdir(mode=0o700, parents=True, exist_ok=True)
        except (ValueError, ImportError, OSError) as error:
            raise IntakeTrouble(
                f"images can't be kept in {self._shown}: {error}; see ARENA_IMAGES_URL"
            ) from error

    def __str__(self) -> str:
        return self._shown

    def read(self, name: str) -> bytes | None:
        """Return a small object, or None where there is none.

        Raises:
            IntakeTrouble: It can't be read.
        """
        with self._trouble("read", name):
            try:
                content: bytes = self._files.cat_file(self._path(name))
            except FileNotFoundError:
                return None
            return content

    def pieces(self, name: str) -> Iterator[bytes]:
        """Yield an object in pieces.

        Raises:
            IntakeTrouble: It is not there, or can't be read.
        """
        with self._trouble("read", name), self._files.open(self._path(name), "rb") as file:
            while piece := file.read(CHUNK):
                yield piece

    def write(self, name: str, pieces: Iterable[bytes]) -> None:
        """Make an object, or put another in its place. Where this raises, nothing has changed.

        Raises:
            IntakeTrouble: It can't be written.
        """
        part = self._path(f"{INCOMING}/{secrets.token_hex(16)}")
        path = self._path(name)
        with self._trouble("write", name):
            try:
                for folder in {posixpath.dirname(part), posixpath.dirname(path)}:
                    self._files.makedirs(folder, exist_ok=True)
                with self._files.open(part, "wb") as file:
                    for piece in pieces:
                        file.write(piece)
                    file.flush()
                    with suppress(io.UnsupportedOperation):  # only a disk of this host knows of it
                        os.fsync(file.fileno())
                # A rename on this host; elsewhere a copy, which also appears whole.
                self._files.mv(part, path)
            except BaseException:
                with suppress(OSError):
                    self._files.rm_file(part)
                raise

    def remove(self, name: str) -> None:
        """Remove an object. Does nothing where there is none.

        Raises:
            IntakeTrouble: It can't be removed.
        """
        with self._trouble("remove", name), suppress(FileNotFoundError):
            self._files.rm_file(self._path(name))

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the sizes in bytes of a folder's objects, by their last names.

        Raises:
            IntakeTrouble: They can't be listed.
        """
        with self._trouble("list", folder):
            try:
                found = self._files.ls(self._path(folder), detail=True)
            except FileNotFoundError:
                return {}
            return {
                posixpath.basename(entry["name"]): entry["size"] for entry in found if entry["type"] == "file"
            }

    def written(self, name: str) -> datetime | None:
        """Return when an object was written, or None where there is none.

        Raises:
            IntakeTrouble: Nobody can tell.
        """
        with self._trouble("look at", name):
            try:
                moment: datetime = self._files.modified(self._path(name))
            except FileNotFoundError:
                return None
            return moment

    def _path(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"

    @contextmanager
    def _trouble(self, doing: str, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise IntakeTrouble(
                f"could not {doing} {name} in {self._shown}: {error or type(error).__name__}. "
                "Is it there, may this user write to it, has its disk space left?"
            ) from error
