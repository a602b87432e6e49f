"""``arena admin rebuild-statistics``, as an operator types it."""

from contextlib import closing
from pathlib import Path

from sqlalchemy import create_engine, text

from arena.db.database import Database
from arena.db.store import Store, open_store
from tests.builders import fill
from tests.cli.command import arena


def opened(folder: Path) -> Store:
    """Open the arena's store."""
    (folder / "data").mkdir(exist_ok=True)
    return open_store(address(folder))


def address(folder: Path) -> str:
    """Return where the arena's database is."""
    return f"sqlite:///{folder / 'data' / 'arena.sqlite3'}"


def test_games_are_counted_anew_and_it_is_written_down(tmp_path: Path) -> None:
    """Where nothing differs, where something does, and where there are games older than the statistics."""
    with closing(opened(tmp_path)) as store:
        fill(store)
        before = store.cards.find()

    same = arena("admin", "rebuild-statistics", folder=tmp_path)
    assert (same.returncode, same.stdout) == (0, b"8 games counted, 0 sums differed\n"), same.stderr

    engine = create_engine(address(tmp_path))
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM card_count WHERE turn = 1 AND card = 1"))
    engine.dispose()
    mended = arena("admin", "rebuild-statistics", folder=tmp_path)
    assert (mended.returncode, mended.stdout) == (1, b"8 games counted, 2 sums differed\n")

    with closing(Database(address(tmp_path))) as database, database.write() as connection:
        for statement in (
            "DELETE FROM card_count",
            "DELETE FROM card_games",
            "UPDATE ladder SET cards_from = games + 1",
        ):
            connection.execute(text(statement))
    first = arena("admin", "rebuild-statistics", folder=tmp_path)
    told = "8 games counted; games before 13 had not been counted"
    assert (first.returncode, first.stdout.decode()) == (0, f"{told}\n"), first.stderr

    with closing(opened(tmp_path)) as store:
        assert store.cards.find() == before
        *_, last = entries = store.people.audit(9)
        assert [entry.what for entry in entries] == ["rebuild-statistics"] * 3
        assert last.detail == told
