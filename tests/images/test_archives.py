"""Archives from all engines and builders are accepted, and the format doesn't affect the image."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from arena.images.image import BotImage, Command, Platform, Rejected
from tests.images.archives import (
    ARM64,
    BASE,
    BOT,
    Draft,
    Layout,
    docker_25,
    docker_29,
    listed,
    members,
    oci,
    old_docker,
    read,
    write,
)
from tests.images.tars import file, folder, hard_link, header, long_name, pax, symlink, tar, zipped

DRAFT = Draft()
GZIPPED = Draft(packed=zipped)
ARM = Draft(platform=ARM64, config={"Cmd": ["arm"]})
OTHER = Draft(platform=Platform("windows", "amd64"))


def _in_an_index_of_an_index() -> dict[str, bytes]:
    layout = Layout()
    return layout.finish([layout.index([layout.index([layout.image(DRAFT)]), layout.image(ARM)])])


def _without_the_other_platforms_blobs() -> dict[str, bytes]:
    """An engine's archive lists all platforms of an image, but has content only for its own."""
    whole, own = docker_29(DRAFT, ARM), docker_29(DRAFT)
    return {
        name: content
        for name, content in whole.items()
        if "blobs" not in name or name in own or b"manifests" in content
    }


SHAPES: dict[str, Callable[[], dict[str, bytes]]] = {
    "engines before 25": lambda: old_docker(DRAFT),
    "engines before 25, layers gzipped": lambda: old_docker(GZIPPED),
    "engines from 25 on": lambda: docker_25(DRAFT),
    "engines from 29 on": lambda: docker_29(DRAFT, ARM),
    "engines from 29 on, the other platform first": lambda: docker_29(ARM, OTHER, GZIPPED),
    "engines from 29 on, one image under two names": lambda: docker_29(DRAFT, tags=2),
    "engines from 29 on, only their own platform's blobs": _without_the_other_platforms_blobs,
    "OCI": lambda: oci(GZIPPED),
    "OCI, several platforms": lambda: oci(ARM, DRAFT, OTHER),
    "OCI, an index in an index": _in_an_index_of_an_index,
}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> BotImage:
    """Return the image that is in all the archives."""
    folder = tmp_path_factory.mktemp("plain")
    return read(write(folder / "archive", old_docker(DRAFT)), folder / "output")


@pytest.mark.parametrize(
    ("shape", "compressed"),
    [*((shape, False) for shape in SHAPES), ("engines before 25", True), ("OCI", True)],
)
def test_each_shape_gives_the_same_image(
    shape: str, plain: BotImage, tmp_path: Path, *, compressed: bool
) -> None:
    """Engine, compression and other platforms make no difference to an image."""
    archive = write(tmp_path / "archive", SHAPES[shape](), compressed=compressed)
    assert read(archive, tmp_path / "output") == plain
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archive", "output"]


def test_another_platform_gives_its_own_image(tmp_path: Path) -> None:
    """The platform selects one of an archive's images."""
    archive = write(tmp_path / "archive", docker_29(DRAFT, ARM))
    image = read(archive, tmp_path / "output", ARM64)
    assert (image.platform, image.command.cmd) == (ARM64, ("arm",))


def test_the_configuration_is_kept(plain: BotImage) -> None:
    """The image keeps its entry point, variables and working directory."""
    assert plain.command == Command(
        entrypoint=("python", "/bot/bot.py"), env=("PATH=/usr/bin",), working_dir="/bot"
    )


def test_the_last_value_of_a_repeated_variable_counts(tmp_path: Path) -> None:
    """A repeated variable is listed once, with its last value."""
    draft = Draft(config={"Env": ["A=1", "B=2", "A=3"], "WorkingDir": ""})
    command = read(write(tmp_path / "archive", oci(draft)), tmp_path / "output").command
    assert (command.env, command.working_dir) == (("A=3", "B=2"), "/")


def test_layers_are_repacked_completely(tmp_path: Path) -> None:
    """Files, folders, links, long names and whiteouts are kept, with their modes and times."""
    long = "/".join(["long" * 20] * 5)
    layer = tar(
        folder(b"./"),
        folder(b"./d", mode=0o1777),
        file(b"./d/f", b"content", mode=0o640),
        symlink(b"d/s", b"../../etc/passwd"),
        hard_link(b"d/h", b"./d/f"),
        hard_link(b"d/t", b"d/s"),
        file(b"d/.wh.gone"),
        hard_link(b"d/.wh.too", b"d/.wh.gone"),
        file(b"d/.wh..wh..opq"),
        long_name(f"{long}/gnu".encode()) + file(b"x"),
        pax((b"path", f"{long}/päx".encode()), (b"mtime", b"1700000001.75"), (b"size", b"3"))
        + header(b"x")
        + b"abc".ljust(512, b"\0"),
    )
    image = read(
        write(tmp_path / "archive", old_docker(Draft(layers=[BASE, BOT, layer]))), tmp_path / "output"
    )
    found = listed(image, tmp_path / "output")[2]
    kinds = {name: member.type for name, member in found.items() if not name.startswith("long")}
    assert kinds == {
        "d": b"5", "d/f": b"0", "d/s": b"2", "d/h": b"1", "d/t": b"2",
        "d/.wh.gone": b"0", "d/.wh.too": b"0", "d/.wh..wh..opq": b"0",
    }  # fmt: skip
    assert (found["d"].mode, found["d/f"].mode, found["d/f"].size) == (0o1777, 0o640, 7)
    assert (found["d/s"].linkname, found["d/h"].linkname, found["d/t"].linkname) == (
        "../../etc/passwd",
        "d/f",
        "../../etc/passwd",
    )
    assert (found["d/f"].mtime, found[f"{long}/päx"].mtime, found[f"{long}/päx"].size) == (
        1_700_000_000,
        1_700_000_001,
        3,
    )
    assert f"{long}/gnu" in found


