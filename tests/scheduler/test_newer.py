"""Test of a newer program that migrates the database while an older coordinator is playing."""

from contextlib import closing
from pathlib import Path

import pytest

from arena.db.database import Database
from arena.db.matches import FinishedMatch
from arena.db.store import Store
from arena.scheduler.coordinator import ArenaError
from arena.scheduler.settling import MatchEvent
from tests.scheduler.test_coordinator import Notes, ladder_of, play


def test_nothing_is_played_or_stored_after_a_newer_migration(
    store: Store, tmp_path: Path, run_dir: Path
) -> None:
    """The coordinator exits and says why. It claims no more matches, and voids none."""
    url = f"sqlite:///{tmp_path / 'arena.sqlite3'}"

    class Overtaken(Notes):
        def __call__(self, event: MatchEvent) -> None:
            super().__call__(event)
            if isinstance(event, FinishedMatch):
                with closing(Database(url)) as newer, newer.write() as connection:
                    connection.exec_driver_sql("UPDATE kaiten_schema SET version_num = 'newer'")

    notes = Overtaken()
    ladder_of(store).add_match()
    with pytest.raises(ArenaError, match="at revision newer, but this program needs"):
        play(store, run_dir, notes)
    assert len(notes.finished) == 1
    assert store.activity.totals().games == len(notes.finished[0].games)
    assert notes.voided == []
    assert notes.lost == []
