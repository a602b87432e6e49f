"""Attacks by sheer size: bombs, and more of everything than anybody needs."""

import os
from pathlib import Path

from tests.intake.archives import BASE, BOT, Draft, old_docker, write
from tests.intake.hostile.attack import Attack, archive, layered
from tests.intake.tars import BLOCK, END, file, folder, header, long_name, tar, zipped

_MIB = 1 << 20
_ZEROS_64_MIB = zipped(bytes(64 * _MIB))
_NO_DIGEST = f"sha256:{'0' * 64}"


def _bomb_of_a_layer(path: Path) -> None:
    """Four gigabytes of zeros in one file, as members of gzip one after another: 4 MiB."""
    bomb = zipped(header(b"zeros", size=4096 * _MIB)) + _ZEROS_64_MIB * 64 + zipped(END)
    draft = Draft(layers=[BASE, BOT, bomb], diff_ids=[_NO_DIGEST] * 3)
    files = old_docker(draft)
    write(path, files)


def _bomb_of_the_archive(path: Path) -> None:
    path.write_bytes(zipped(header(b"zeros", size=4096 * _MIB)) + _ZEROS_64_MIB * 64 + zipped(END))


def _gzipped(path: Path) -> None:
    write(path, old_docker(Draft()), compressed=True)


def _empty_gzips(path: Path) -> None:
    """Sixty megabytes of gzip that holds nothing: three million empty members."""
    path.write_bytes(zipped(b"") * 3_000_000)


def _many_members(count: int, repeated: int = 0) -> bytes:
    """Return a gzipped layer of empty files, each with a name of its own, and its last one many times more."""
    members = b"".join(header(b"%d" % number) for number in range(count))
    again = zipped(members[-BLOCK:] * 2048)
    return zipped(members) + again * (repeated // 2048) + zipped(END)


def _two_million_members(path: Path) -> None:
    layers = [BASE, BOT, _many_members(100_500, 2_000_000)]
    write(path, old_docker(Draft(layers=layers, diff_ids=[_NO_DIGEST] * 3)))


def _implied_folders(folders: int) -> bytes:
    """Return a layer of few files, each deep in folders of its own."""
    return tar(*[long_name(b"%d/" % number + b"d/" * 50 + b"x") + file(b"x") for number in range(folders)])


def _long_names(count: int) -> bytes:
    """Return a layer of files whose names are as long as may be."""
    stem = b"/".join([b"n" * 200] * 5)
    return tar(*[long_name(stem + b"/%015d" % number) + file(b"x") for number in range(count)])


def _hole(size: int) -> "Attack":
    def build(path: Path) -> None:
        with path.open("wb") as sink:
            os.truncate(sink.fileno(), size)

    refused = "more than the" if size > 768 * _MIB else "neither index.json nor manifest.json"
    return Attack(
        name=f"a hole of {size // _MIB} MiB", build=build, control=archive(Draft()), refused=refused
    )


def _same_layer(times: int) -> Draft:
    big = tar(folder(b"big"), file(b"big/zeros", bytes(20 * _MIB)))
    return Draft(layers=[BASE, BOT, *[big] * times], packed=zipped)


def _many_layers(count: int) -> Draft:
    return Draft(layers=[BASE, BOT, *[tar(folder(b"%d" % number)) for number in range(count)]])


SIZES = (
    Attack(
        name="a layer that is a gzip bomb",
        build=_bomb_of_a_layer,
        control=archive(Draft(packed=zipped)),
        refused="layers have more than",
    ),
    Attack(
        name="an archive that is a gzip bomb",
        build=_bomb_of_the_archive,
        control=_gzipped,
        refused="when its gzip is undone",
    ),
    Attack(
        name="three million empty gzip members",
        build=_empty_gzips,
        control=_gzipped,
        refused="processor time",
    ),
    Attack(
        name="the same large layer forty times",
        build=archive(_same_layer(40)),
        control=archive(_same_layer(4)),
        refused="layers have more than",
        raised={"image_bytes": 1024 * _MIB, "archive_bytes": 1024 * _MIB},
    ),
    Attack(
        name="two million files",
        build=_two_million_members,
        control=archive(layered(tar(*[header(b"%d" % number) for number in range(2_000)]))),
        refused="more than 100000 files",
    ),
    Attack(
        name="a hundred files in folders of their own, fifty deep",
        build=archive(layered(_implied_folders(2_500))),
        control=archive(layered(_implied_folders(100))),
        refused="more than 100000 files",
        raised={"members": 200_000},
    ),
    Attack(
        name="twenty megabytes of names",
        build=archive(layered(_long_names(20_000))),
        control=archive(layered(_long_names(2_000))),
        refused="paths in the image's layers",
        raised={"names_bytes": 32 * _MIB},
    ),
    Attack(
        name="five hundred layers",
        build=archive(_many_layers(500)),
        control=archive(_many_layers(20)),
        refused="502 layers",
        raised={"layers": 502},
    ),
    _hole(1024),
    _hole(700 * _MIB),
    _hole(1024 * _MIB),
)
