"""Tests of restoring backups. A refused restore changes nothing."""

import os
import random
import zipfile
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import MetaData, text

from arena.app.folders import CannotStart, data_dir_lock
from arena.db.audit import NewAuditEntry
from arena.db.database import Database
from arena.db.errors import DatabaseRefused, DatabaseUnavailable
from arena.db.schema_revision import NEWEST_REVISION, revision_of
from arena.ops.backup.archive import MANIFEST, BackupError, packed, unpacked
from tests.db.builders import START, add_bot, add_matches, claim_one
from tests.db.next_version import NEXT_REVISION, become
from tests.folders import small_disk
from tests.images.builders import keep
from tests.ops.backup.places import Spot, Spots, everything
from tests.soak import many


def altered(kept: Path, to: Path, **changes: object) -> Path:
    """Write a copy of a backup with changes in its manifest."""
    with zipfile.ZipFile(kept) as old, zipfile.ZipFile(to, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == MANIFEST:
                content = msgspec.json.encode(msgspec.json.decode(content) | changes)
            new.writestr(name, content)
    return to


def test_no_deal_of_the_old_arena_is_dealt_again(spots: Spots, tmp_path: Path) -> None:
    """The old arena may have continued after the backup, so its deals may have become public."""
    old, new = spots.make("old"), spots.make("new")
    old.settings.data_dir.mkdir()
    with old.store() as store:
        source = keep(old.images, b"bot").id
        add_matches(store, "s", [add_bot(store, name, source=source) for name in "abc"], matches=2)
        claim_one(store)
    old.back_up(tmp_path / "kept.zip")
    new.restore(tmp_path / "kept.zip")
    dealt = []
    for spot in old, new:
        with spot.store() as store:
            dealt.append(claim_one(store).spec)
    assert dealt[0].match == dealt[1].match
    assert not set(dealt[0].seeds) & set(dealt[1].seeds)


def test_a_restored_arena_equals_the_original(live: Spot, kept: Path, spots: Spots, tmp_path: Path) -> None:
    """Only the installation's id and the audit log differ. The log has an entry on the restore.

    A backup of the restored arena equals the original one, except for the audit log.
    """
    there = spots.make("there")
    manifest = there.restore(kept)
    assert {file.name for file in there.settings.data_dir.iterdir() if file.is_file()} == {
        "lock",
        "arena.sqlite3",
    }
    with live.store() as before, there.store() as after:
        assert everything(after) == everything(before)
        assert [(entry.who, entry.what) for entry in after.accounts.audit(9)] == [
            ("terminal:root", "restore")
        ]
        assert not before.accounts.audit(9)
    assert manifest.install == (live.settings.data_dir / "install").read_text().strip()
    assert not (there.settings.data_dir / "install").exists()
    again = there.back_up(tmp_path / "again.zip")
    differing = {
        name for name in manifest.parts | again.parts if manifest.parts.get(name) != again.parts.get(name)
    }
    assert differing == {"tables/audit"}
    assert manifest.revision == NEWEST_REVISION
    with data_dir_lock(there.settings.data_dir):
        pass


@pytest.mark.postgresql
def test_the_audit_log_survives(live: Spot, spots: Spots, tmp_path: Path) -> None:
    """Entries of the audit log keep their numbers and addresses. Each restore adds an entry."""
    there, back = spots.make("there", postgresql=True), spots.make("back")
    with live.store() as store:
        store.accounts.record(NewAuditEntry(at=START, who="terminal:ann", what="invite", detail="for 3 days"))
        store.accounts.record(
            NewAuditEntry(at=START, who="", what="log-in-failed", subject="account:ben", address="192.0.2.7")
        )
        written = store.accounts.audit(9)
    spot = live
    for next_ in (there, back):
        spot.back_up(tmp_path / "kept.zip")
        next_.restore(tmp_path / "kept.zip")
        spot = next_
    with back.store() as store:
        entries = store.accounts.audit(9)
    assert len(written) == 2
    assert entries[:2] == written
    assert [entry.what for entry in entries[2:]] == ["restore", "restore"]


def test_a_data_directory_with_something_in_it_is_refused(kept: Path, spots: Spots) -> None:
    """Existing files are left unchanged. Empty folders are accepted, since they may be mount points."""
    there = spots.make("there")
    for left in ("a-file", "images/blobs/sha256/00", "arena.sqlite3"):
        file = there.settings.data_dir / left
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("mine")
        with pytest.raises(BackupError, match=f"not empty .{left}.*ARENA_DATA_DIR"):
            there.restore(kept)
        assert file.read_text() == "mine"
        file.unlink()
    there.restore(kept)


def test_files_of_another_sqlite_database_are_refused(kept: Path, spots: Spots, tmp_path: Path) -> None:
    """If only the database file was moved away, SQLite would apply its log to the restored one."""
    there = spots.make("there", url=f"sqlite:///{tmp_path / 'kaiten'}")
    for left in ("kaiten", "kaiten-wal", "kaiten-journal"):
        (tmp_path / left).write_text("theirs")
        with pytest.raises(DatabaseRefused, match=rf"/{left} already exists: move it elsewhere"):
            there.restore(kept)
        assert (tmp_path / left).read_text() == "theirs"
        assert there.is_empty()
        (tmp_path / left).unlink()
    there.restore(kept)


@pytest.mark.postgresql
@pytest.mark.parametrize("killed", [False, True])
def test_a_database_with_something_in_it_is_refused(kept: Path, spots: Spots, killed: bool) -> None:  # noqa: FBT001 - parametrized
    """A database with rows isn't restored to, even if a killed restore has left its marker file."""
    there = spots.make("there", postgresql=True)
    if killed:
        there.settings.data_dir.mkdir()
        (there.settings.data_dir / "restoring").touch()
    with there.store() as store:
        add_bot(store, "mine")
    with pytest.raises(DatabaseRefused, match=r"is not empty .*ARENA_DATABASE_URL"):
        there.restore(kept)
    with there.store() as store:
        assert [bot.name for bot in store.bots.listed()] == ["mine"]
    assert killed or there.is_empty()


@pytest.mark.postgresql
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_restore_killed_at_its_very_end_can_be_completed(
    live: Spot, kept: Path, spots: Spots, tmp_path: Path, kind: str
) -> None:
    """Repeating the restore completes it; another backup is refused. Neither removes anything."""
    there = spots.make("there", postgresql=kind == "postgresql")
    note = there.settings.data_dir / "restoring"
    notes: list[bytes] = []

    def look(_: str) -> None:
        notes.extend([note.read_bytes()] if note.exists() else [])

    there.restore(kept, look)
    with live.store() as before:
        arena = everything(before)
        add_bot(before, "later")
    other = tmp_path / "other.zip"
    live.back_up(other)

    note.write_bytes(notes[-1])
    with (
        pytest.raises(CannotStart, match="run `arena restore` again"),
        data_dir_lock(there.settings.data_dir),
    ):
        pass
    there.restore(kept)
    assert not note.exists()
    note.write_bytes(notes[-1])
    with pytest.raises((BackupError, DatabaseRefused), match=r"is not empty|already exists: move"):
        there.restore(other)
    with data_dir_lock(there.settings.data_dir), there.store() as after:
        assert everything(after) == arena
        assert [entry.what for entry in after.accounts.audit(9)] == ["restore"]
    assert there.files() == {"u1.py": live.files()["u1.py"]}


def test_a_disk_with_too_little_room_for_the_database_is_an_error(
    live: Spot, kept: Path, spots: Spots, tmp_path: Path, root: None
) -> None:
    """The disk has room for SQLite's log, but not for the database too. SQLite itself reports no error."""
    del root
    size = (live.settings.data_dir / "arena.sqlite3").stat().st_size
    with small_disk(tmp_path, size=size * 3 // 2) as disk:
        there = spots.make("there", url=f"sqlite:///{disk / 'kaiten'}")
        with pytest.raises(DatabaseUnavailable, match=r"disk is full\. Check that its disk"):
            there.restore(kept)
        assert not list(disk.iterdir())
    assert there.is_empty()


def test_a_running_arena_is_left_alone(kept: Path, spots: Spots) -> None:
    """A restore needs the data directory's lock."""
    there = spots.make("there")
    with data_dir_lock(there.settings.data_dir), pytest.raises(CannotStart, match="another arena is running"):
        there.restore(kept)


def test_files_that_are_cut_off_are_refused(kept: Path, spots: Spots, tmp_path: Path) -> None:
    """A truncated file is refused, at whatever byte it ends."""
    there, whole, dice = spots.make("there"), kept.read_bytes(), random.Random(1)  # noqa: S311 - a test's dice
    cut = tmp_path / "cut.zip"
    cuts = (dice.randrange(len(whole)) for _ in range(many(2, 20)))
    for length in (0, 1, len(whole) // 2, len(whole) - 1, *cuts):
        cut.write_bytes(whole[:length])
        with pytest.raises(BackupError, match=r"cut\.zip is (not a backup|damaged)"):
            there.restore(cut)
    assert there.is_empty()


def test_files_that_were_changed_are_refused(kept: Path, spots: Spots, tmp_path: Path) -> None:
    """A changed byte is detected, unless it doesn't affect the archive's content."""
    whole, dice = kept.read_bytes(), random.Random(2)  # noqa: S311 - a test's dice
    changed = tmp_path / "changed.zip"
    with zipfile.ZipFile(kept) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    refused, tries = list[str](), many(8, 60)
    for number in range(tries):
        bytes_ = bytearray(whole)
        bytes_[dice.randrange(len(whole))] ^= 1 << dice.randrange(8)
        changed.write_bytes(bytes_)
        there = spots.make(f"there-{number}")
        try:
            there.restore(changed)
        except BackupError as error:
            refused.append(str(error))
            assert there.is_empty()
        else:
            with zipfile.ZipFile(changed) as file:
                assert {name: file.read(name) for name in parts} == parts
    assert len(refused) > tries * 2 / 3
    assert all("is damaged" in each or "is not a backup" in each for each in refused)


@pytest.mark.parametrize(("at", "value"), [(8, 0x01), (10, 0x0E), (10, 0x63)])
def test_parts_with_another_compression_are_refused(
    kept: Path, spots: Spots, tmp_path: Path, at: int, value: int
) -> None:
    """The cases are encryption, an unknown compression method, and the wrong one."""
    bytes_ = bytearray(kept.read_bytes())
    bytes_[bytes_.index(b"PK\x01\x02") + at] = value
    changed = tmp_path / "changed.zip"
    changed.write_bytes(bytes_)
    there = spots.make("there")
    with pytest.raises(BackupError, match=r"changed\.zip is damaged"):
        there.restore(changed)
    assert there.is_empty()


def test_a_backup_of_a_newer_program_is_refused(kept: Path, spots: Spots, tmp_path: Path) -> None:
    """If the format or the revision of the tables is newer, the error says what to do."""
    there = spots.make("there")
    with pytest.raises(BackupError, match=r"format is kaiten-backup/2.*install that version"):
        there.restore(altered(kept, tmp_path / "format.zip", format="kaiten-backup/2"))
    with pytest.raises(BackupError, match=r"tables are at revision 9999.*install that version"):
        there.restore(altered(kept, tmp_path / "revision.zip", revision="9999"))
    assert there.is_empty()


def test_parts_outside_the_data_directory_are_refused(kept: Path, spots: Spots, tmp_path: Path) -> None:
    """Names that lead out of the data directory are invalid."""
    with zipfile.ZipFile(kept) as file:
        parts = msgspec.json.decode(file.read(MANIFEST))["parts"]
    evil = altered(kept, tmp_path / "evil.zip", parts=parts | {"uploads/../../evil.py": parts["tables/bot"]})
    with pytest.raises(BackupError, match="not a backup"):
        spots.make("there").restore(evil)


@pytest.mark.parametrize("content", [b"", b"This is a shopping list."])
def test_another_file_is_refused(spots: Spots, tmp_path: Path, content: bytes) -> None:
    """The error about a file that is no backup is a single line."""
    (tmp_path / "list.txt").write_bytes(content)
    done = spots.make("there").arena("restore", "list.txt", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("arena: list.txt is not a backup")
    assert done.stderr.count("\n") == 1


def test_a_backup_from_before_the_first_release_is_refused(kept: Path, spots: Spots, tmp_path: Path) -> None:
    """No part of such a backup is written. The error says how to start without it, and how to use it."""
    there = spots.make("there")
    old = altered(kept, tmp_path / "old.zip", revision="0018")
    said = "revision 0018, which predates the first release.*: start an arena without it"
    with pytest.raises(BackupError, match=f"{said}.*restore it with the version that made it"):
        there.restore(old)
    assert there.is_empty()


@pytest.mark.postgresql
@pytest.mark.parametrize("to", ["sqlite", "postgresql"])
def test_an_older_revision_is_migrated(
    live: Spot, kept: Path, spots: Spots, monkeypatch: pytest.MonkeyPatch, to: str
) -> None:
    """The restored rows are migrated as they would have been in the original database."""
    there = spots.make("there", postgresql=to == "postgresql")
    become(monkeypatch, kept.parent)
    assert there.restore(kept).revision == NEWEST_REVISION
    asked = text("SELECT name, nickname FROM bot ORDER BY id")
    with live.store() as upgraded, there.store() as store:
        assert everything(store) == everything(upgraded)
        assert store.ladder.rebuild().differing == 0
    with closing(Database(there.settings.url)) as database, database.read() as connection:
        assert revision_of(connection, database.url) == NEXT_REVISION
        named = connection.execute(asked).all()
        assert named
        assert all(nickname == name.upper() for name, nickname in named)


def test_without_an_arena_there_is_no_backup(spots: Spots, tmp_path: Path) -> None:
    """Without an arena, no file is created."""
    done = spots.make("nowhere").arena("backup", "kept.zip", folder=tmp_path)
    assert done.returncode == 2
    assert "no arena in" in done.stderr
    assert not list(tmp_path.iterdir())


def test_rows_come_back_however_the_bytes_are_cut() -> None:
    """The bytes may come in pieces of any size. Missing bytes at the end are an error."""
    batches = [[[number, f"text {number}", os.urandom(number), 0.1 * number, None]] for number in range(9)]
    content = b"".join(packed(batches))
    for size in (1, 3, 7, 100, len(content)):
        pieces = (content[start : start + size] for start in range(0, len(content), size))
        assert list(unpacked(pieces)) == batches
    with pytest.raises(ValueError, match="truncated"):
        list(unpacked([content[:-1]]))


@pytest.mark.postgresql
def test_a_restored_database_has_all_foreign_keys(kept: Path, spots: Spots) -> None:
    """On PostgreSQL, foreign keys are added to each table after its rows. None is left out."""
    there, new = (spots.make(name, postgresql=True) for name in ("there", "new"))
    there.restore(kept)
    with new.store():
        pass
    assert foreign_keys(there) == foreign_keys(new) != set()


def foreign_keys(spot: Spot) -> set[tuple[str, str, tuple[str, ...], tuple[str, ...]]]:
    """Return the name, table, columns and targets of each foreign key."""
    with closing(Database(spot.settings.url)) as database, database.read() as connection:
        found = MetaData()
        found.reflect(connection)
    return {
        (
            str(key.name),
            table.name,
            tuple(key.column_keys),
            tuple(element.target_fullname for element in key.elements),
        )
        for table in found.tables.values()
        for key in table.foreign_key_constraints
    }
