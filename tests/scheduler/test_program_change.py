"""Tests of a new version that is installed, or migrates the database, while a coordinator is running."""

from contextlib import closing
from pathlib import Path

import pytest

from arena.app.arena import ProgramFiles
from arena.db.database import Database
from arena.db.matches import FinishedMatch
from arena.db.store import Store
from arena.play.launcher import MatchVoid
from arena.play.launcher.slots import SlotPool
from arena.protocol.match import MatchRecord, RuntimeName
from arena.scheduler.coordinator import ArenaError
from arena.scheduler.settling import MatchEvent
from arena.scheduler.workers import local_workers
from tests.scheduler.test_coordinator import AT_ONCE, Notes, QuickLauncher, coordinator_of, ladder_of, play


class _NewReferee(QuickLauncher):
    """A launcher that changes the program, so that the new referee can't read the match."""

    def __init__(self, run_dir: Path, program: Path) -> None:
        super().__init__(run_dir)
        self._program = program

    def _play(self, *_: object) -> MatchRecord:
        (self._program / "spec.py").write_text("seats = 2\n")
        raise MatchVoid("the referee exited with code 1")


class _Upgrade(Notes):
    """Changes the program after the first match."""

    def __init__(self, program: Path) -> None:
        super().__init__()
        self._program = program

    def __call__(self, event: MatchEvent) -> None:
        super().__call__(event)
        if isinstance(event, FinishedMatch):
            (self._program / "new.py").write_text("")


def _program(tmp_path: Path) -> Path:
    folder = tmp_path / "arena"
    folder.mkdir()
    (folder / "spec.py").write_text("")
    return folder


def _play(store: Store, notes: Notes, launcher: QuickLauncher, program: Path) -> dict[str, int]:
    """Queue two matches, and run a coordinator until it exits. Count the waiting matches and the games."""
    files = ProgramFiles(program)
    ladder = ladder_of(store)
    ladder.add_match()
    ladder.add_match()
    with local_workers(launcher, SlotPool(5, 0.4), "host") as workers:
        coordinator = coordinator_of(store, workers, notes, AT_ONCE, program_changed=files.changed)
        with pytest.raises(ArenaError, match="files have changed since it started"):
            coordinator.run(ladder.add_match)
    return {"waiting": store.queue.waiting(RuntimeName.PROCESS), "games": store.activity.totals().games}


def test_matches_in_progress_are_played_and_no_more(store: Store, run_dir: Path, tmp_path: Path) -> None:
    """The coordinator, which would otherwise run forever, exits after storing the matches in progress."""
    program = _program(tmp_path)
    notes = _Upgrade(program)
    left = _play(store, notes, QuickLauncher(run_dir), program)
    assert left["games"] == sum(len(match.games) for match in notes.finished) > 0
    assert not notes.voided
    assert not notes.lost


def test_a_match_that_fails_after_an_upgrade_is_requeued(store: Store, run_dir: Path, tmp_path: Path) -> None:
    """A failure due to an upgrade doesn't count, so it can't quarantine the match."""
    program = _program(tmp_path)
    notes = Notes()
    left = _play(store, notes, _NewReferee(run_dir, program), program)
    assert left["waiting"] >= 2  # the coordinator may have drawn a third match before it noticed the change
    assert left["games"] == 0
    assert not notes.voided
    assert not notes.lost


def test_only_the_programs_own_files_count(tmp_path: Path) -> None:
    """Python files that change, appear or vanish count; compiled ones and other files don't."""
    program = _program(tmp_path)
    files = ProgramFiles(program)
    (program / "__pycache__").mkdir()
    (program / "__pycache__" / "spec.cpython-311.pyc").write_bytes(b"x")
    (program / "notes.txt").write_text("x")
    assert not files.changed()
    (program / "spec.py").write_text("x = 1\n")
    assert files.changed()
    files = ProgramFiles(program)
    (program / "spec.py").unlink()
    assert files.changed()


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
