"""Tests of forged backups, whose hashes are right and whose data is invalid."""

import math
import random
from collections.abc import Callable
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import inspect

from arena.db.database import Database
from arena.images.image import IntakeError
from arena.ops.backup.archive import (
    FORMAT,
    BackupArchive,
    BackupError,
    BackupManifest,
    TableSummary,
    packed,
    unpacked,
)
from arena.ops.backup.making import ArchiveWriter
from tests.ops.backup.places import Spot, Spots, everything
from tests.soak import many

Rows = list[list[Any]]

_CASES = many(4, 24)
"""Number of backups with a random change."""

_ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    7,
    2**40,
    2**63,
    0.5,
    -math.inf,
    math.nan,
    "",
    "x" * 65,
    "\0",
    "sha256:" + "0" * 64,
    b"",
    b"\xff",
    b"{}",
    b"[" * 100_000,
    [],
    [1, 2, 3],
    [[]],
    {"a": 1},
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(9999, 12, 31, tzinfo=UTC),
    msgspec.msgpack.Ext(5, b"x"),
)


@dataclass
class Forgery:
    """A backup that is about to be written."""

    rows: dict[str, Rows]
    columns: dict[str, tuple[str, ...]]
    files: dict[str, bytes]  # all parts except tables
    manifest: dict[str, Any]
    raw: dict[str, bytes] = field(default_factory=dict)  # bytes of tables, used instead of their rows
    counts: dict[str, int] = field(default_factory=dict)  # wrong numbers of rows for the manifest

    @classmethod
    def of(cls, path: Path) -> "Forgery":
        """Read a backup."""
        with BackupArchive.opened(path) as archive:
            its = archive.manifest
            return cls(
                rows={
                    name: [row for batch in unpacked(archive.pieces(f"tables/{name}")) for row in batch]
                    for name in its.tables
                },
                columns={name: table.columns for name, table in its.tables.items()},
                files={
                    name: b"".join(archive.pieces(name))
                    for name in its.parts
                    if not name.startswith("tables/")
                },
                manifest={"revision": its.revision, "version": its.version, "made": its.made},
            )

    def set(self, table: str, column: str, value: object, row: int = 0) -> None:
        """Change one value in a row."""
        self.rows[table][row][self.columns[table].index(column)] = value

    def write(self, path: Path) -> Path:
        """Write the backup, with correct hashes."""
        with path.open("wb") as file, ArchiveWriter(file) as archive:
            for name, rows in self.rows.items():
                content = self.raw.get(name)
                archive.add(
                    f"tables/{name}", packed([rows] if rows else []) if content is None else [content]
                )
            for name, content in self.files.items():
                archive.add(name, [content])
            made = BackupManifest(
                format=FORMAT,
                made=self.manifest["made"],
                version=self.manifest["version"],
                install="forged",
                revision=self.manifest["revision"],
                tables={
                    name: TableSummary(columns=self.columns[name], rows=self.counts.get(name, len(rows)))
                    for name, rows in self.rows.items()
                },
                parts=archive.parts,
            )
            archive.end(made)
        return path


@pytest.fixture(scope="module")
def whole(filled: Path) -> Forgery:
    """Return an unchanged backup of an arena with data of every kind."""
    return Forgery.of(filled / "kept.zip")


@pytest.fixture
def forged(whole: Forgery) -> Forgery:
    """Return a copy of the backup, for changes."""
    return deepcopy(whole)


def restored(path: Path, spot: Spot) -> str | None:
    """Restore a backup. If that fails, check that nothing was written, and return the error."""
    try:
        spot.restore(path)
    except (BackupError, IntakeError) as error:
        said = str(error)
    else:
        with spot.store() as store:
            everything(store)
            store.activity.current(datetime.now(UTC))
        return None
    assert said.isprintable()
    assert spot.is_empty()
    if spot.settings.database_url is not None:
        with closing(Database(spot.settings.url)) as database, database.read() as connection:
            assert inspect(connection).get_table_names() == []
    return said


