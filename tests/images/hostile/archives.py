"""Attacks in the archive around an image: links, names, manifests and indexes."""

import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena.images.image import BotImage
from tests.images.archives import (
    AMD64,
    ARM64,
    BOT,
    Draft,
    Json,
    Layout,
    docker_25,
    docker_29,
    members,
    oci,
    old_docker,
    platform_of,
    write,
)
from tests.images.hostile.attack import CANARY, OUT, Attack, Build, archive, oci_archive
from tests.images.tars import file, hard_link, header, long_name, symlink, tar, zipped

_LINK = b"e" * 64 + b"/layer.tar"
_DRAFT = Draft()
_OTHER = Draft(config={"Cmd": ["other"]})


def _existing_arena(name: str, *hostile: bytes, refused: str) -> Attack:
    """Return an attack in archive members added to a valid image."""
    return Attack(
        name=name,
        build=lambda path: path.write_bytes(tar(*members(old_docker(_DRAFT)), *hostile)),
        control=archive(_DRAFT),
        refused=refused,
    )


def _files(
    name: str, files: Callable[[], dict[str, bytes]], refused: str, control: Build | None = None
) -> Attack:
    return Attack(
        name=name,
        build=lambda path: write(path, files()),
        control=control or oci_archive(_DRAFT),
        refused=refused,
    )


def _raw(name: str, content: bytes, refused: str) -> Attack:
    return Attack(
        name=name, build=lambda path: path.write_bytes(content), control=archive(_DRAFT), refused=refused
    )


def _manifest(**changes: Any) -> dict[str, bytes]:  # noqa: ANN401 - JSON
    """Return an archive of an old engine with a changed manifest."""
    files = old_docker(_DRAFT)
    entry = json.loads(files["manifest.json"])[0] | changes
    return {**files, "manifest.json": json.dumps([entry]).encode()}


def _layers_of_a_manifest(change: Callable[[list[Json]], list[Json]]) -> dict[str, bytes]:
    """Return an OCI layout with changed layers in its manifest."""
    layout = Layout()
    digest = layout.image(_DRAFT)["digest"]
    manifest = json.loads(layout.files[f"blobs/sha256/{digest[7:]}"])
    manifest["layers"] = change(manifest["layers"])
    return layout.finish([layout.blob(json.dumps(manifest).encode(), manifest["mediaType"])])


def _blob_changed(change: Callable[[bytes], bytes | None]) -> dict[str, bytes]:
    """Return an OCI layout whose top layer is missing or doesn't match its digest."""
    files = oci(_DRAFT)
    name = next(name for name, content in files.items() if content == BOT)
    content = change(files.pop(name))
    return files if content is None else {**files, name: content}


def _two_images() -> dict[str, bytes]:
    one, other = old_docker(_DRAFT), old_docker(_OTHER)
    both = json.loads(one["manifest.json"]) + json.loads(other["manifest.json"])
    return {**one, **other, "manifest.json": json.dumps(both).encode()}


def _index_in_itself() -> dict[str, bytes]:
    """An index can't contain its own digest, so this one lists a forged digest and is stored under it."""
    layout = Layout()
    forged = {
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "digest": f"sha256:{'a' * 64}",
        "size": 0,
    }
    content = json.dumps({"manifests": [forged, layout.image(_DRAFT)]}).encode()
    layout.files[f"blobs/sha256/{'a' * 64}"] = content
    return layout.finish([{**forged, "size": len(content)}])


def _nested_indexes() -> dict[str, bytes]:
    layout = Layout()
    descriptor = layout.image(_DRAFT)
    for _ in range(100):
        descriptor = layout.index([descriptor])
    return layout.finish([descriptor])


def _many_manifests(count: int) -> dict[str, bytes]:
    layout = Layout()
    fake = [{"mediaType": "x", "digest": f"sha256:{number:064x}", "size": 1} for number in range(count)]
    return layout.finish([layout.image(_DRAFT), *fake])


