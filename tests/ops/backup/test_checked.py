"""Tests of the checks during a backup: no backup is made that could not be restored."""

import os
import shutil
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from arena.app.backup import make_backup
from arena.db.database import Database
from arena.images.image import IntakeError
from arena.ops.backup.archive import BackupError
from arena.platform.settings import Settings
from tests.ops.backup.places import Spot, Spots, everything


def change(spot: Spot, statement: str) -> None:
    """Change an arena's SQLite database in a way that no arena would."""
    with closing(Database(spot.settings.url)) as database, database.write() as connection:
        connection.execute(text("PRAGMA ignore_check_constraints = ON"))
        assert connection.execute(text(statement)).rowcount > 0


CHANGES = {
    "a sum that became inexact": ("UPDATE card_count SET seen = 1e19", "card_count has an invalid seen"),
    "a sum beyond all that count": (
        "UPDATE rating SET games = 1152921504606846976",
        "rating has an invalid games",
    ),
    "what PostgreSQL has no room for": (
        "UPDATE match SET voids = 1099511627776",
        "match has an invalid voids",
    ),
    "a name that is too long": ("UPDATE bot SET author = printf('%065d', 0)", "bot has an invalid author"),
    "what PostgreSQL has no character for": (
        "UPDATE bot SET author = 'a' || char(0)",
        "bot has an invalid author",
    ),
    "text for a number": ("UPDATE game_seat SET points = 'ten'", "game_seat has an invalid points"),
    "text for bytes": ("UPDATE game SET record = 'ten'", "game has an invalid record"),
    "no number": ("UPDATE rating SET mean = 9e999 WHERE players = 0", "rating has an invalid mean"),
    "no moment": ("UPDATE bot_version SET created = 'today'", "isoformat"),
    "no list": ("UPDATE ladder SET players = '[2'", "restored"),
    "numbers that are not the log's": ("UPDATE ladder SET games = 999", "differ from its log"),
    "ratings that can't be read": ("UPDATE rating SET times = x'37'", "restored"),
}


def test_data_that_could_not_be_restored_is_not_backed_up(live: Spot, tmp_path: Path) -> None:
    """The error says what is wrong with the data."""
    for name, (statement, words) in CHANGES.items():
        spot = Spot(Settings(data_dir=tmp_path / name, disk_floor_gib=0))
        shutil.copytree(live.settings.data_dir, spot.settings.data_dir)
        change(spot, statement)
        with pytest.raises(BackupError) as error:
            spot.back_up(tmp_path / "kept.zip")
        said = str(error.value)
        assert said.startswith("no backup was made: the database has a value that can't be restored: "), name
        assert words in said, name
    live.back_up(tmp_path / "kept.zip")


def test_an_arena_without_its_images_is_not_backed_up(live: Spot, tmp_path: Path) -> None:
    """If every image in use is missing, the image store is probably not mounted."""
    images = live.settings.data_dir / "images"
    images.rename(tmp_path / "away")
    with pytest.raises(IntakeError, match=r"none of the \d+ images .* check that it is mounted"):
        live.back_up(tmp_path / "kept.zip")
    images.rmdir()
    (tmp_path / "away").rename(images)
    live.back_up(tmp_path / "kept.zip")


def test_a_failed_backup_keeps_the_previous_one(live: Spot, tmp_path: Path) -> None:
    """A failed backup leaves the previous file unchanged, and no other file."""
    change(live, "UPDATE card_count SET seen = 1e19")
    (tmp_path / "kept.zip").write_bytes(b"that of yesterday")
    before = set(tmp_path.iterdir())
    done = live.arena("backup", "kept.zip", folder=tmp_path)
    assert done.returncode == 2
    assert "card_count has an invalid seen" in done.stderr.splitlines()[-1]
    assert (tmp_path / "kept.zip").read_bytes() == b"that of yesterday"
    assert set(tmp_path.iterdir()) == before


def test_a_failed_backup_on_stdout_is_cut_off(live: Spot, spots: Spots, tmp_path: Path) -> None:
    """A truncated backup can't be restored."""
    change(live, "UPDATE card_count SET seen = 1e19")
    done = live.arena("backup", "-", folder=tmp_path)
    assert done.returncode == 2
    assert "card_count has an invalid seen" in done.stderr
    (tmp_path / "arrived.zip").write_bytes(done.stdout.encode(errors="surrogateescape"))
    restored = spots.make("there").arena("restore", "arrived.zip", folder=tmp_path)
    assert restored.returncode == 2
    assert "arrived.zip is" in restored.stderr


def test_a_backup_is_read_back_before_it_is_reported(live: Spot, spots: Spots, tmp_path: Path) -> None:
    """A backup in a file is verified. One on stdout can't be, but it can be piped to another host."""
    made = live.arena("backup", "kept.zip", folder=tmp_path)
    assert made.returncode == 0
    assert "arena: verifying the backup\narena: backup written and verified: " in made.stderr
    piped = live.arena("backup", "-", folder=tmp_path)
    assert piped.returncode == 0
    assert "It went to stdout, so it was not verified" in piped.stderr
    dropped = live.arena("backup", "/dev/null", folder=tmp_path)
    assert dropped.returncode == 0
    assert "It went to /dev/null, so it was not verified" in dropped.stderr
    there = spots.make("there")
    (tmp_path / "piped.zip").write_bytes(piped.stdout.encode(errors="surrogateescape"))
    assert there.arena("restore", "piped.zip", folder=tmp_path).returncode == 0
    with live.store() as before, there.store() as after:
        assert everything(after) == everything(before)


@pytest.mark.parametrize("at", [100, -22])
def test_a_disk_that_returns_other_data_is_detected(live: Spot, tmp_path: Path, at: int) -> None:
    """A changed byte is detected anywhere in the file."""
    path = tmp_path / "kept.zip"

    def flip(said: str) -> None:
        file.flush()
        if said == "verifying the backup":
            with path.open("r+b") as disk:
                disk.seek(at, os.SEEK_SET if at > 0 else os.SEEK_END)
                byte = disk.read(1)
                disk.seek(-1, os.SEEK_CUR)
                disk.write(bytes([byte[0] ^ 1]))

    with (
        path.open("w+b") as file,
        pytest.raises(BackupError, match="the disk returned data"),
    ):
        make_backup(live.settings, file, flip)
    with live.store() as store:
        assert everything(store)
