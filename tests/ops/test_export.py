"""Tests of exported games, with real stores, files and processes."""

import gzip
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from arena.db.database import Database
from arena.db.errors import DatabaseUnavailable
from arena.db.public_games import PublicGame, PublicGames
from arena.db.store import Store
from arena.ops.export.making import Exporter
from arena.ops.export.manifest import MANIFEST, ExportError, ExportManifest, read_manifest, write_manifest
from arena.platform.files import Disk
from arena.play.replay.document import parse
from arena.play.replay.verify import verify
from arena.rules import Rules
from tests.accounts.world import World
from tests.builders import BOTS, START, add_bots, finish, play_matches
from tests.databases import sqlite_store
from tests.db.builders import add_account, claim_one, new_challenge, new_match, present
from tests.demo.running import children
from tests.web.stable import fill_games

DAY = START.date()
NIGHT = datetime(2026, 11, 4, 2, tzinfo=UTC)
"""When the first day's games are exported."""
FULL = 2**62
ROOT = Path(__file__).parents[2]


def exporter(
    store: Store, folder: Path, now: datetime = NIGHT, *, keep_days: int = 0, least_free: int = 0
) -> Exporter:
    """Return an exporter to a folder."""
    return Exporter(store.public_games, folder, keep_days, Disk(folder, least_free), lambda: now)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Yield a store with twelve games of one day."""
    with closing(World.at(tmp_path)) as world:
        world.filled(fill_games)
        yield world.store


def play_on(store: Store, at: datetime, name: str) -> None:
    """Play a match of one game that ends at this time."""
    versions = add_bots(store, [(f"{name}-a", "house"), (f"{name}-b", "house")])
    store.queue.add(new_match(name, versions, deals=1))
    assert store.results.record(finish(claim_one(store), random.Random(name), ended=at))  # noqa: S311 - a game


def play_challenge(store: Store) -> str:
    """Play a challenge on the first day, and return the challenge's ID."""
    account = add_account(store, "ann")
    versions = [candidate.version for candidate in store.ratings.candidates()][:2]
    store.challenges.add(new_challenge("challenged", account.id, versions, deals=1), max_a_day=9)
    claim = claim_one(store)
    assert store.results.record(finish(claim, random.Random(1), ended=START))  # noqa: S311 - a game
    return claim.spec.match


def lines(folder: Path, day: date = DAY) -> list[dict[str, Any]]:
    """Return the games in a day's JSON Lines file."""
    with gzip.open(folder / f"games-{day}.jsonl.gz") as file:
        return [json.loads(line) for line in file]


def rows(folder: Path, day: date = DAY) -> list[dict[str, Any]]:
    """Return the games in a day's Parquet file."""
    found: list[dict[str, Any]] = pq.read_table(folder / f"games-{day}.parquet").to_pylist()
    return found


def names(folder: Path) -> set[str]:
    """Return the names of everything in a folder."""
    return {each.name for each in folder.iterdir()}


def test_the_files_have_every_rated_game_and_no_other(store: Store, tmp_path: Path) -> None:
    """The games are as in the API, with every move, but without authors."""
    folder = tmp_path / "exports"
    play_on(store, START + timedelta(days=1), "next")
    challenged = play_challenge(store)
    exporter(store, folder, NIGHT + timedelta(days=1)).make()
    days = sorted({file.day for file in read_manifest(folder).files})
    assert len(days) == 2
    found = [row for day in days for row in rows(folder, day)]
    texts = [line for day in days for line in lines(folder, day)]
    games = store.games.newest(limit=1000)[::-1]
    assert [row["number"] for row in found] == list(range(1, len(games) + 1))
    for each in (found, texts):
        assert [game["game"] for game in each] == [game.game for game in games]
        assert challenged not in str(each)
    for row, line in zip(found, texts, strict=True):
        _compare(row, line, present(store.games.find(row["game"])))


def _compare(row: dict[str, Any], line: dict[str, Any], page: Any) -> None:  # noqa: ANN401 - a page
    replay = json.loads(page.replay)
    for seat in replay["seats"]:
        seat["author"] = ""
    more = {key: line.pop(key) for key in line.keys() - replay.keys()}
    assert line == replay
    assert verify(parse(json.dumps(line))) is None
    taken_over = [seat.taken_over for seat in page.seats]
    assert more | {"ended": datetime.fromisoformat(more["ended"])} == {
        "match": page.match,
        "number": page.number,
        "ended": page.ended,
        "taken_over": taken_over,
    }
    seats = row.pop("seats")
    for name in ("bot", "version", "points", "puddings", "place", "faults", "taken_over"):
        assert [seat[name] for seat in seats] == [getattr(seat, name) for seat in page.seats], name
    assert [seat["pudding_points"] for seat in seats] == replay["puddings"]["scores"][: page.players]
    variants = {name: name in page.variants for name in ("pass_both_ways", "soy_sauce", "dummy")}
    assert row == variants | {
        "game": page.game,
        "match": page.match,
        "number": page.number,
        "ended": page.ended,
        "players": page.players,
        **{name: replay[name] for name in ("seed", "shuffle", "rounds", "deals", "turns")},
    }


