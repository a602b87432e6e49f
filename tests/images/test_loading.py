"""Stored images as archives for the engine."""

import io
import json
import tarfile
from pathlib import Path

import pytest

from arena.images.image import IntakeError
from arena.images.source import docker_archive
from tests.images.builders import keep, layer, store_in


def test_the_archive_has_the_layers_and_the_configuration(tmp_path: Path) -> None:
    """The format is that of docker save. A repeated layer is stored once, and the manifest comes last."""
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
def test_a_damaged_layer_stops_the_archive(tmp_path: Path, damage: bytes | None) -> None:
    """A damaged layer ends the archive before its manifest, so nothing is loaded. The error names it."""
    store = store_in(tmp_path)
    image = keep(store, b"one", b"two")
    digest = layer(b"one").digest.removeprefix("sha256:")
    blob = tmp_path / "images" / "blobs" / "sha256" / digest
    if damage is None:
        blob.unlink()
    else:
        blob.write_bytes(damage)
    given: list[bytes] = []
    with pytest.raises(IntakeError, match=digest):
        given.extend(docker_archive(store, image, "name:tag"))
    assert b"manifest.json" not in b"".join(given)