def _deep(forgery: Forgery) -> None:
    content = b"\x91" * 100_000
    forgery.raw["bot"] = len(content).to_bytes(4) + content


def _no_table(forgery: Forgery) -> None:
    del forgery.rows["meeting"]


def _another_table(forgery: Forgery) -> None:
    forgery.rows["recipe"], forgery.columns["recipe"] = [[1]], ("id",)


def _other_column(forgery: Forgery) -> None:
    forgery.columns["bot"] = ("idea", *forgery.columns["bot"][1:])


def _column_twice(forgery: Forgery) -> None:
    forgery.columns["bot"] = (*forgery.columns["bot"], "id")
    for row in forgery.rows["bot"]:
        row.append(row[0])


def _no_seats(forgery: Forgery) -> None:
    forgery.set("match", "state", "waiting")
    match = forgery.rows["match"][0][forgery.columns["match"].index("id")]
    its = forgery.columns["match_seat"].index("match_id")
    forgery.rows["match_seat"] = [row for row in forgery.rows["match_seat"] if row[its] != match]


def _image(forgery: Forgery) -> None:
    (name,) = (name for name in forgery.files if name.startswith("images/images/"))
    forgery.files[name] = b"{}"


def _blob(forgery: Forgery) -> None:
    name = next(name for name in forgery.files if name.startswith("images/blobs/"))
    forgery.files[name] += b"more"


def _more_than_memory(forgery: Forgery) -> None:
    forgery.raw["bot"] = b"\xff\xff\xff\xff" + bytes(100)


FORGERIES: dict[str, tuple[Callable[[Forgery], None], str]] = {
    "text for a number": (lambda f: f.set("match", "attempt", "7"), "match has an invalid attempt"),
    "a number for text": (lambda f: f.set("bot", "name", 7), "bot has an invalid name"),
    "a number for a truth": (lambda f: f.set("bot", "house", 1), "bot has an invalid house"),
    "text for a moment": (lambda f: f.set("game", "ended", "2026-01-01"), "game has an invalid ended"),
    "text for bytes": (lambda f: f.set("game", "record", "{}"), "game has an invalid record"),
    "an object": (lambda f: f.set("ladder", "players", {"a": 1}), "ladder has an invalid players"),
    "nothing where something must be": (lambda f: f.set("match", "spec", None), "match has an invalid spec"),
    "too long a name": (lambda f: f.set("bot", "name", "x" * 65), "bot has an invalid name"),
    "no number": (lambda f: f.set("rating", "mean", math.nan), "rating has an invalid mean"),
    "an endless number": (
        lambda f: f.set("rating", "deviation", math.inf),
        "rating has an invalid deviation",
    ),
    "a number beyond all numbers": (lambda f: f.set("bot", "id", 2**62), "bot has an invalid id"),
    "a row that is too short": (lambda f: f.rows["bot"][0].pop(), "a row of bot has"),
    "rows that are none": (lambda f: f.raw.update(bot=b"\0\0\0\1\xc1"), "can't be restored"),
    "rows within rows without end": (_deep, "can't be restored"),
    "a batch that no memory holds": (_more_than_memory, "a batch of rows is"),
    "truncated rows": (lambda f: f.raw.update(bot=b"\0\0\0\7abc"), "truncated"),
    "fewer rows than it says": (lambda f: f.counts.update(bot=99), "bot has 6 rows instead of 99"),
    "no such table": (_no_table, "the tables differ from those of revision"),
    "a table too many": (_another_table, "the tables differ from those of revision"),
    "no such column": (_other_column, "the columns of bot differ from those"),
    "a column twice": (_column_twice, "the columns of bot differ from those"),
    "a bot that is not there": (lambda f: f.set("game_seat", "version_id", 999), "foreign key"),
    "a game that is not there": (lambda f: f.set("game_seat", "game_number", 999), "foreign key"),
    "a match twice": (lambda f: f.rows["match"].append(f.rows["match"][0]), "unique"),
    "a state that there is not": (lambda f: f.set("match", "state", "lost"), "check constraint"),
    "no ladder": (lambda f: f.rows["ladder"].clear(), "differ from its log"),
    "numbers that are not the log's": (lambda f: f.set("ladder", "games", 999), "differ from its log"),
    "a match without its seats": (_no_seats, "differs from its specification"),
    "ratings that can't be read": (lambda f: f.set("rating", "times", b"7"), "can't be restored"),
    "a report that can't be read": (lambda f: f.set("host_report", "report", b"7"), "can't be restored"),
    "a moment of glory of no kind": (lambda f: f.set("highlight", "kind", "odd"), "can't be restored"),
    "statistics of no card": (lambda f: f.set("card_count", "card", "odd"), "can't be restored"),
    "a revision of no program": (lambda f: f.manifest.update(revision="head"), "newer"),
    "a revision before all": (
        lambda f: f.manifest.update(revision=""),
        "predates the first release",
    ),
    "an image that is none": (_image, "is damaged"),
    "a blob of another name": (_blob, "a blob's name is not its digest"),
}