def test_a_day_is_finished_an_hour_after_its_end_and_never_changes(store: Store, tmp_path: Path) -> None:
    """Days without games have no files. Games stored too late are in the next day's files."""
    folder = tmp_path / "exports"
    exporter(store, folder, datetime(2026, 11, 4, 0, 59, tzinfo=UTC)).make()
    assert not folder.exists()
    exporter(store, folder).make()
    before = {each.name: each.stat() for each in folder.glob("games-*")}
    play_on(store, START + timedelta(hours=11), "late")
    play_on(store, START + timedelta(days=5), "later")
    exporter(store, folder, START + timedelta(days=5)).make()
    assert read_manifest(folder).files[-1].day == date(2026, 11, 4)
    assert [row["game"] for row in rows(folder, date(2026, 11, 4))] == ["late-0"]
    exporter(store, folder, START + timedelta(days=6)).make()
    assert [row["game"] for row in rows(folder, date(2026, 11, 8))] == ["later-0"]
    assert {file.day.day for file in read_manifest(folder).files} == {3, 4, 8}
    assert before == {name: (folder / name).stat() for name in before}


def test_a_wrong_clock_loses_no_game(store: Store, tmp_path: Path) -> None:
    """A day may be closed too early. Games with a future time are in the current day's files."""
    folder = tmp_path / "exports"
    exporter(store, folder).make()
    play_on(store, START + timedelta(days=365), "ahead")
    play_on(store, START + timedelta(hours=1), "now")
    play_on(store, START + timedelta(days=1), "next")
    exporter(store, folder, START + timedelta(days=2)).make()
    assert [row["game"] for row in rows(folder, date(2026, 11, 4))] == ["ahead-0", "now-0", "next-0"]


class Interrupted(PublicGames):
    """A database's games, with a callback before the second batch is read."""

    def __init__(self, file: Path, happen: Callable[[], None]) -> None:
        self._database = Database(f"sqlite:///{file}")
        super().__init__(self._database)
        self._happen = happen

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def find(self, numbers: range, since: datetime) -> tuple[PublicGame, ...]:
        """Read games, and call the callback before the second batch."""
        if numbers[0] > 1:
            self._happen()
        return super().find(numbers, since)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database with more games than one batch."""
    file = tmp_path_factory.mktemp("played") / "arena.sqlite3"
    with closing(sqlite_store(file)) as store:
        play_matches(store, [add_bots(store, BOTS)[:2]] * 30, Rules(players=2), name="many")
    return file


@pytest.fixture
def many(played: Path, tmp_path: Path) -> None:
    """Copy the database to the test's folder."""
    shutil.copy(played, tmp_path)


_ARENA = """
import os, signal, sys
from pathlib import Path
from arena.platform.files import Disk
from arena.ops.export.making import Exporter
from tests.ops.test_export import NIGHT, Interrupted
folder = Path(sys.argv[2])
games = Interrupted(Path(sys.argv[1]), lambda: os.kill(os.getpid(), signal.SIGKILL))
Exporter(games, folder, 0, Disk(folder, 0), lambda: NIGHT).make()
"""


@pytest.mark.usefixtures("many")
def test_a_killed_arena_leaves_nothing_half_done(tmp_path: Path) -> None:
    """The next arena creates the same files as if nothing had happened."""
    folder, file = tmp_path / "exports", tmp_path / "arena.sqlite3"
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", _ARENA, str(file), str(folder)], cwd=ROOT, check=False, timeout=240
    )
    assert done.returncode == -signal.SIGKILL
    assert read_manifest(folder) == ExportManifest()
    assert [name for name in names(folder) if not name.startswith("making-")] == []
    with closing(sqlite_store(file)) as store:
        exporter(store, folder).make()
        exporter(store, tmp_path / "other").make()
    assert len(rows(folder)) == 60
    assert read_manifest(folder) == read_manifest(tmp_path / "other")
    assert names(folder) == names(tmp_path / "other")


@pytest.mark.usefixtures("many")
def test_a_killed_process_is_reported_and_retried(tmp_path: Path) -> None:
    """The error has the exit code. The next attempt succeeds."""
    folder, file = tmp_path / "exports", tmp_path / "arena.sqlite3"
    earlier, seen = children(), []

    def kill() -> None:
        for pid in children() - earlier:
            seen.append(Path(f"/proc/{pid}/cmdline").read_bytes())
            os.kill(pid, signal.SIGKILL)

    with closing(Interrupted(file, kill)) as games, pytest.raises(ExportError, match="exit code -9"):
        Exporter(games, folder, 0, Disk(folder, 0), lambda: NIGHT).make()
    assert [b"arena.ops.export" in each for each in seen] == [True]
    assert names(folder) == set()
    with closing(sqlite_store(file)) as store:
        exporter(store, folder).make()
    assert len(lines(folder)) == 60


