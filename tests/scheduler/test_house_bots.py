"""Tests of house bots whose folder is temporarily missing."""

import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest
import structlog

from arena.db.errors import VersionGone
from arena.db.store import Store
from arena.play.botfiles import samples
from arena.protocol.match import Limits, RuntimeName
from arena.protocol.sandbox_controls import Gate
from arena.sandbox.docker.images import is_image_id
from arena.sandbox.process.runtime import ProcessRuntime
from arena.scheduler.ladder import Ladder
from tests.db.builders import START, add_bot, add_matches, put_aside
from tests.db.test_queue import ENTRY
from tests.scheduler.test_coordinator import Notes, entropy, play

BOTS = ("random", "greedy", "spoiler")


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, Path]:
    """Return copies of quick sample bots' folders."""
    return {name: Path(shutil.copytree(samples() / name, tmp_path / "bots" / name)) for name in BOTS}


@pytest.fixture
def ladder(store: Store, folders: dict[str, Path]) -> Ladder:
    """Return a ladder with these bots."""
    made = Ladder(store, RuntimeName.PROCESS, entropy(), Gate(), Limits(), has=ProcessRuntime().has_source)
    made.enter_house_bots((name, str(folder)) for name, folder in folders.items())
    return made


def drawn(store: Store) -> set[str]:
    """Return the names of the bots that matchmaking may draw."""
    return {candidate.bot for candidate in store.ratings.candidates()}


def test_a_house_bot_whose_folder_is_gone_is_left_out_until_it_is_back(
    store: Store, ladder: Ladder, folders: dict[str, Path], tmp_path: Path
) -> None:
    """Without its folder, a house bot isn't drawn. Its absence and its return are each logged once."""
    assert drawn(store) == set(BOTS)
    aside = folders["greedy"].rename(tmp_path / "aside")
    with structlog.testing.capture_logs() as logs:
        for _ in range(3):
            ladder.update_house_bots()
        assert drawn(store) == {"random", "spoiler"}
        assert {candidate.bot for candidate in store.ratings.candidates(house_only=True)} == drawn(store)
        aside.rename(folders["greedy"])
        for _ in range(3):
            ladder.update_house_bots()
    assert drawn(store) == set(BOTS)
    assert [(line["event"].partition(":")[0], line["bot"]) for line in logs] == [
        ("house bot suspended", "greedy"),
        ("house bot available", "greedy"),
    ]


def test_the_next_start_leaves_it_out_too(store: Store, ladder: Ladder, folders: dict[str, Path]) -> None:
    """A start without a house bot's folder leaves the bot out, even if it played before."""
    assert ladder is not None
    shutil.rmtree(folders["spoiler"])
    again = Ladder(store, RuntimeName.PROCESS, entropy(), Gate(), Limits(), has=ProcessRuntime().has_source)
    again.enter_house_bots((name, str(folders[name])) for name in ("random", "greedy"))
    assert drawn(store) == {"random", "greedy"}
    again.ensure_round()
    assert {place for bot in store.ratings.candidates() for place, games in bot.queued.items() if games} == {
        2
    }


@pytest.mark.parametrize("exists", [True, False])
def test_matches_with_a_version_that_no_longer_exists_are_cancelled(
    store: Store, ladder: Ladder, folders: dict[str, Path], tmp_path: Path, *, exists: bool
) -> None:
    """After a restore on another machine, house bots have other sources. The old ones may not exist there."""
    assert ladder is not None
    old = {each.bot: each.id for each in store.bots.house_versions()}
    add_matches(store, "m", (old["greedy"], old["random"]), matches=2)
    put_aside(store)
    shutil.copytree(folders["greedy"], tmp_path / "greedy")
    if not exists:
        shutil.rmtree(folders["greedy"])
    runtime = ProcessRuntime()
    again = Ladder(store, RuntimeName.DOCKER, entropy(), Gate(), Limits(), has=runtime.has_source)
    again.enter_house_bots([("greedy", str(tmp_path / "greedy"))])
    again.cancel_unplayable(runtime.is_missing)
    assert store.queue.waiting(RuntimeName.DOCKER) == exists
    store.leases.expire(START)
    assert store.activity.totals().matches_waiting == exists
    with nullcontext() if exists else pytest.raises(VersionGone):
        store.queue.release("m-0", ENTRY)


@pytest.mark.parametrize("name", ["greedy", "Greedy"])
def test_a_new_house_bot_takes_no_authors_name(store: Store, folders: dict[str, Path], name: str) -> None:
    """If an author already uses a new sample bot's name, the arena starts without that sample bot."""
    add_bot(store, name)
    ladder = Ladder(store, RuntimeName.PROCESS, entropy(), Gate(), Limits())
    with structlog.testing.capture_logs() as logs:
        ladder.enter_house_bots((bot, str(folder)) for bot, folder in folders.items())
    assert drawn(store) == {"random", name, "spoiler"}
    assert [(line["event"], line["bot"]) for line in logs] == [("house bot left out", "greedy")]


def test_matches_that_were_drawn_wait_for_the_folder(
    store: Store, ladder: Ladder, folders: dict[str, Path], tmp_path: Path, run_dir: Path
) -> None:
    """They neither fail nor get quarantined, and are played once it is back. Others are played meanwhile."""
    ladder.ensure_round()
    aside = folders["greedy"].rename(tmp_path / "aside")
    ladder.update_house_bots()
    assert ladder.add_match()
    waiting = store.activity.totals().matches_waiting
    notes = Notes()
    play(store, run_dir, notes)
    assert notes.voided == []
    assert 0 < len(notes.finished) < waiting
    assert not any(str(folders["greedy"]) in claim.spec.seats for claim in notes.claims.values())
    aside.rename(folders["greedy"])
    ladder.update_house_bots()
    play(store, run_dir, notes)
    assert notes.voided == []
    assert len(notes.finished) == waiting
    assert store.activity.totals().matches_waiting == 0


def test_an_arena_with_too_few_bots_waits_for_more(
    ladder: Ladder, folders: dict[str, Path], tmp_path: Path
) -> None:
    """The shortage is logged once, and the arena continues when there are enough bots."""
    for name in ("greedy", "spoiler"):
        folders[name].rename(tmp_path / name)
    ladder.update_house_bots()
    with structlog.testing.capture_logs() as logs:
        assert not ladder.refill()
        assert not ladder.refill()
    assert [line["event"] for line in logs] == ["too few bots"]
    (tmp_path / "greedy").rename(folders["greedy"])
    ladder.update_house_bots()
    assert ladder.refill()


def test_containers_do_not_run_folders() -> None:
    """A house bot that was entered as a folder, without an image, can't play in containers."""
    assert is_image_id(f"sha256:{'0' * 64}")
    assert not is_image_id(str(samples() / "greedy"))
