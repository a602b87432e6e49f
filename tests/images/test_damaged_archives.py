"""Damaged archives are accepted or rejected, whatever bytes they have; they never crash the reader."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.images.archive import Answer, Job, Refused, Repacked
from arena.images.archive import __main__ as process
from arena.images.image import DEFAULT_LIMITS
from tests.images.archives import AMD64, ARM64, Draft, docker_29, members, old_docker
from tests.images.tars import file, folder, hard_link, long_name, pax, symlink, tar, zipped
from tests.soak import many

_LAYER = tar(
    folder(b"a"), file(b"a/f", b"x" * 600), symlink(b"a/s", b"f"), hard_link(b"a/h", b"a/f"),
    long_name(b"a/" + b"n" * 120) + file(b"x"), pax((b"path", b"a/p"), (b"mtime", b"1.5")) + file(b"x"),
    file(b"a/.wh.gone"),
)  # fmt: skip
ARCHIVES = {
    "old": tar(*members(old_docker(Draft(layers=[_LAYER])))),
    "old, gzipped layers": tar(*members(old_docker(Draft(layers=[_LAYER], packed=zipped)))),
    "new": tar(*members(docker_29(Draft(layers=[_LAYER]), Draft(platform=ARM64)))),
    "gzip": zipped(tar(*members(old_docker(Draft(layers=[_LAYER]))))),
}
CHANGES = st.lists(
    st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=12)), min_size=1, max_size=4
)


def answer(content: bytes, directory: Path) -> Answer:
    """Return the reader's verdict on these bytes, without starting its process."""
    files = [directory / name for name in ("archive", "scratch", "output")]
    files[0].write_bytes(content)
    descriptors = [os.open(path, os.O_RDWR | os.O_CREAT) for path in files]
    for descriptor in descriptors[1:]:
        os.truncate(descriptor, 0)
    archive, scratch, output = descriptors
    try:
        job = Job(
            archive=archive, scratch=scratch, output=output, platform=AMD64, uid=None, limits=DEFAULT_LIMITS
        )
        return process._answer(job)  # noqa: SLF001 - tests the verdict without the process
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


@pytest.mark.parametrize("shape", ARCHIVES)
def test_undamaged(shape: str, tmp_path: Path) -> None:
    """The archives that the other tests damage are valid."""
    assert isinstance(answer(ARCHIVES[shape], tmp_path), Repacked)


@pytest.mark.parametrize("shape", ARCHIVES)
@given(changes=CHANGES)
@settings(max_examples=many(30, 150), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_somewhere(shape: str, changes: list[tuple[float, bytes]], tmp_path: Path) -> None:
    """Changed bytes cause a rejection or make no difference, but never crash the reader."""
    content = bytearray(ARCHIVES[shape])
    for place, piece in changes:
        start = int(place * len(content))
        content[start : start + len(piece)] = piece
    assert isinstance(answer(bytes(content), tmp_path), Refused | Repacked)


@pytest.mark.parametrize("shape", ARCHIVES)
@given(place=st.floats(0, 1, exclude_max=True))
@settings(max_examples=many(20, 50), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_cut_off_anywhere(shape: str, place: float, tmp_path: Path) -> None:
    """An archive that ends early is rejected, unless only zeros or an unread last file are missing."""
    content = ARCHIVES[shape]
    cut = content[: int(place * len(content))]
    verdict = answer(cut, tmp_path)
    missing = content[len(cut) :]
    unread = not missing.strip(b"\0") or missing.startswith(b"repositories\0")
    assert unread or isinstance(verdict, Refused)
