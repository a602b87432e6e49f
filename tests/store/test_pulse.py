"""Whether anybody has written."""

from contextlib import closing
from pathlib import Path

import pytest

from arena.store import open_store
from arena.store.database import Database
from arena.store.pulse import Pulse
from tests.store.builders import add_bot


def test_it_beats_with_every_commit(sqlite_url: str) -> None:
    """Whoever writes, through this store or another one; and with nothing else."""
    with closing(open_store(sqlite_url)) as store, closing(open_store(sqlite_url)) as other:
        beats = [store.pulse(), store.pulse()]
        add_bot(store, "a")
        beats += [store.pulse(), store.pulse()]
        add_bot(other, "b")
        store.reads.leaderboard()
        beats += [store.pulse(), store.pulse()]
        assert beats[0] == beats[1] != beats[2] == beats[3] != beats[4] == beats[5]
        assert None not in beats


def test_what_was_rolled_back_is_nothing(sqlite_url: str) -> None:
    """A transaction that fails leaves no trace."""
    with closing(open_store(sqlite_url)) as store:
        add_bot(store, "a", author="ann")
        before = store.pulse()
        with pytest.raises(Exception, match="belongs to"):
            add_bot(store, "a", author="ben")
        assert store.pulse() == before


@pytest.mark.postgresql
def test_postgresql_has_none(postgresql_url: str) -> None:
    """It would have to be asked as for anything else."""
    with closing(open_store(postgresql_url)) as store:
        assert store.pulse() is None


def test_what_is_no_database_has_none(tmp_path: Path) -> None:
    """Whoever asks goes on to ask the database, which says what is wrong."""
    (tmp_path / "arena.sqlite3").write_bytes(b"rubbish " * 999)
    pulse = Pulse(Database(f"sqlite:///{tmp_path / 'arena.sqlite3'}"))
    assert pulse() is None
    pulse.close()
    pulse.close()
