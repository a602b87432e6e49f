"""Tests of backups made while the arena is busy, and restored on each kind of database."""

import threading
from pathlib import Path
from typing import Self

import pytest

from arena.db.store import Store
from arena.images.source import docker_archive
from arena.ladder.standings import Standing
from arena.play.replay.document import parse
from arena.play.replay.verify import verify
from arena.rules import Rules
from tests.builders import BOTS, add_bots, play_matches
from tests.db.builders import add_account, present
from tests.ops.backup.places import Spot, Spots, settle
from tests.patience import WAIT_SECONDS

postgresql = pytest.mark.postgresql
ACROSS = [postgresql, pytest.mark.soak]  # test_large_numbers.py restores across kinds too


class Life:
    """An arena in which games end and people register until the context ends."""

    def __init__(self, spot: Spot) -> None:
        self.boards: dict[int, tuple[Standing, ...]] = {}  # every leaderboard so far, by the number of games
        self.begun = threading.Event()  # set once there is some data
        self._spot = spot
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._live)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self.begun.wait(WAIT_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _live(self) -> None:
        with self._spot.store() as store:
            versions = add_bots(store, BOTS)
            self._note(store)
            for number in range(100_000):
                if self._over.is_set():
                    return
                play_matches(store, [versions[:3]], Rules(players=3), name=f"load{number}")
                self._note(store)
                add_account(store, f"person-{number}")
                if number == 5:
                    self.begun.set()

    def _note(self, store: Store) -> None:
        self.boards[store.activity.totals().games] = store.ratings.standings()


@pytest.mark.parametrize(
    ("of", "to"),
    [
        ("sqlite", "sqlite"),
        pytest.param("sqlite", "postgresql", marks=ACROSS),
        pytest.param("postgresql", "sqlite", marks=ACROSS),
        pytest.param("postgresql", "postgresql", marks=postgresql),
    ],
)
def test_a_restored_arena_is_from_one_moment(spots: Spots, tmp_path: Path, of: str, to: str) -> None:
    """All data is consistent, and the restored arena can continue playing."""
    live, restored = (
        spots.make(name, postgresql=kind == "postgresql") for name, kind in (("live", of), ("new", to))
    )
    image = settle(live)
    with Life(live) as life:
        before = max(life.boards)
        made = live.arena("backup", "kept.zip", folder=tmp_path)
        assert made.returncode == 0, made.stderr
        meanwhile = max(life.boards)
    assert (tmp_path / "kept.zip").stat().st_mode & 0o777 == 0o600

    done = restored.arena("restore", "kept.zip", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    with live.store() as old, restored.store() as store:
        totals = store.activity.totals()
        games = totals.games
        assert before <= games
        assert meanwhile > before, "nothing was written during the backup"
        assert store.ratings.standings() == life.boards[games]
        names = [account.name for account in store.accounts.all()]
        assert names == [account.name for account in old.accounts.all()][: len(names)]
        assert abs(len(names) - games // 2) <= 1
        assert store.ladder.rebuild().differing == 0
        assert store.cards.rebuild().differing == 0
        assert all(_verifies(store, game.game) for game in store.games.newest(limit=10_000))
        add_bots(store, [("one-more", "zoe")])
        play_matches(store, [(1, 2, 3)], Rules(players=3), name="afterwards")
        assert store.activity.totals().games == games + 2 * (totals.matches_waiting + 1)
    assert restored.files() == {"u1.py": live.files()["u1.py"]}
    loaded, kept = (b"".join(docker_archive(spot.images, image, "a:b")) for spot in (restored, live))
    assert loaded == kept
    assert restored.images.records.ids() == {image.id}


def _verifies(store: Store, game: str) -> bool:
    return verify(parse(present(store.games.find(game)).replay)) is None
