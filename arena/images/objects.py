"""A folder of objects, on this host's disk or anywhere else that fsspec can reach.

The interface is limited to what object stores offer: an object appears whole or not at all, is never changed
in place, and has a name, a size and a modification time.
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

from arena.images.image import IntakeError
from arena.platform.files import sync

CHUNK: Final = 1024 * 1024
_PASSWORD: Final = re.compile(r"://.*@")
"""Credentials in a URL. They are removed from errors, which are logged and shown to authors."""

INCOMING: Final = "incoming"
"""Folder of incomplete objects, including those that killed processes left behind."""


class Objects:
    """Stores objects under names such as ``images/1234``.

    ``url`` is an fsspec URL, or a path to a folder on this host. If ``make`` is True, a missing local folder
    is created, and only this user can access it. The constructor and all methods raise IntakeError if the
    storage fails.
    """

    def __init__(self, url: str, *, make: bool = True) -> None:
        self._safe_url = _PASSWORD.sub("://***@", url)
        try:
            # Other processes write there too, so don't cache listings.
            self._files, self._root = fsspec.url_to_fs(url, use_listings_cache=False)
            if isinstance(self._files, LocalFileSystem) and not make:
                next(Path(self._root).iterdir(), None)
            elif isinstance(self._files, LocalFileSystem):
                Path(self._root).mkdir(mode=0o700, parents=True, exist_ok=True)
        except (ValueError, ImportError, OSError) as error:
            raise IntakeError(
                f"images can't be stored in {self._safe_url} ({error}): check ARENA_IMAGES_URL"
            ) from error

    def __str__(self) -> str:
        return self._safe_url

    def read(self, name: str) -> bytes | None:
        """Return a small object, or None if it doesn't exist."""
        with self._storage_errors("read", name):
            try:
                content: bytes = self._files.cat_file(self._path(name))
            except FileNotFoundError:
                return None
            return content

    def pieces(self, name: str) -> Iterator[bytes]:
        """Yield an object in pieces. Also raises IntakeError if it doesn't exist."""
        with self._storage_errors("read", name), self._files.open(self._path(name), "rb") as file:
            while piece := file.read(CHUNK):
                yield piece

    def write(self, name: str, pieces: Iterable[bytes]) -> None:
        """Create or replace an object. If this raises, nothing has changed."""
        part = self._path(f"{INCOMING}/{secrets.token_hex(16)}")
        path = self._path(name)
        with self._storage_errors("write", name):
            try:
                for folder in {posixpath.dirname(part), posixpath.dirname(path)}:
                    self._files.makedirs(folder, exist_ok=True)
                with self._files.open(part, "wb") as file:
                    for piece in pieces:
                        file.write(piece)
                    file.flush()
                    with suppress(io.UnsupportedOperation):  # only local disks support it
                        os.fsync(file.fileno())
                # On this host this is a rename; elsewhere it is a copy, which also appears whole.
                self._files.mv(part, path)
                if isinstance(self._files, LocalFileSystem):
                    sync(Path(path).parent)
            except BaseException:
                with suppress(OSError):
                    self._files.rm_file(part)
                raise

    def remove(self, name: str) -> None:
        """Remove an object, if it exists."""
        with self._storage_errors("remove", name), suppress(FileNotFoundError):
            self._files.rm_file(self._path(name))

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the sizes in bytes of a folder's objects, by the last part of their names."""
        with self._storage_errors("list", folder):
            try:
                found = self._files.ls(self._path(folder), detail=True)
            except FileNotFoundError:
                return {}
            return {
                posixpath.basename(entry["name"]): entry["size"] for entry in found if entry["type"] == "file"
            }

    def written(self, name: str) -> datetime | None:
        """Return when an object was written, or None if it doesn't exist."""
        with self._storage_errors("inspect", name):
            try:
                moment: datetime = self._files.modified(self._path(name))
            except FileNotFoundError:
                return None
            return moment

    def _path(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"

    @contextmanager
    def _storage_errors(self, doing: str, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise IntakeError(
                f"could not {doing} {name} in {self._safe_url}: {error or type(error).__name__}. "
                f"Check that {self._safe_url} exists, that the arena's user has access to it, and that its "
                "disk has free space"
            ) from error
