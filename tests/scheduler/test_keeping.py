"""Test that a coordinator keeps leases up to date when other parts of it fail."""

import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from arena.db.database import Database
from arena.db.leases import LEASE_SECONDS
from arena.db.store import open_store
from arena.protocol.match import RuntimeName
from tests.databases import sqlite_store
from tests.db.builders import SetClock
from tests.patience import WAIT_SECONDS
from tests.scheduler.test_coordinator import Notes, ladder_of, play


def test_leases_expire_even_if_worker_status_can_not_be_stored(tmp_path: Path, run_dir: Path) -> None:
    """A dead coordinator's match is requeued."""
    clock, notes = SetClock(), Notes()
    file = tmp_path / "arena.sqlite3"
    sqlite_store(file).close()
    url = f"sqlite:///{file}"
    with closing(open_store(url, clock)) as store, closing(Database(url)) as other:
        ladder_of(store).add_match()
        assert store.leases.claim("dead", "worker", datetime.now(UTC), RuntimeName.PROCESS)
        clock.seconds += LEASE_SECONDS + 1
        with other.write() as connection:
            connection.exec_driver_sql(
                "CREATE TRIGGER defect BEFORE INSERT ON worker BEGIN SELECT RAISE(ABORT, 'a defect'); END"
            )
        end = time.monotonic() + WAIT_SECONDS
        # Until the loss is noticed, the coordinator only plays the waiting match.
        play(store, run_dir, notes, refill=lambda: not notes.lost and time.monotonic() < end)
        assert len(notes.lost) == 1
        assert notes.voided == []
        assert store.activity.totals().matches_running == 0
