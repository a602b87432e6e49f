"""Images are in the page cache before a bot starts, so that bots can't signal by reading their files."""

import json
import mmap
import os
import secrets
from pathlib import Path

import pytest

from arena.images.image import IntakeLimits
from arena.sandbox.docker import policy
from arena.sandbox.docker.images import DockerImages
from arena.sandbox.kernel import page_cache
from arena.sandbox.kernel.page_cache import PageCacheWarmer
from arena.sandbox.runtime import DISK_READ_BYTES_PER_SECOND
from tests.patience import wait_until
from tests.sandbox.stage import DockerStage, run_source

_BITS = 512
_STEP = 64 * 1024
_FILE = f"USER 0:0\nRUN head -c {_BITS * _STEP} /dev/urandom > /pages"

_MIN_SECONDS = 0.8 * _BITS * _STEP / DISK_READ_BYTES_PER_SECOND
"""The time that it takes to read the file at the limit, less what the kernel may grant in advance."""

SAY = """
import os, sys
file = os.open("/pages", os.O_RDONLY)
for place, bit in enumerate(BITS):
    if bit == "1":
        os.pread(file, 4096, place * STEP)
"""

HEAR = """
import json, os, sys, time
file, times = os.open("/pages", os.O_RDONLY), []
for place in range(len(BITS)):
    begun = time.perf_counter()
    os.pread(file, 4096, place * STEP)
    times.append(time.perf_counter() - begun)
json.dump(times, sys.stderr)
"""


READ = """
import os, sys, time
file, begun = os.open("/pages", os.O_RDONLY), time.monotonic()
while os.read(file, STEP):
    pass
print(time.monotonic() - begun, file=sys.stderr)
"""


class Pages:
    """An image with a large file, and programs that read the file to send and receive bits."""

    def __init__(self, stage: DockerStage) -> None:
        self._stage = stage
        self.image = stage.image(_FILE)
        self.folders = DockerImages(stage.client.api).find(stage.image("CMD true", self.image)).layers or ()

    @property
    def file(self) -> Path:
        """Path of the file on this machine."""
        return next(path for folder in self.folders if (path := folder / "pages").exists())

    def forget(self) -> None:
        """Drop the file from the page cache."""
        file = os.open(self.file, os.O_RDONLY)
        os.fsync(file)  # pages that have not been written can't be dropped
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)

    def program(self, text: str, bits: str) -> str:
        """Return the ID of an image whose program has these bits."""
        words = text.replace("BITS", repr(bits)).replace("STEP", str(_STEP))
        return self._stage.started_by(["python3", "-c", words], self.image)

    def tell(self) -> float:
        """Send bits from one bot to another, and return an upper bound on the share received correctly."""
        bits = "".join(secrets.choice("01") for _ in range(_BITS))
        said = run_source(self._stage, self.program(SAY, bits))
        assert said[0].code == 0, said
        # The receiver is told the number of bits, but not their values.
        ended, text = run_source(self._stage, self.program(HEAR, "0" * _BITS))
        assert ended.code == 0, text
        times = json.loads(text)
        ranked = sorted(range(_BITS), key=lambda place: times[place])
        ones = set(ranked[: bits.count("1")])  # the fastest reads
        return sum((place in ones) == (bit == "1") for place, bit in enumerate(bits)) / _BITS

    def read(self) -> float:
        """Return how many seconds a bot needs to read the file from the disk."""
        self.forget()
        ended, text = run_source(self._stage, self.program(READ, ""))
        assert ended.code == 0, text
        return float(text)


@pytest.fixture(scope="module")
def known_pages(docker_stage: DockerStage) -> Pages:
    """Return the image, created once per module."""
    return Pages(docker_stage)


@pytest.fixture
def pages(known_pages: Pages, root: None) -> Pages:
    """Return the image with a file that is not in the page cache."""
    del root
    if not known_pages.folders or not known_pages.folders[0].exists():
        pytest.skip("the engine's folders can't be seen (let it use overlay2 on this machine)")
    known_pages.forget()
    return known_pages


@pytest.mark.docker
def test_a_bot_can_not_find_out_what_another_has_read(pages: Pages) -> None:
    """Pages are read equally fast whether or not another bot has read them before."""
    assert pages.tell() < 0.65