def test_folders_without_an_entry_get_one(tmp_path: Path) -> None:
    """Engines would create such folders with different modes, or remove them at an opaque mark."""
    lower = tar(folder(b"a", mode=0o711), folder(b"a/b"))
    layer = tar(
        file(b"run/x"),
        file(b"a/b/x"),
        file(b"a/.wh..wh..opq"),
        hard_link(b"c", b"a/b/x"),
        folder(b"a/b", mode=0o700),
        file(b"new/.wh.gone"),
    )
    image = read(write(tmp_path / "archive", oci(Draft(layers=[lower, layer]))), tmp_path / "output")
    found = listed(image, tmp_path / "output")[1]
    assert list(found) == ["run", "run/x", "a", "a/b", "a/b/x", "a/.wh..wh..opq", "c", "new", "new/.wh.gone"]
    assert {name: member.mode for name, member in found.items() if member.isdir()} == {
        "run": 0o755,
        "a": 0o711,  # as in the lower layer
        "a/b": 0o700,  # the last entry counts
        "new": 0o755,
    }


def test_an_opaque_mark_after_a_folders_entries_empties_it(tmp_path: Path) -> None:
    """The mark hides everything that lower layers have in the folder, but nothing in its own layer."""
    lower = tar(folder(b"a"), folder(b"a/b"), symlink(b"a/b/l", b"/"), file(b"a/b/f"))
    layer = tar(folder(b"a"), folder(b"a/b"), file(b"a/.wh..wh..opq"), file(b"a/b/l/x"))
    image = read(write(tmp_path / "archive", oci(Draft(layers=[lower, layer]))), tmp_path / "output")
    assert "a/b/l/x" in listed(image, tmp_path / "output")[1]


def test_a_link_to_an_equal_layer_is_that_layer(tmp_path: Path) -> None:
    """Older engines and podman replace a layer with a link to an equal one."""
    files = old_docker(Draft(layers=[BASE, BOT, BOT]))
    *_, first, second = [name for name, content in files.items() if content == BOT]
    podman = "a" * 64 + "/layer.tar"
    whole = [*members({name: content for name, content in files.items() if name != second})]
    links = [
        symlink(second.encode(), f"../{first}".encode()),
        symlink(podman.encode(), f"../{first}".encode()),
    ]
    (tmp_path / "archive").write_bytes(tar(links[0], *whole, links[1]))
    image = read(tmp_path / "archive", tmp_path / "output")
    assert [layer.digest for layer in image.layers[1:]] == [image.layers[1].digest] * 2


def test_gzip_in_parts_with_trailing_zeros(tmp_path: Path) -> None:
    """Some builders compress the files of a layer separately, and some pad the result."""
    parts = Draft(packed=lambda layer: zipped(layer[:700]) + zipped(layer[700:]) + bytes(300))
    one = read(write(tmp_path / "parts", oci(parts)), tmp_path / "output")
    assert one == read(write(tmp_path / "whole", oci(DRAFT)), tmp_path / "output")


def test_files_in_mounted_folders_are_dropped(tmp_path: Path) -> None:
    """The runtime mounts over these folders, so only the folders themselves are kept."""
    layer = tar(
        folder(b"dev"), header(b"dev/null", kind=b"3"), folder(b"dev/shm"), file(b"proc/x"), file(b"kept")
    )
    image = read(write(tmp_path / "archive", oci(Draft(layers=[layer]))), tmp_path / "output")
    assert list(listed(image, tmp_path / "output")[0]) == ["dev", "kept"]


def test_an_old_output_is_overwritten(tmp_path: Path, plain: BotImage) -> None:
    """The output contains only this image's layers."""
    output = tmp_path / "output"
    output.write_bytes(bytes(1_000_000))
    assert read(write(tmp_path / "archive", oci(DRAFT)), output) == plain
    assert output.stat().st_size == sum(layer.size for layer in plain.layers)


def test_a_rejection_removes_an_old_output(tmp_path: Path) -> None:
    """Old layers can't be mistaken for those of the rejected archive."""
    output = tmp_path / "output"
    output.write_bytes(b"old")
    with pytest.raises(Rejected):
        read(write(tmp_path / "archive", oci(replace(DRAFT, platform=ARM64))), output)
    assert not output.exists()