@pytest.mark.usefixtures("many")
def test_a_lost_database_is_reported_and_leaves_nothing(tmp_path: Path) -> None:
    """The database is lost after the process has begun to write."""
    folder, file = tmp_path / "exports", tmp_path / "arena.sqlite3"

    def fail() -> None:
        raise DatabaseUnavailable("the database is gone")

    earlier = children()
    with closing(Interrupted(file, fail)) as games, pytest.raises(DatabaseUnavailable, match="is gone"):
        Exporter(games, folder, 0, Disk(folder, 0), lambda: NIGHT).make()
    assert names(folder) == set()
    assert children() == earlier


@pytest.mark.usefixtures("many")
def test_an_arena_that_stops_leaves_a_day_to_the_next(tmp_path: Path) -> None:
    """A stop during an export causes no error and leaves no files."""
    folder, file = tmp_path / "exports", tmp_path / "arena.sqlite3"
    running: list[Exporter] = []

    def stop() -> None:
        running[0].close()

    with closing(Interrupted(file, stop)) as games:
        running.append(Exporter(games, folder, 0, Disk(folder, 0), lambda: NIGHT))
        running[0].make()
    assert names(folder) == set()


def test_files_without_a_manifest_are_made_again(store: Store, tmp_path: Path) -> None:
    """If the manifest can't be written, the files aren't published until a later attempt succeeds."""
    folder = tmp_path / "exports"
    (folder / f"{MANIFEST}.new").mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        exporter(store, folder).make()
    assert read_manifest(folder) == ExportManifest()
    (folder / f"{MANIFEST}.new").rmdir()
    exporter(store, folder).make()
    assert {file.name for file in read_manifest(folder).files} == names(folder) - {MANIFEST}


def test_a_full_disk_is_reported_and_retried(store: Store, tmp_path: Path) -> None:
    """Below the disk's floor nothing is written. A file that doesn't fit isn't published."""
    folder = tmp_path / "exports"
    with pytest.raises(ExportError, match="less free space than ARENA_DISK_FLOOR_GIB requires"):
        exporter(store, folder, least_free=FULL).make()
    assert names(folder) == set()
    (tmp_path / "jsonl.gz").symlink_to("/dev/full")
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "arena.ops.export", str(tmp_path)],
        input=b"\n",
        capture_output=True,
        check=False,
        timeout=240,
    )
    assert (done.returncode, done.stderr) == (1, b"[Errno 28] No space left on device\n")
    exporter(store, folder).make()
    assert len(rows(folder)) == 12


def test_files_are_removed_with_their_replays(store: Store, tmp_path: Path) -> None:
    """A day has no files if some of its replays may have been removed."""
    folder = tmp_path / "exports"
    play_on(store, START + timedelta(days=1), "next")
    exporter(store, folder, NIGHT + timedelta(days=1), keep_days=2).make()
    assert {file.day.day for file in read_manifest(folder).files} == {4}
    exporter(store, folder, NIGHT + timedelta(days=2), keep_days=2).make()
    assert names(folder) == {MANIFEST}
    exporter(store, folder, NIGHT + timedelta(days=2)).make()
    assert {file.day.day for file in read_manifest(folder).files} == {3, 4}


def test_a_damaged_manifest_is_reported(store: Store, tmp_path: Path) -> None:
    """A damaged manifest isn't overwritten. After its deletion, all files are created again.

    The new manifest has the files' names, sizes, hashes, and numbers of games.
    """
    folder = tmp_path / "exports"
    folder.mkdir()
    (folder / MANIFEST).write_text("{")
    with pytest.raises(ExportError, match="delete it"):
        exporter(store, folder).make()
    assert (folder / MANIFEST).read_text() == "{"
    (folder / MANIFEST).unlink()
    exporter(store, folder).make()
    manifest = json.loads((folder / MANIFEST).read_bytes())
    assert manifest["format"] == "kaiten-games/1"
    for file, name in zip(manifest["files"], ("jsonl.gz", "parquet"), strict=True):
        content = (folder / file["name"]).read_bytes()
        assert file == {
            "name": f"games-2026-11-03.{name}",
            "day": "2026-11-03",
            "bytes": len(content),
            "rows": 12,
            "sha256": hashlib.sha256(content).hexdigest(),
            "first": 1,
            "last": 12,
        }
    assert names(folder) == {MANIFEST, *(file["name"] for file in manifest["files"])}
    good = read_manifest(folder)
    write_manifest(folder, good)
    assert read_manifest(folder) == good
