"""Pruning, which repeats, removes images that no bot on the ladder uses from the store and the engine."""

import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from arena.db.errors import VersionGone
from arena.db.store import Store
from arena.images.image import IntakeError
from arena.images.keeper import ImageKeeper, pruner
from arena.images.store import ImageStore
from arena.sandbox.runtime import RuntimeFailure
from tests.databases import sqlite_store
from tests.db.builders import add_bot
from tests.images.builders import NOW, keep, store_in
from tests.patience import WAIT_SECONDS


class Engine:
    """An engine that counts requests to prune; the first request fails."""

    def __init__(self) -> None:
        self.asked = 0
        self.again = threading.Event()

    def prune_images(self) -> None:
        """Fail once."""
        self.asked += 1
        if self.asked == 1:
            raise RuntimeFailure("the engine does not answer")
        self.again.set()


@pytest.fixture
def results(tmp_path: Path) -> Iterator[Store]:
    """Yield an empty database."""
    with closing(sqlite_store(tmp_path / "arena.sqlite3")) as store:
        yield store


@pytest.fixture
def images(tmp_path: Path) -> ImageStore:
    """Return an empty image store."""
    return store_in(tmp_path)


@pytest.fixture
def engine() -> Engine:
    """Return an engine."""
    return Engine()


@pytest.fixture
def keeper(results: Store, images: ImageStore, engine: Engine, tmp_path: Path) -> ImageKeeper:
    """Return a keeper with a quota of 2,500 bytes."""
    return ImageKeeper(
        images=images,
        store=results,
        prune_engine=engine.prune_images,
        quota=2500,
        folder=tmp_path / "incoming",
        now=lambda: NOW + timedelta(days=1),
    )


def test_the_images_of_bots_on_the_ladder_are_kept(
    keeper: ImageKeeper, images: ImageStore, results: Store, engine: Engine
) -> None:
    """However old they are, images of bots on the ladder are kept. Images that no bot uses make room."""
    engine.asked = 1
    first, playing, stray = (keep(images, letter * 1000) for letter in (b"1", b"2", b"3"))
    policy = keeper.prune_policy()
    for image in (first, playing):
        add_bot(results, "mine", source=image.id)
    assert policy.keep() == {playing.id}
    pruned = keeper.prune()
    assert len(pruned.images) == 2
    assert set(pruned.images) == {first.id, stray.id}
    assert images.records.ids() == {playing.id}
    assert engine.asked == 2


def test_a_folder_without_any_image_in_use_is_an_error(
    keeper: ImageKeeper, images: ImageStore, results: Store, engine: Engine, tmp_path: Path
) -> None:
    """The disk is probably not mounted: nothing is pruned, added or recorded as gone."""
    add_bot(results, "house", source="sha256:house", author="house")
    for letter in (b"1", b"2"):
        add_bot(results, "mine", source=keep(images, letter * 100).id)
    keeper.record_missing_images()
    (tmp_path / "images").rename(tmp_path / "away")
    (tmp_path / "images").mkdir()
    for what in (keeper.prune, keeper.record_missing_images, keeper.prune_policy):
        with pytest.raises(
            IntakeError, match=r"none of the 1 images .* is in .*/images: check that it is mou"
        ):
            what()
    assert engine.asked == 0
    assert [version.available for version in results.bots.versions("mine")] == [True, True]
    (tmp_path / "images").rmdir()
    (tmp_path / "away").rename(tmp_path / "images")
    engine.asked = 1
    assert keeper.prune().images == ()
    assert [version.available for version in results.bots.versions("mine")] == [True, True]


def test_images_that_nobody_uses_may_all_be_gone(
    keeper: ImageKeeper, images: ImageStore, results: Store, engine: Engine, tmp_path: Path
) -> None:
    """Images of retired bots may all be missing. A bot can return once its image is restored."""
    engine.asked = 1
    add_bot(results, "mine", source=keep(images, b"1" * 1000).id)
    results.bot_states.retire("mine", NOW)
    (tmp_path / "images").rename(tmp_path / "away")
    keeper.prune()
    with pytest.raises(VersionGone):
        results.bot_states.reactivate("mine", NOW)
    (tmp_path / "away").rename(tmp_path / "images")
    keeper.prune()
    assert results.bot_states.reactivate("mine", NOW)


def test_pruning_goes_on_after_a_failure(keeper: ImageKeeper, engine: Engine) -> None:
    """A failure to prune is logged, and pruning is repeated until the context ends."""
    with capture_logs() as logs, pruner(keeper, seconds=0.01):
        assert engine.again.wait(WAIT_SECONDS)
    assert [line["error"] for line in logs] == ["the engine does not answer"]
    assert all(thread.name != "pruner" for thread in threading.enumerate())


def test_an_unusable_store_is_named(keeper: ImageKeeper, tmp_path: Path) -> None:
    """If the lock file can't be opened, the error names it."""
    (tmp_path / "images.lock").mkdir()
    with pytest.raises(IntakeError, match=r"the image store's lock .*images\.lock \(Is a directory\)"):
        keeper.prune()
