"""The results of an arena that exists, whether it runs or not."""

from arena.bootstrap.errors import CannotStart
from arena.bootstrap.folders import check_restored
from arena.settings import Settings
from arena.store import Store, open_store


def open_results(settings: Settings) -> Store:
    """Open the store of an arena that exists, to read it.

    Raises:
        CannotStart: There is none, or a part of one.
        StoreError: The database can't be used.
    """
    check_restored(settings.data_dir)
    file = settings.data_dir.absolute() / "arena.sqlite3"
    if settings.database_url is None and not file.is_file():
        raise CannotStart(
            f"there is no arena in {settings.data_dir.absolute()}: run `make demo`, "
            "or name its folder in ARENA_DATA_DIR"
        )
    return open_store(settings.url)
