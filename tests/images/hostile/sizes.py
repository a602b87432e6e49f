"""Attacks by size: compression bombs, and excessive numbers of files, names and layers."""

import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

from tests.images.archives import BASE, BOT, Draft, old_docker, sha256, write
from tests.images.hostile.attack import Attack, Build, archive, layered
from tests.images.tars import BLOCK, END, file, folder, hard_link, header, long_name, tar, zipped

_MIB = 1 << 20


@cache
def _zeros_4_gib() -> bytes:
    """Return 4 GiB of zeros, compressed to 4 MiB of consecutive gzip members."""
    return zipped(bytes(64 * _MIB)) * 64


def _layer(create: Callable[[], bytes]) -> Build:
    """Return a function that writes an image with a layer, which is created only then."""
    return lambda path: write(path, old_docker(layered(create())))


def _bomb_of_a_layer(path: Path) -> None:
    """Write a layer with 4 GiB of zeros in one file."""
    _write_layer(path, zipped(header(b"zeros", size=4096 * _MIB)) + _zeros_4_gib() + zipped(END))


def _bomb_behind_a_layer(path: Path) -> None:
    """Write a valid layer with zeros after its end."""
    _write_layer(path, zipped(tar(folder(b"x"))) + _zeros_4_gib())


def _write_layer(path: Path, layer: bytes) -> None:
    """Write an archive with one more layer. Its digest is wrong, but reading ends before it is checked."""
    digests = [sha256(BASE), sha256(BOT), f"sha256:{'0' * 64}"]
    write(path, old_docker(Draft(layers=[BASE, BOT, layer], diff_ids=digests)))


def _bomb_of_the_archive(path: Path) -> None:
    path.write_bytes(zipped(header(b"zeros", size=4096 * _MIB)) + _zeros_4_gib() + zipped(END))


def _gzipped(path: Path) -> None:
    write(path, old_docker(Draft()), compressed=True)


def _empty_gzips(path: Path) -> None:
    """Write 60 MB of gzip without any content: three million empty members."""
    path.write_bytes(zipped(b"") * 3_000_000)


def _many_members(count: int, repeated: int) -> bytes:
    """Return a gzip-compressed layer of empty files with different names, the last of them repeated."""
    members = b"".join(header(b"%d" % number) for number in range(count))
    again = zipped(members[-BLOCK:] * 2048)
    return zipped(members) + again * (repeated // 2048) + zipped(END)


def two_million_files(path: Path) -> None:
    """Write a small archive with more members than any image has."""
    _write_layer(path, _many_members(100_500, 2_000_000))


def _implied_folders(folders: int) -> bytes:
    """Return a layer of files that are each nested in many folders."""
    return tar(*[long_name(b"%d/" % number + b"d/" * 50 + b"x") + file(b"x") for number in range(folders)])


def _long_names(count: int) -> bytes:
    """Return a layer of files with names of nearly the maximum length."""
    stem = b"/".join([b"n" * 200] * 5)
    return tar(*[long_name(stem + b"/%015d" % number) + file(b"x") for number in range(count)])


def _hard_links(count: int) -> bytes:
    """Return a layer with this many hard links to one file."""
    return tar(file(b"x"), *[hard_link(b"%d" % number, b"x") for number in range(count)])


def _hole(size: int) -> Attack:
    def build(path: Path) -> None:
        with path.open("wb") as sink:
            os.truncate(sink.fileno(), size)

    refused = "make the image smaller" if size > 768 * _MIB else "neither index.json nor manifest.json"
    return Attack(
        name=f"a hole of {size // _MIB} MiB", build=build, control=archive(Draft()), refused=refused
    )


def _same_layer(times: int) -> Build:
    """Return a function that writes an image that repeats one of the archive's files as many layers."""

    def build(path: Path) -> None:
        big = tar(folder(b"big"), file(b"big/zeros", bytes(20 * _MIB)))
        digests = [*map(sha256, (BASE, BOT)), *[sha256(big)] * times]
        files = old_docker(Draft(layers=[BASE, BOT, big], diff_ids=digests))
        entry = json.loads(files["manifest.json"])[0]
        entry["Layers"] += entry["Layers"][2:] * (times - 1)
        write(path, {**files, "manifest.json": json.dumps([entry]).encode()})

    return build


def _many_layers(count: int) -> Draft:
    return Draft(layers=[BASE, BOT, *[tar(folder(b"%d" % number)) for number in range(count)]])


SIZES = (
    Attack(
        name="a layer that is a gzip bomb",
        build=_bomb_of_a_layer,
        control=archive(Draft(packed=zipped)),
        refused="layers take up more than",
    ),
    Attack(
        name="a gzip bomb behind the end of a layer",
        build=_bomb_behind_a_layer,
        control=archive(Draft(packed=zipped)),
        refused="layer 3: the gzip stream expands to more than 100 times",
    ),
    Attack(
        name="an archive that is a gzip bomb",
        build=_bomb_of_the_archive,
        control=_gzipped,
        refused="the archive: the gzip stream expands to more than 100 times",
    ),
    Attack(
        name="three million empty gzip members",
        build=_empty_gzips,
        control=_gzipped,
        refused="more than 100000 members",
    ),
    Attack(
        name="the same large layer forty times",
        build=_same_layer(40),
        control=_same_layer(4),
        refused="layers take up more than",
        raised={"image_bytes": 1024 * _MIB},
    ),
    Attack(
        name="two million files",
        build=two_million_files,
        control=_layer(lambda: tar(*[header(b"%d" % number) for number in range(2_000)])),
        refused="more than 65536 files",
    ),
    Attack(
        name="a hundred files in folders of their own, fifty deep",
        build=_layer(lambda: _implied_folders(2_500)),
        control=_layer(lambda: _implied_folders(100)),
        refused="more than 65536 files",
        raised={"members": 200_000},
    ),
    Attack(
        name="twenty megabytes of names",
        build=_layer(lambda: _long_names(20_000)),
        control=_layer(lambda: _long_names(2_000)),
        refused="paths in the image's layers",
        raised={"names_bytes": 32 * _MIB},
    ),
    Attack(
        name="more hard links than a file system has room for",
        build=_layer(lambda: _hard_links(65_001)),
        control=_layer(lambda: _hard_links(5_000)),
        refused="'x' has more than 10000 hard links",
        raised={"hard_links": 65_001},
    ),
    Attack(
        name="five hundred layers",
        build=archive(_many_layers(500)),
        control=archive(_many_layers(20)),
        refused="more than 64 layers",
        raised={"layers": 502},
    ),
    _hole(1024),
    _hole(700 * _MIB),
    _hole(1024 * _MIB),
)
