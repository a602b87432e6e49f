"""Arenas to back up, and places to restore to."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.app.intake import images_of
from arena.db.store import Store, open_store
from arena.images.image import BotImage
from arena.images.store import ImageStore
from arena.platform.settings import Settings
from tests.cli.command import arena
from tests.db.builders import add_bot
from tests.db.test_submissions import PLENTY, new
from tests.images.builders import keep
from tests.postgresql import Cluster


@dataclass(frozen=True, slots=True)
class Spot:
    """A data directory and a database, of an arena that there is or will be."""

    settings: Settings

    def arena(self, *words: str, folder: Path) -> "subprocess.CompletedProcess[bytes]":
        """Run a command that works on it, in a folder."""
        return arena(*words, folder=folder, text=b"", **self.environment)

    @property
    def environment(self) -> dict[str, str]:
        """Name it to a command."""
        named = {"ARENA_DATA_DIR": str(self.settings.data_dir)}
        if self.settings.database_url is not None:
            named["ARENA_DATABASE_URL"] = self.settings.database_url
        return named

    @contextmanager
    def store(self) -> Iterator[Store]:
        """Give its store."""
        with closing(open_store(self.settings.url)) as store:
            yield store

    @property
    def images(self) -> ImageStore:
        """Its images."""
        return images_of(self.settings)

    def files(self) -> dict[str, bytes]:
        """Return all of its files on their way."""
        folder = self.settings.data_dir / "uploads"
        return {file.name: file.read_bytes() for file in folder.iterdir()} if folder.is_dir() else {}


class Spots:
    """Makes spots in a folder, and databases in a cluster.

    Args:
        folder: For their data directories.
        cluster: Of PostgreSQL; None where all are on SQLite.
    """

    def __init__(self, folder: Path, cluster: Cluster | None) -> None:
        self._folder = folder
        self._cluster = cluster
        self._databases = ExitStack()

    def make(self, name: str, *, postgresql: bool = False) -> Spot:
        """Make a spot whose data directory is not there yet and whose database is empty."""
        url = self._database() if postgresql else None
        return Spot(Settings(data_dir=self._folder / name, database_url=url, disk_floor_gib=0))

    def remove(self) -> None:
        """Remove the databases."""
        self._databases.close()

    def _database(self) -> str:
        assert self._cluster is not None
        name = self._databases.enter_context(self._cluster.database("template1"))
        return self._cluster.address(name, scheme="postgresql+psycopg")


def settle(spot: Spot, *, size: int = 4000) -> BotImage:
    """Let an arena have a bot whose image is kept, and a file of this many bytes on its way.

    Returns:
        The image.
    """
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
    """Return what an arena shows and knows."""
    return [
        *(store.ratings.standings(players) for players in (0, 2, 3, 4, 5)),
        store.games.newest(limit=10_000),
        store.cards.find(),
        store.people.accounts(),
        store.submissions.newest(),
        store.bots.listed(),
        store.ladder.settings(),
        store.activity.hosts(),
    ]