@pytest.mark.soak
@pytest.mark.docker
def test_a_bot_can_find_out_if_layers_are_not_read_first(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If layers aren't read first, nearly every bit arrives, so the previous test can fail."""
    monkeypatch.setattr(PageCacheWarmer, "warm", lambda *_: None)
    assert pages.tell() > 0.9


@pytest.fixture
def cold(pages: Pages, docker_stage: DockerStage, monkeypatch: pytest.MonkeyPatch) -> Pages:
    """Return the image with a file that isn't read into memory before a bot starts, on a known disk."""
    if not docker_stage.runtime.host.disk:
        pytest.skip("the disk of the engine's images is unknown")
    monkeypatch.setattr(PageCacheWarmer, "warm", lambda *_: "")
    return pages


@pytest.mark.docker
def test_reading_from_the_disk_is_limited(cold: Pages) -> None:
    """A bot reads a file that is not in the page cache no faster than the limit."""
    assert cold.read() > _MIN_SECONDS


@pytest.mark.soak  # a busy disk may itself be as slow as the limit
@pytest.mark.docker
def test_without_the_limit_reading_from_the_disk_is_faster(
    cold: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot without the limit reads the same file faster."""
    monkeypatch.setattr(policy, "_disk_limits", lambda _: {})
    wait_until(lambda: cold.read() < _MIN_SECONDS, "a fast read")


@pytest.mark.docker
def test_layers_are_read_once_a_minute(pages: Pages) -> None:
    """A layer is read again only after a minute, for which it is assumed to stay in memory."""
    now = 0.0
    warmth = PageCacheWarmer(clock=lambda: now)
    assert not warmth.warm(pages.folders)
    assert resident(pages.file)
    pages.forget()
    now = 59.0
    warmth.warm(pages.folders)
    assert not resident(pages.file)
    now = 61.0
    warmth.warm(pages.folders)
    assert resident(pages.file)


@pytest.mark.docker
def test_a_host_without_memory_to_spare_is_left_alone(pages: Pages) -> None:
    """A layer is read only if it takes at most half of the available memory."""
    size = pages.file.stat().st_size
    cold = PageCacheWarmer(available=lambda: 2 * size - 1).warm([pages.file.parent])
    assert cold == f"{pages.file.parent} takes 32 MiB, but the host can spare only 31 MiB for it"
    assert not resident(pages.file)
    assert not PageCacheWarmer(available=lambda: 2 * size).warm([pages.file.parent])
    assert resident(pages.file)


def test_only_files_of_the_layer_itself_are_read(tmp_path: Path) -> None:
    """Only regular files of the layer are read; links to the host's files and pipes are skipped."""
    layer, outside = tmp_path / "layer", tmp_path / "outside"
    layer.mkdir()
    os.mkfifo(outside)
    os.mkfifo(layer / "pipe")
    (layer / "link").symlink_to(outside)
    assert not PageCacheWarmer().warm([layer])  # reading a pipe would block forever


def test_links_and_folders_count_as_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A layer with more entries than the limit is skipped. No submitted image may have more."""
    assert IntakeLimits().members <= page_cache.MAX_ENTRIES
    monkeypatch.setattr(page_cache, "MAX_ENTRIES", 2)
    for name in ("one", "two"):
        (tmp_path / name).symlink_to("nowhere")
    assert not PageCacheWarmer().warm([tmp_path])
    (tmp_path / "folder").mkdir()
    assert "more than 2 files" in PageCacheWarmer().warm([tmp_path])


def test_a_file_with_several_names_counts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise an author could have a small image skipped by its many links to a file."""
    assert IntakeLimits().image_bytes <= page_cache.MAX_BYTES
    monkeypatch.setattr(page_cache, "MAX_BYTES", 2 << 20)
    (tmp_path / "file").write_bytes(bytes(1 << 20))
    for name in range(5):
        (tmp_path / str(name)).hardlink_to(tmp_path / "file")
    assert not PageCacheWarmer().warm([tmp_path])
    (tmp_path / "other").write_bytes(bytes((1 << 20) + 1))
    assert "more than 2 MiB" in PageCacheWarmer().warm([tmp_path])


def test_layers_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    """Unreadable layers are reported until the next attempt. The other layers are still read."""
    gone, now = tmp_path / "gone", 0.0
    warmth = PageCacheWarmer(clock=lambda: now)
    assert warmth.warm([gone, tmp_path]) == f"{gone} can't be read: No such file or directory"
    gone.mkdir()
    now = 59.0
    assert str(gone) in warmth.warm([gone, tmp_path])
    now = 61.0
    assert not warmth.warm([tmp_path, gone])


def test_an_engine_that_lists_no_layers_is_reported() -> None:
    """An engine that lists no layers, as with most storage drivers, is reported."""
    assert "neither overlay2 nor btrfs" in PageCacheWarmer().warm(None)


def test_containers_that_share_no_files_need_no_reading() -> None:
    """With btrfs each container has its own snapshot, so no files need to be read."""
    assert not PageCacheWarmer().warm([])


def resident(path: Path) -> bool:
    """Return True if the whole file is in memory, so that it can be read without waiting."""
    file = os.open(path, os.O_RDONLY)
    try:
        for place in range(0, path.stat().st_size, mmap.PAGESIZE):
            os.preadv(file, [bytearray(1)], place, os.RWF_NOWAIT)
    except BlockingIOError:
        return False
    finally:
        os.close(file)
    return True
