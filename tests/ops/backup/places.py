"""Arenas to back up, and places in which to restore them."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.app.backup import make_backup, restore_backup
from arena.app.intake import images_of
from arena.db.store import Store, open_store
from arena.images.image import BotImage
from arena.images.store import ImageStore
from arena.ops.backup.archive import BackupManifest
from arena.platform.settings import Settings
from tests.cli.command import arena
from tests.databases import sqlite_store
from tests.db.builders import add_bot
from tests.db.test_submissions import PLENTY, new
from tests.images.builders import keep
from tests.postgresql import Cluster


@dataclass(frozen=True, slots=True)
class Spot:
    """The place of an existing or future arena: its data directory and database."""

    settings: Settings

    def arena(self, *words: str, folder: Path) -> "subprocess.CompletedProcess[str]":
        """Run a command on the arena, from this folder."""
        return arena(*words, folder=folder, **self.environment)

    @property
    def environment(self) -> dict[str, str]:
        """Return the settings of the place as environment variables."""
        named = {"ARENA_DATA_DIR": str(self.settings.data_dir)}
        if self.settings.database_url is not None:
            named["ARENA_DATABASE_URL"] = self.settings.database_url
        return named

    def back_up(self, path: Path) -> BackupManifest:
        """Back up the arena to a file."""
        with path.open("w+b") as file:
            return make_backup(self.settings, file, lambda _: None)

    def restore(self, path: Path, say: Callable[[str], None] = lambda _: None) -> BackupManifest:
        """Restore a backup here."""
        return restore_backup(self.settings, path, "terminal:root", say)

    @contextmanager
    def store(self) -> Iterator[Store]:
        """Yield the arena's store."""
        url, file = self.settings.database_url, self.settings.data_dir / "arena.sqlite3"
        with closing(sqlite_store(file) if url is None else open_store(url)) as store:
            yield store

    @property
    def images(self) -> ImageStore:
        """Return the arena's image store."""
        return images_of(self.settings)

    def is_empty(self) -> bool:
        """Return whether the data directory has no file but the lock."""
        return {file.name for file in self.settings.data_dir.rglob("*") if not file.is_dir()} <= {"lock"}

    def files(self) -> dict[str, bytes]:
        """Return the names and contents of the arena's uploads."""
        folder = self.settings.data_dir / "uploads"
        return {file.name: file.read_bytes() for file in folder.iterdir()} if folder.is_dir() else {}


class Spots:
    """Creates places in a folder, with databases on SQLite or in a PostgreSQL cluster."""

    def __init__(self, folder: Path, cluster: Cluster | None) -> None:
        self._folder = folder
        self._cluster = cluster
        self._databases = ExitStack()

    def make(self, name: str, *, postgresql: bool = False, url: str | None = None) -> Spot:
        """Create a place with an empty database, whose data directory doesn't exist yet."""
        url = self._database() if postgresql else url
        return Spot(Settings(data_dir=self._folder / name, database_url=url, disk_floor_gib=0))

    def remove(self) -> None:
        """Drop the databases."""
        self._databases.close()

    def _database(self) -> str:
        assert self._cluster is not None
        name = self._databases.enter_context(self._cluster.database("template1"))
        return self._cluster.address(name, scheme="postgresql+psycopg")


def settle(spot: Spot, *, size: int = 4000) -> BotImage:
    """Create an arena with a stored bot and an upload of this size in progress. Return the bot's image."""
    spot.settings.data_dir.mkdir(mode=0o700)
    image = keep(spot.images, b"base" * 1000, b"bot" * 1000)
    with spot.store() as store:
        add_bot(store, "submitted", source=image.id)
        store.submissions.add(new("u1", "on-its-way"), PLENTY)
    uploads = spot.settings.data_dir / "uploads"
    uploads.mkdir()
    (uploads / "u1.py").write_bytes(os.urandom(size))
    (uploads / "nobody.py").write_bytes(b"of no submission")
    return image


def everything(store: Store) -> list[Any]:
    """Return the data that an arena shows."""
    return [
        *(store.ratings.standings(players) for players in (0, 2, 3, 4, 5)),
        store.games.newest(limit=10_000),
        store.cards.find(),
        store.accounts.all(),
        store.submissions.newest(),
        store.bots.listed(),
        store.ladder.settings(),
        store.activity.hosts(),
    ]
