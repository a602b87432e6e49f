"""Submitted images are loaded into the engine by digest, on demand, and verified by their content."""

import json
import uuid
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import docker
import pytest
from docker.errors import ImageNotFound

from arena.images.image import BotImage
from arena.images.source import StoreSource
from arena.images.store import ImageStore, PrunePolicy
from arena.sandbox.docker.engine import connect
from arena.sandbox.docker.images import DockerImages, EngineImage
from arena.sandbox.docker.runtime import DockerRuntime
from arena.sandbox.runtime import KeptImage, RuntimeFailure
from tests.images.builders import NOW, keep, store_in
from tests.images.tars import file, tar

pytestmark = pytest.mark.docker


def layer_with(text: str) -> bytes:
    """Return a layer with one file."""
    return tar(file(b"bot", text.encode()))


@dataclass
class Counting:
    """An image source that counts the archives that it returns."""

    source: StoreSource
    given: list[str] = field(default_factory=list)

    @property
    def repository(self) -> str:
        """Return the repository of the wrapped source."""
        return self.source.repository

    def unavailable_reason(self) -> str | None:
        """Return the wrapped source's reason."""
        return self.source.unavailable_reason()

    def find(self, id_: str) -> KeptImage | None:
        """Return the image of the wrapped source; count the archives read from it."""
        kept = self.source.find(id_)
        if kept is None:
            return None

        def archive(name: str) -> Iterator[bytes]:
            self.given.append(id_)
            return kept.archive(name)

        return KeptImage(config=kept.config, archive=archive)

    def ids(self) -> Collection[str]:
        """Return the IDs of the wrapped source."""
        return self.source.ids()


@dataclass
class Hall:
    """An image store, an engine, and the runtime that connects them."""

    folder: Path
    store: ImageStore
    source: Counting
    client: docker.APIClient
    images: DockerImages

    def keep(self, text: str) -> BotImage:
        """Store an image that no other test uses."""
        return keep(self.store, layer_with("below"), layer_with(f"{text} {uuid.uuid4()}"))

    def name(self, image: BotImage) -> str:
        """Return an image's name in the engine."""
        return f"{self.source.repository}:{image.id.removeprefix('sha256:')}"

    def inspect(self, name: str) -> dict[str, Any]:
        """Return the engine's description of an image."""
        image: dict[str, Any] = self.client.inspect_image(name)  # type: ignore[no-untyped-call] # untyped in the stubs
        return image

    def names(self) -> list[str]:
        """Return the names of all loaded images."""
        found = self.client.images(name=self.source.repository)
        return [name for image in found for name in image["RepoTags"] or ()]


@pytest.fixture
def hall(docker_client: docker.DockerClient, tmp_path: Path) -> Iterator[Hall]:
    """Yield an empty store and a runtime that loads from it; remove its images from the engine at the end."""
    assert docker_client
    client = connect()
    store = store_in(tmp_path)
    source = Counting(StoreSource(store, f"test-{uuid.uuid4().hex[:12]}", lambda: NOW))
    given = Hall(tmp_path, store, source, client, DockerImages(client, source))
    yield given
    for name in given.names():
        client.remove_image(name, force=True)
    client.close()


def test_a_stored_image_is_loaded_when_it_is_needed(hall: Hall) -> None:
    """The image is loaded once, has the stored layers and command, and is started by the engine's ID."""
    image = hall.keep("first")
    found = hall.images.find(image.id)
    inspected = hall.inspect(hall.name(image))
    assert found == EngineImage(id=inspected["Id"], command=("bot",))
    assert inspected["RootFS"]["Layers"] == [layer.digest for layer in image.layers]
    assert hall.images.find(image.id) == found
    assert hall.source.given == [image.id]


def test_a_worker_whose_store_is_not_mounted_keeps_its_images(hall: Hall) -> None:
    """It reports the reason until the store is back, and neither prunes nor claims to be able to play."""
    image = hall.keep("kept")
    hall.images.find(image.id)
    source = StoreSource(hall.store, hall.source.repository.removeprefix("kaiten/submitted-"), None)
    runtime = DockerRuntime(hall.client, images=source)
    images = hall.folder / "images"
    images.rename(hall.folder / "away")
    images.mkdir()
    assert "there are no images in" in (runtime.unavailable_reason() or "")
    with pytest.raises(RuntimeFailure, match="check that the store is mounted"):
        runtime.prune_images()
    assert hall.names() == [hall.name(image)]
    images.rmdir()
    (hall.folder / "away").rename(images)
    assert runtime.unavailable_reason() is None
    runtime.prune_images()
    assert hall.names() == [hall.name(image)]


def test_two_seats_load_an_image_once(hall: Hall) -> None:
    """Bots of the same image and of another one start at the same time; each image is loaded once."""
    first, second = hall.keep("first"), hall.keep("second")
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(hall.images.find, [image.id for image in (first, second) * 3]))
    assert len({image.id for image in found}) == 2
    assert sorted(hall.source.given) == sorted([first.id, second.id])


