"""Untrusted bots, from their files to the leaderboard of a running arena."""

import signal
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import docker
import pytest

from arena.db.people import NewAccount
from arena.db.store import open_store
from arena.play.botfiles import samples
from arena.protocol.controls import CONTROL_NAMES
from arena.protocol.states import Role
from tests.demo.conftest import With, loaded
from tests.demo.running import Place, await_that, started
from tests.patience import WAIT_SECONDS
from tests.submissions import programs

pytestmark = pytest.mark.docker

ACCEPTED = {"ARENA_ACCEPT_MISSING": ",".join(CONTROL_NAMES)}
"""These tests are about images. Other tests check the host's controls."""


def played(place: Place) -> set[str]:
    """Return the names of the bots that have played a rated game."""
    return {bot for bot, games in place.games().items() if games}


@pytest.mark.soak
def test_an_archive_and_a_source_file_play(
    arena: Place, place_with: With, docker_client: docker.DockerClient, base_image: str, tmp_path: Path
) -> None:
    """Both are added while the arena runs, play in containers without faults, and are on the leaderboard.

    In the short run, tests/demo/test_journey.py adds a source file and submits an image.
    """
    archive = tmp_path / "whatever-it-is-called"
    with (
        programs.built(docker_client, base_image, 'HEALTHCHECK CMD ["true"]') as image,
        archive.open("wb") as file,
    ):
        for piece in image.save(named=False):
            file.write(piece)
    trace = tmp_path / "it-has-run"
    source = tmp_path / "mine.py"
    source.write_text(
        f"import pathlib\ntry:\n    pathlib.Path({str(trace)!r}).touch()\nexcept OSError:\n    pass\n"
        + (samples() / "random" / "bot.py").read_text()
    )
    with started(place_with("greedy", "random"), "coordinator", **ACCEPTED) as coordinator:
        await_that(lambda: bool(played(arena)), "a game of the house's bots")
        with closing(open_store(f"sqlite:///{arena.data / 'arena.sqlite3'}")) as store:
            account = store.people.register(
                NewAccount(name="Ann", password="none", role=Role.USER, created=datetime.now(UTC))  # noqa: S106 - nobody logs in
            )
        first = arena.run("admin", "add-bot", "packed", str(archive), "--author", "ann", **ACCEPTED)
        assert first.code == 0, first.stderr
        assert first.stdout.startswith("packed@1 sha256:")
        second = arena.run("admin", "add-bot", "wrapped", str(source), "--author", "ben", **ACCEPTED)
        assert second.code == 0, second.stderr
        again = arena.run("admin", "add-bot", "wrapped", str(source), "--author", "ben", **ACCEPTED)
        assert (again.code, again.stdout) == (0, second.stdout)
        assert "no new" in again.stderr
        await_that(lambda: {"packed", "wrapped"} <= played(arena), "games of both")
        coordinator.send_signal(signal.SIGTERM)
        _, said = coordinator.communicate(timeout=WAIT_SECONDS)
    assert coordinator.returncode == 0, said
    assert not trace.exists()
    rows = {line["bot"]: line for line in arena.board()}
    assert (rows["packed"]["author"], rows["wrapped"]["author"]) == ("Ann", "ben")
    assert rows["packed"]["fault_share"] == rows["wrapped"]["fault_share"] == 0
    ids = {output.split()[0]: output.split()[1] for output in (first.stdout, second.stdout)}
    with closing(open_store(f"sqlite:///{arena.data / 'arena.sqlite3'}")) as store:
        pages = [store.games.find(game.game) for game in store.games.newest()]
        assert set(ids.values()) <= store.bots.sources_in_use()
        owners = [bot and bot.account for bot in map(store.bots.find, ("packed", "wrapped"))]
    assert owners == [account.id, None]
    seats = {f"{seat.bot}@{seat.version}": seat for page in pages if page is not None for seat in page.seats}
    for bot, id_ in ids.items():
        assert seats[bot].image == id_
        assert seats[bot].runtime.startswith("docker/")
    assert sorted(loaded(docker_client, arena)) == sorted(
        f"kaiten/submitted-{arena.install}:{id_.removeprefix('sha256:')}" for id_ in ids.values()
    )
    pruned = arena.run("admin", "prune-images")
    assert pruned.stdout.startswith("images removed: 0, 0.0 MiB freed, "), pruned.stderr
    assert list((arena.data / "incoming").iterdir()) == []


def test_what_is_refused(arena: Place, tmp_path: Path) -> None:
    """Each refusal gives a reason without a traceback, and nothing is added or stored."""
    folder = tmp_path / "mybot"
    folder.mkdir()
    (folder / "Dockerfile").write_text("FROM scratch")
    source = tmp_path / "mine.py"
    source.write_text("pass")

    def refusal(name: str, file: Path, author: str = "ann", **more: str) -> str:
        ended = arena.run("admin", "add-bot", name, str(file), "--author", author, **ACCEPTED, **more)
        assert ended.code in {1, 2}
        assert "Traceback" not in ended.stderr
        assert ended.stdout == ""
        return ended.stderr

    assert "no arena in" in refusal("mine", source)
    arena.data.mkdir()
    open_store(f"sqlite:///{arena.data / 'arena.sqlite3'}").close()
    assert "docker build -t mybot" in refusal("mine", folder)
    assert "docker save mybot -o mybot.tar" in refusal("mine", folder)
    assert "only in containers" in refusal("mine", source, ARENA_SANDBOX="process")
    assert "untrusted bots are refused" in refusal("mine", source)
    assert "can't be the name of a bot" in refusal("na\N{RIGHT-TO-LEFT OVERRIDE}me", source)
    assert "the name house is reserved for the arena" in refusal("mine", source, author="house")
    assert arena.board() == []
    assert list((arena.data / "images").rglob("*")) == []
