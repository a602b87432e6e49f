"""Test of a worker with Docker that loads bots' images from the store shared by all hosts."""

import secrets
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import docker
import pytest

from arena.app.arena import open_arena
from arena.app.intake import images_of
from arena.db.store import Store
from arena.images.build.context import build_bot_image
from arena.images.store import PrunePolicy
from arena.play.botfiles import samples
from arena.protocol.match import Clock, RuntimeName
from arena.sandbox.builder import ImageBuilder
from tests.db.builders import new_match
from tests.patience import wait_until
from tests.scheduler.cluster.hosts import Hosts, hosts
from tests.scheduler.cluster.runs import Notes
from tests.soak import many

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("base_image")]


@pytest.fixture
def bots(
    docker_client: docker.DockerClient, image_builder: ImageBuilder, tmp_path: Path
) -> Iterator[list[tuple[str, str]]]:
    """Yield two bots' names, each with the engine's id of their common image, which is removed afterwards."""
    name = f"kc{secrets.token_hex(4)}"
    shutil.copytree(samples() / "random", tmp_path / name)
    # The additional layer makes the image differ from the sample's, so the engine has no other tag for it.
    program = tmp_path / name / "bot.py"
    program.write_text(f"{program.read_text()}# {name}\n")
    image = build_bot_image(image_builder, tmp_path / name)
    yield [(name, image), (f"{name}-too", image)]
    remove(docker_client, f"kaiten/bot-{name}")


def remove(client: docker.DockerClient, repository: str) -> int:
    """Remove a repository's images from the engine, and return how many there were."""
    tags = [tag for image in client.images.list(repository) for tag in image.tags if repository in tag]
    for tag in tags:
        client.images.remove(tag, force=True)
    return len(tags)


# Over 20 s: a worker in containers loads the bots' image.
def test_an_image_that_only_the_store_has_is_loaded_and_played(
    docker_client: docker.DockerClient, bots: list[tuple[str, str]], tmp_path: Path
) -> None:
    """House bots' images are stored by content. A worker fetches whatever its engine lacks.

    ``make soak`` makes it fetch twice.
    """
    (tmp_path / "images").mkdir()
    with (
        hosts(RuntimeName.DOCKER, tmp_path / "images", workers=0) as cluster,
        open_arena(cluster.settings()) as arena,
    ):
        cluster.start_worker("worker0")
        wait_until(lambda: "there are no images in" in unready_reason(cluster), "the worker without images")
        arena.enter_house_bots(bots, print)
        cluster.await_up("worker0")
        assert remove(docker_client, f"kaiten/bot-{bots[0][0]}") == 1
        install = (cluster.folder / "worker0" / "install").read_text().strip()
        for number in range(many(1, 2)):
            _queue(arena.store, f"set{number}")
            notes = Notes()
            with arena.coordinator(notes) as coordinator:
                coordinator.run(lambda: False)
            assert (notes.finished, notes.voided, notes.lost) == (1, [], [])
            assert remove(docker_client, f"kaiten/submitted-{install}") == 1
        kept, images = arena.store.bots.sources_in_use(), images_of(cluster.settings())
        assert not kept & {id_ for _, id_ in bots}
        later = datetime.now(UTC) + timedelta(days=1)
        images.prune(PrunePolicy(quota=0, keep=lambda: kept), later)
        assert images.records.ids() == kept
        assert not arena.ladder.gate.house_only
        assert arena.store.activity.hosts()[0].report.isolates


def unready_reason(cluster: Hosts) -> str:
    """Return why the worker isn't ready, or an empty string if it isn't listening yet."""
    answer = cluster.ask("worker0", "/readyz")
    return "" if answer is None else answer.text


def _queue(store: Store, id_: str) -> None:
    """Queue one match of the two bots."""
    versions = [bot.version for bot in store.ratings.candidates(house_only=True)]
    clock = Clock(move_millis=30_000, start_millis=60_000)
    store.queue.add(replace(new_match(id_, versions, deals=1), clock=clock))
