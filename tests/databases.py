"""SQLite databases of new arenas. Each process creates one and copies it, which is thirty times as fast."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from arena.db.store import Store, open_store


@cache
def _empty() -> bytes:
    with TemporaryDirectory() as folder:
        file = Path(folder, "arena.sqlite3")
        open_store(f"sqlite:///{file}").close()
        return file.read_bytes()


def sqlite_store(file: Path) -> Store:
    """Open the store in a file. If the file doesn't exist, create that of a new arena."""
    if not file.exists():
        file.write_bytes(_empty())
    return open_store(f"sqlite:///{file}")