def test_two_processes_may_load_an_image_at_the_same_time(hall: Hall) -> None:
    """Two clients without a common lock, like a command's and a running arena's, can load the same image."""
    image = hall.keep("shared")
    others = [DockerImages(hall.client, hall.source) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda images: images.find(image.id), others))
    assert len({image.id for image in found}) == 1
    assert hall.names() == [hall.name(image)]


def test_the_time_of_use_is_updated(hall: Hall) -> None:
    """Loading an image updates its time of use, which protects it from pruning."""
    old, played = (
        keep(hall.store, layer_with(text), now=NOW - timedelta(days=2)) for text in ("old", "played")
    )
    hall.images.find(played.id)
    assert hall.store.prune(PrunePolicy(quota=0, keep=frozenset), NOW).images == (old.id,)


@pytest.mark.parametrize("part", ["layer", "configuration"])
def test_a_damaged_blob_never_becomes_an_image(hall: Hall, part: str) -> None:
    """The error names the damaged blob. The engine gets the image only after the blob is repaired."""
    image = hall.keep("damaged")
    digest = image.layers[0].digest if part == "layer" else image.id
    blob = hall.folder / "images" / "blobs" / "sha256" / digest.removeprefix("sha256:")
    whole = blob.read_bytes()
    blob.write_bytes(whole[:-1] + b"x")
    with pytest.raises(RuntimeFailure, match=f"{digest}.*is damaged"):
        hall.images.find(image.id)
    for name in (image.id, hall.name(image)):
        with pytest.raises(ImageNotFound):
            hall.inspect(name)
    blob.write_bytes(whole)
    assert hall.images.find(image.id).command == ("bot",)


def test_an_image_in_the_engine_needs_no_store(hall: Hall, base_image: str) -> None:
    """Images that were built in the engine, like the house bots', needn't be in the store."""
    assert hall.images.find(base_image).id == base_image
    assert hall.source.given == []


def test_a_name_that_was_moved_is_not_trusted(hall: Hall, base_image: str) -> None:
    """If the name refers to another image in the engine, the stored image is loaded again."""
    image = hall.keep("right")
    repository, _, tag = hall.name(image).rpartition(":")
    hall.client.tag(base_image, repository, tag)
    found = hall.images.find(image.id)
    assert found.id != base_image
    inspected = hall.inspect(found.id)
    assert inspected["RootFS"]["Layers"] == [layer.digest for layer in image.layers]


def test_the_same_layers_with_another_command_are_not_trusted(hall: Hall) -> None:
    """An image with the same layers but another command is loaded again."""
    image = hall.keep("right")
    first = hall.images.find(image.id)
    container = hall.client.create_container(first.id, command=["bot"])["Id"]
    repository, _, tag = hall.name(image).rpartition(":")
    try:
        hall.client.commit(container, repository, tag, changes=["ENTRYPOINT ['other']"])
    finally:
        hall.client.remove_container(container)
    assert hall.inspect(hall.name(image))["Id"] != first.id
    assert hall.images.find(image.id) == first


def test_an_engine_that_loads_another_image_is_an_arena_fault(hall: Hall) -> None:
    """If the engine loads a different image, the error quotes what the engine reported."""
    image = hall.keep("right")
    kept = hall.source.source.find(image.id)
    assert kept is not None
    config = kept.config
    manifest = json.dumps([{"Config": "none.json", "RepoTags": None, "Layers": []}])

    class Wrong(Counting):
        def find(self, id_: str) -> KeptImage | None:
            assert id_ == image.id
            return KeptImage(config=config, archive=lambda _: iter([layer_with(manifest)]))

    images = DockerImages(hall.client, Wrong(hall.source.source))
    with pytest.raises(
        RuntimeFailure,
        match=r"kaiten/submitted-test-.* is missing or differs from the stored image; the engine reported: .",
    ):
        images.find(image.id)


def test_prune_removes_images_that_are_no_longer_stored(hall: Hall, base_image: str) -> None:
    """Prune spares stored images, images in use by a container, and images that others have loaded."""
    stays, used, goes = hall.keep("stays"), hall.keep("used"), hall.keep("goes")
    found = {image.id: hall.images.find(image.id).id for image in (stays, used, goes)}
    container = hall.client.create_container(found[used.id], command=["bot"])["Id"]
    other = hall.source.repository + "-other"
    hall.client.tag(base_image, other, "latest")
    try:
        hall.store.prune(PrunePolicy(quota=0, keep=lambda: {stays.id}), NOW + timedelta(days=1))
        hall.images.prune()
        assert set(hall.names()) == {hall.name(stays), hall.name(used)}
        assert hall.inspect(f"{other}:latest")["Id"] == base_image
    finally:
        hall.client.remove_container(container)
        # Containers of another test run may use the base image.
        hall.client.remove_image(f"{other}:latest", force=True)
    hall.images.prune()
    assert hall.names() == [hall.name(stays)]