IN_THE_DATABASE = (
    "a bot that is not there",
    "a game that is not there",
    "a match twice",
    "a state that there is not",
    "no ladder",
)  # a short run uses two of these
"""Forgeries that the database itself refuses, after accepting other rows."""


@pytest.mark.parametrize("name", list(FORGERIES)[:: many(2, 1)])
def test_a_forged_backup_is_refused(forged: Forgery, spots: Spots, tmp_path: Path, name: str) -> None:
    """The error says what is wrong, and nothing is written."""
    forge, words = FORGERIES[name]
    forge(forged)
    assert words in (restored(forged.write(tmp_path / "forged.zip"), spots.make("there")) or "").lower()


@pytest.mark.postgresql
def test_postgresql_refuses_forged_backups(whole: Forgery, spots: Spots, tmp_path: Path) -> None:
    """After each refusal, the database is empty. The unchanged backup can then be restored."""
    there = spots.make("there", postgresql=True)
    for name in IN_THE_DATABASE[:: many(3, 1)]:
        forge, words = FORGERIES[name]
        forged = deepcopy(whole)
        forge(forged)
        said = (restored(forged.write(tmp_path / "forged.zip"), there) or "").lower()
        assert words in said, name
    assert restored(whole.write(tmp_path / "whole.zip"), there) is None


def test_a_random_change_gives_an_error_or_a_valid_arena(
    whole: Forgery, spots: Spots, tmp_path: Path
) -> None:
    """A value is changed, or a row removed or added. If the result is restored, it can be read."""
    dice, refused = random.Random(5), 0  # noqa: S311 - a test's dice
    for number in range(_CASES):
        forged = deepcopy(whole)
        table = dice.choice([name for name, rows in forged.rows.items() if rows])
        row = dice.randrange(len(forged.rows[table]))
        match dice.randrange(6):
            case 0:
                del forged.rows[table][row]
            case 1:
                forged.rows[table].append(forged.rows[table][row])
            case _:
                forged.set(table, dice.choice(forged.columns[table]), dice.choice(_ODD), row)
        said = restored(forged.write(tmp_path / "forged.zip"), spots.make(f"there-{number}"))
        refused += said is not None
    assert _CASES / 2 < refused < _CASES


def test_the_command_prints_one_line(forged: Forgery, spots: Spots, tmp_path: Path) -> None:
    """The line has no control characters, even if the backup has some."""
    forged.manifest["version"] = "\x1b[2J\n"
    forged.manifest["revision"] = "9\n9"
    forged.write(tmp_path / "forged.zip")
    done = spots.make("there").arena("restore", "forged.zip", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "\x1b" not in done.stderr