def _zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as whole:
        for name, content in old_docker(_DRAFT).items():
            whole.writestr(name, content)


def _no_tags(image: BotImage, layers: Path) -> None:
    assert layers.stat().st_size == sum(layer.size for layer in image.layers)
    assert b"library/python" not in image.config()


_MEMBERS = (
    _existing_arena("a member that climbs out", long_name(OUT), file(b"x", b"owned"), refused="'..'"),
    _existing_arena("an absolute member", long_name(bytes(CANARY)), file(b"x", b"owned"), refused="absolute"),
    _existing_arena(
        "a link to the host's accounts", symlink(_LINK, b"/etc/shadow"), refused="does not connect two"
    ),
    _existing_arena("a link out of the archive", symlink(b"x", OUT[:90]), refused="does not connect two"),
    _existing_arena(
        "a layer that is a link to no layer",
        symlink(_LINK, b"../" + _LINK[::-1]),
        refused="does not connect two",
    ),
    _existing_arena(
        "a layer that is a link to itself",
        symlink(_LINK, b"../" + _LINK),
        refused="does not point to a layer",
    ),
    _existing_arena(
        "layers that link in a circle",
        symlink(_LINK, b"../" + b"f" * 64 + b"/layer.tar"),
        symlink(b"f" * 64 + b"/layer.tar", b"../" + _LINK),
        refused="does not point to a layer",
    ),
    _existing_arena(
        "a hard link in the archive", hard_link(_LINK, b"/etc/shadow"), refused="neither a file nor a folder"
    ),
    _existing_arena(
        "a disk in the archive", header(b"sda", kind=b"4"), refused="neither a file nor a folder"
    ),
    _existing_arena("a second manifest", file(b"manifest.json", b"[]"), refused="'manifest.json' twice"),
    _existing_arena(
        "a second manifest by another way", file(b"./manifest.json", b"[]"), refused="'manifest.json' twice"
    ),
    _existing_arena(
        "ten thousand members", *[file(b"%d" % n) for n in range(10_000)], refused="more than 4096 members"
    ),
    Attack(
        name="an archive that is cut off",
        build=lambda path: path.write_bytes(tar(*members(old_docker(_DRAFT)))[:6000]),
        control=archive(_DRAFT),
        refused="not a tar, or is damaged",
    ),
    Attack(
        name="a gzipped archive that is cut off",
        build=lambda path: path.write_bytes(zipped(tar(*members(old_docker(_DRAFT))))[:-9]),
        control=archive(_DRAFT),
        refused="ends early",
    ),
    Attack(name="a zip", build=_zip, control=archive(_DRAFT), refused="compressed with zip"),
    _raw("zstd around the archive", b"\x28\xb5\x2f\xfd" + bytes(2000), "compressed with zstd"),
    _raw("an empty file", b"", "the archive is empty"),
    _raw("noise", bytes(range(1, 256)) * 40, "not a tar"),
    _raw("an exported container", tar(file(b"etc/passwd")), "not of `docker export`"),
)
_MANIFESTS = (
    _files("two images", _two_images, "2 images", archive(_DRAFT)),
    _files("no image", lambda: {**old_docker(_DRAFT), "manifest.json": b"[]"}, "0 images", archive(_DRAFT)),
    _files(
        "a manifest of 100 MB",
        lambda: {**old_docker(_DRAFT), "manifest.json": b" " * 100_000_000},
        "is 100000000 bytes long",
        archive(_DRAFT),
    ),
    _files(
        "JSON nested a hundred thousand times",
        lambda: {**old_docker(_DRAFT), "manifest.json": b'[{"x":' * 100_000},
        "nested too deeply",
        archive(_DRAFT),
    ),
    _files("layers of the host", lambda: _manifest(Layers=["../../etc/shadow"]), "'..'", archive(_DRAFT)),
    _files(
        "a configuration of the host", lambda: _manifest(Config="/etc/shadow"), "absolute", archive(_DRAFT)
    ),
    _files(
        "layers that are numbers", lambda: _manifest(Layers=[1, 2]), "unexpected content", archive(_DRAFT)
    ),
    _files("layers that are missing", lambda: _manifest(Layers=["a", "b"]), "lacks 'a'", archive(_DRAFT)),
    _files("no layers", lambda: _manifest(Layers=[]), "no layers", archive(_DRAFT)),
    _files("fewer layers than named", lambda: old_docker(replace(_DRAFT, diff_ids=["x"])), "has 2 layers"),
    _files(
        "layers of another image",
        lambda: old_docker(replace(_DRAFT, diff_ids=["x", "y"])),
        "match its digest",
    ),
    _files(
        "an image for another processor", lambda: old_docker(Draft(platform=ARM64)), "--platform=linux/amd64"
    ),
    Attack(
        name="someone else's name",
        build=lambda path: write(
            path, old_docker(_DRAFT, tags=["library/python:3.11", "kaiten/bot-greedy:latest"])
        ),
        control=archive(_DRAFT),
        harmless=_no_tags,
    ),
)
_INDEXES = (
    _files("two images in an index", lambda: oci(_DRAFT, _OTHER), "2 images"),
    _files("only other platforms", lambda: docker_29(Draft(platform=ARM64)), "--platform=linux/amd64"),
    _files("a platform that lies", lambda: _lying_platform(), "--platform=linux/amd64"),  # noqa: PLW0108 - defined below
    _files("a blob that is missing", lambda: _blob_changed(lambda _: None), "lacks 'blobs/sha256/"),
    _files(
        "a blob that is another",
        lambda: _blob_changed(lambda blob: blob.replace(b"hello", b"HELLO")),
        "match its digest",
    ),
    _files(
        "a blob that is longer", lambda: _blob_changed(lambda blob: blob + bytes(512)), "match its digest"
    ),
    _files("a digest that is a path", lambda: _layers_of_a_manifest(_climb), "unexpected content"),
    _files(
        "layers that are elsewhere", lambda: _layers_of_a_manifest(_elsewhere), "not in the archive, but at"
    ),
    _files("foreign layers", lambda: _layers_of_a_manifest(_foreign), "a layer has the unsupported type"),
    _files("an index in itself", _index_in_itself, "match its digest"),
    _files("a hundred indexes in each other", _nested_indexes, "more than 32 documents"),
    _files("a thousand manifests", lambda: _many_manifests(1_000), "length <= 256"),
    _files("ten thousand manifests", lambda: _many_manifests(10_000), "limit 1048576"),
    _files(
        "an index that is no list",
        lambda: {**oci(_DRAFT), "index.json": b'{"manifests":7}'},
        "unexpected content",
    ),
    _files(
        "an index without an image",
        lambda: {**docker_25(_DRAFT), "index.json": b'{"manifests":[]}'},
        "no image",
    ),
    _files(
        "layers in zstd",
        lambda: oci(Draft(packed=lambda layer: b"\x28\xb5\x2f\xfd" + layer)),
        "compression=gzip",
    ),
)


def _lying_platform() -> dict[str, bytes]:
    layout = Layout()
    return layout.finish([layout.image(Draft(platform=ARM64), platform=platform_of(Draft(platform=AMD64)))])


def _climb(layers: list[Json]) -> list[Json]:
    return [{**layer, "digest": "sha256:../../../../etc/shadow"} for layer in layers]


def _elsewhere(layers: list[Json]) -> list[Json]:
    return [{**layer, "urls": ["http://169.254.169.254/latest/meta-data"]} for layer in layers]


def _foreign(layers: list[Json]) -> list[Json]:
    return [
        {**layer, "mediaType": "application/vnd.oci.image.layer.nondistributable.v1.tar"} for layer in layers
    ]


ARCHIVES = (*_MEMBERS, *_MANIFESTS, *_INDEXES)
