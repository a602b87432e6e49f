"""A kept image as an archive for the engine."""

import io
import json
import tarfile
from pathlib import Path

import pytest

from arena.images.image import IntakeTrouble
from arena.images.source import docker_archive
from tests.images.builders import keep, layer, store_in


def test_the_archive_has_the_layers_and_the_configuration(tmp_path: Path) -> None:
    """As docker save writes them, a layer that comes twice once, and what lists them last."""
    store = store_in(tmp_path)
    image = keep(store, b"one", b"two", b"one")
    with tarfile.open(fileobj=io.BytesIO(b"".join(docker_archive(store, image, "name:tag")))) as tar:
        names = tar.getnames()
        contents = [tar.extractfile(name) for name in names]
        members = dict(zip(names, [file.read() for file in contents if file is not None], strict=True))
    one, two = (f"{layer(content).digest.removeprefix('sha256:')}.tar" for content in (b"one", b"two"))
    config = f"{image.id.removeprefix('sha256:')}.json"
    assert names == [one, two, config, "manifest.json"]
    assert (members[one], members[two], members[config]) == (b"one", b"two", image.config())
    assert json.loads(members["manifest.json"]) == [
        {"Config": config, "RepoTags": ["name:tag"], "Layers": [one, two, one]}
    ]


@pytest.mark.parametrize("damage", [b"0ne", b"on", b"one more", None])
def test_a_damaged_layer_ends_it_before_there_is_an_image(tmp_path: Path, damage: bytes | None) -> None:
    """What has been given by then lists no image, and the error names the layer."""
    store = store_in(tmp_path)
    image = keep(store, b"one", b"two")
    digest = layer(b"one").digest.removeprefix("sha256:")
    blob = tmp_path / "images" / "blobs" / "sha256" / digest
    if damage is None:
        blob.unlink()
    else:
        blob.write_bytes(damage)
    given: list[bytes] = []
    with pytest.raises(IntakeTrouble, match=digest):
        given.extend(docker_archive(store, image, "name:tag"))
    assert b"manifest.json" not in b"".join(given)
