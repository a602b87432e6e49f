"""Images are stored by digest, completely or not at all."""

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from arena.images.image import IntakeError, Layer
from arena.images.objects import Objects
from arena.images.store import GRACE, ImageStore, PrunePolicy
from tests.images.builders import NOW, PLENTY, Contents, blobs, image, keep, layer, store_in
from tests.patience import WAIT_SECONDS

ROOT = Path(__file__).parents[2]
BASE, ONE, TWO = b"base" * 1000, b"first", b"second"


@pytest.fixture(params=["folder", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ImageStore:
    """Create an empty store in a folder, then one in an object store."""
    if request.param == "folder":
        return store_in(tmp_path)
    return ImageStore(Objects(f"memory://{uuid.uuid4().hex}"), tmp_path / "lock")


def test_an_added_image_is_stored(store: ImageStore) -> None:
    """A stored image is returned unchanged; its layers and configuration can be read by digest."""
    added = keep(store, BASE, ONE)
    assert store.records.image(added.id) == added
    assert store.records.ids() == {added.id}
    for content in (BASE, ONE, added.config()):
        assert b"".join(store.blob(layer(content).digest, len(content))) == content


def test_an_image_survives_a_power_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each object is on disk under its name before the image's record, which comes last."""
    synced, fsync = list[str](), os.fsync

    def note(opened: int) -> None:
        fsync(opened)
        synced.append(Path(f"/proc/self/fd/{opened}").readlink().name)

    monkeypatch.setattr(os, "fsync", note)
    keep(store_in(tmp_path), ONE)
    assert synced[1::2] == ["sha256", "sha256", "used", "images"]


def test_an_unknown_image(store: ImageStore) -> None:
    """Looking up an unknown image returns None, and reading its blob raises an error with the digest."""
    assert store.records.image(image(ONE).id) is None
    with pytest.raises(IntakeError, match=layer(ONE).digest.removeprefix("sha256:")):
        list(store.blob(layer(ONE).digest, len(ONE)))


def test_layers_are_stored_once(tmp_path: Path) -> None:
    """A layer that two images share is read and stored once."""
    store = store_in(tmp_path)
    first, second = keep(store, BASE, ONE), image(BASE, TWO)
    contents = Contents(BASE, TWO)
    store.add(second, contents, PLENTY, NOW)
    assert contents.asked == [layer(TWO).digest]
    assert blobs(tmp_path) == {layer(part).digest for part in (BASE, ONE, TWO)} | {first.id, second.id}


def test_adding_an_image_again_changes_nothing(store: ImageStore) -> None:
    """Adding an image again reads no layer."""
    added = keep(store, BASE, ONE)
    contents = Contents(BASE, ONE)
    store.add(added, contents, PLENTY, NOW)
    assert contents.asked == []
    assert store.records.ids() == {added.id}


def test_a_layer_that_is_in_an_image_twice(store: ImageStore) -> None:
    """A layer that occurs twice in an image is read once."""
    added, contents = image(ONE, BASE, ONE), Contents(ONE, BASE)
    store.add(added, contents, PLENTY, NOW)
    assert contents.asked == [layer(ONE).digest, layer(BASE).digest]
    assert store.records.image(added.id) == added


@pytest.mark.parametrize("given", [b"firsT", b"firs", b"first and more"])
def test_bytes_of_another_digest_are_refused(tmp_path: Path, given: bytes) -> None:
    """Bytes that don't match their digest are refused. No blob, image or partial file is left."""
    store = store_in(tmp_path)

    def content(_: Layer) -> Iterator[bytes]:
        yield given

    with pytest.raises(IntakeError, match=layer(ONE).digest):
        store.add(image(ONE), content, PLENTY, NOW)
    assert store.records.ids() == frozenset()
    assert [path for path in (tmp_path / "images").rglob("*") if path.is_file()] == []


def test_a_damaged_blob_is_named(tmp_path: Path) -> None:
    """Reading a damaged blob to its end raises an error with its digest and location."""
    store = store_in(tmp_path)
    keep(store, ONE)
    digest = layer(ONE).digest
    (tmp_path / "images" / "blobs" / "sha256" / digest.removeprefix("sha256:")).write_bytes(b"f1rst")
    with pytest.raises(IntakeError, match=f"{digest} in {tmp_path}/images is damaged"):
        list(store.blob(digest, len(ONE)))


def test_adding_again_restores_missing_blobs(tmp_path: Path) -> None:
    """A blob that was removed, for example because it was damaged, is written again."""
    store = store_in(tmp_path)
    added = keep(store, BASE, ONE)
    (tmp_path / "images" / "blobs" / "sha256" / layer(ONE).digest.removeprefix("sha256:")).unlink()
    keep(store, BASE, ONE)
    assert b"".join(store.blob(layer(ONE).digest, len(ONE))) == ONE
    assert store.records.ids() == {added.id}


@pytest.mark.parametrize("text", ["", "{}", "another's"])
def test_a_damaged_record_is_named(tmp_path: Path, text: str) -> None:
    """Looking up an image whose record is damaged raises an error that names the file to remove."""
    store = store_in(tmp_path)
    added, other = keep(store, ONE), keep(store, TWO)
    names = [f"images/{found.id.removeprefix('sha256:')}" for found in (added, other)]
    records = [tmp_path / "images" / name for name in names]
    records[0].write_bytes(records[1].read_bytes() if text == "another's" else text.encode())
    with pytest.raises(IntakeError, match=f"{names[0]} in .* is damaged: remove it"):
        store.records.image(added.id)


def test_foreign_files_are_ignored(tmp_path: Path) -> None:
    """Other files among the records are ignored when images are added and pruned."""
    store = store_in(tmp_path)
    added = keep(store, ONE)
    stray = next(path for path in tmp_path.rglob("images") if path.is_dir()) / "notes.txt"
    stray.write_text("hello")
    assert store.records.ids() == {added.id}
    keep(store, TWO)
    store.prune(PrunePolicy(quota=0, keep=frozenset), NOW + 2 * GRACE)
    assert store.records.ids() == frozenset()
    assert stray.read_text() == "hello"


def test_the_folder_is_private(tmp_path: Path) -> None:
    """Other users of this host can't read submitted images."""
    keep(store_in(tmp_path), ONE)
    assert (tmp_path / "images").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("url", ["nonsense://x", "file:///dev/null/x"])
def test_an_unusable_place_is_named(url: str) -> None:
    """The error for an unusable location names the location and the setting."""
    with pytest.raises(IntakeError, match=f"{url}.*ARENA_IMAGES_URL"):
        Objects(url)


def test_no_error_shows_a_password() -> None:
    """No error shows a password, since authors whose submissions are waiting can see the errors."""
    with pytest.raises(IntakeError, match=r"nonsense://\*\*\*@host/x") as caught:
        Objects("nonsense://ann:hunt/er2@host/x")
    assert "er2" not in str(caught.value)


def test_two_at_once(tmp_path: Path) -> None:
    """Threads and processes that add and prune at the same time leave only complete images."""
    program = (
        "import sys; from pathlib import Path; from tests.images.builders import *\n"
        "store = store_in(Path(sys.argv[1]))\n"
        "for number in range(10):\n"
        "    keep(store, b'base' * 1000, b'%d' % number)\n"
        "    store.prune(PrunePolicy(quota=1 << 40, keep=frozenset), NOW)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    processes = [subprocess.Popen(command, cwd=ROOT) for _ in range(2)]  # noqa: S603 - our own
    store = store_in(tmp_path)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda number: keep(store, BASE, b"%d" % number), range(10)))
    assert [process.wait(WAIT_SECONDS) for process in processes] == [0, 0]
    expected = [image(BASE, b"%d" % number) for number in range(10)]
    assert store.records.ids() == {added.id for added in expected}
    for number, added in enumerate(expected):
        assert store.records.image(added.id) == added
        assert b"".join(store.blob(added.layers[1].digest, 1)) == b"%d" % number
    assert b"".join(store.blob(layer(BASE).digest, len(BASE))) == BASE


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.images.builders import *

def content(layer):
    if layer.size == 5:
        yield b"fi"
        os.kill(os.getpid(), signal.SIGKILL)
    yield b"base" * 1000

store_in(Path(sys.argv[1])).add(image(b"base" * 1000, b"first"), content, PLENTY, NOW)
"""


def test_a_killed_add_leaves_what_the_next_prune_removes(tmp_path: Path) -> None:
    """A killed add leaves no image, only a complete blob and a partial one, which are later pruned."""
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    ended = subprocess.run(command, cwd=ROOT, check=False, timeout=WAIT_SECONDS)  # noqa: S603 - our own
    assert ended.returncode == -9
    store = store_in(tmp_path)
    assert store.records.ids() == frozenset()
    files = [path for path in (tmp_path / "images").rglob("*") if path.is_file()]
    assert sorted(path.parent.name for path in files) == ["incoming", "sha256"]
    store.prune(PLENTY, datetime.now(UTC))
    assert all(path.exists() for path in files)
    assert store.prune(PLENTY, datetime.now(UTC) + GRACE + timedelta(seconds=2)).freed == len(BASE)
    assert not any(path.exists() for path in files)


def test_an_image_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    """The error has the sizes, the quota and the setting. Images in use are kept, and nothing is added."""
    store = store_in(tmp_path)
    mib = 1 << 20
    used = keep(store, bytes(2 * mib))
    with pytest.raises(IntakeError, match=r"needs 3\.0 MiB.*is 4\.0 MiB.*take 2\.0.*ARENA_IMAGE_QUOTA"):
        keep(store, b"x" * 3 * mib, now=NOW, policy=PrunePolicy(quota=4 * mib, keep=lambda: {used.id}))
    assert store.records.ids() == {used.id}


def test_an_add_makes_room(tmp_path: Path) -> None:
    """An unused image is removed to make room for a new one; layers that they share are kept."""
    store = store_in(tmp_path)
    old = keep(store, BASE, b"o" * 5000)
    policy = PrunePolicy(quota=12_000, keep=frozenset)
    contents = Contents(BASE, b"n" * 5000)
    new = image(BASE, b"n" * 5000)
    store.add(new, contents, policy, NOW + timedelta(hours=1))
    assert store.records.ids() == {new.id}
    assert contents.asked == [layer(b"n" * 5000).digest]
    assert blobs(tmp_path) == {layer(BASE).digest, layer(b"n" * 5000).digest, new.id}
    assert old.id != new.id


def test_use_is_noted_at_most_once_an_hour(store: ImageStore) -> None:
    """The time of the last use decides the order of removal, and is written at most once per hour."""
    first, second = keep(store, b"1" * 1000), keep(store, b"2" * 1000, now=NOW + timedelta(minutes=30))
    store.records.record_use(first.id, NOW + timedelta(minutes=59))
    used = {kept.id: kept.used for kept in store.records.stored()}
    assert used == {first.id: NOW, second.id: NOW + timedelta(minutes=30)}
    store.records.record_use(first.id, NOW + timedelta(minutes=60))
    pruned = store.prune(PrunePolicy(quota=2000, keep=frozenset), NOW + timedelta(days=1))
    assert pruned.images == (second.id,)
    assert store.records.ids() == {first.id}


def test_prune_spares_what_is_in_use_and_what_is_young(store: ImageStore) -> None:
    """Nothing is removed below the quota; above it, images in use and recent ones are kept."""
    playing, idle = keep(store, b"1" * 1000), keep(store, b"2" * 1000)
    later = NOW + timedelta(days=1)
    young = keep(store, b"3" * 1000, now=later - timedelta(minutes=9))
    assert store.prune(PLENTY, later).images == ()
    pruned = store.prune(PrunePolicy(quota=0, keep=lambda: {playing.id}), later)
    assert pruned.images == (idle.id,)
    assert store.records.ids() == {playing.id, young.id}
    assert pruned.freed > 1000
    assert pruned.left > 2000


def test_a_clock_that_was_ahead_protects_no_image(store: ImageStore) -> None:
    """An image that seems to have been used in the future is pruned, and its next use corrects the time."""
    unused, used = (keep(store, content, now=NOW + timedelta(days=365)) for content in (ONE, TWO))
    store.records.record_use(used.id, NOW)
    pruned = store.prune(PrunePolicy(quota=0, keep=frozenset), NOW + timedelta(minutes=5))
    assert pruned.images == (unused.id,)
    assert store.records.ids() == {used.id}


def test_notes_go_with_their_images(tmp_path: Path) -> None:
    """Records of use and of bases are removed with their image."""
    store = store_in(tmp_path)
    gone = keep(store, ONE)
    store.records.record_base("sha256:" + "b" * 64, gone.id)
    assert store.records.base("sha256:" + "b" * 64) == gone
    store.prune(PrunePolicy(quota=0, keep=frozenset), NOW + timedelta(days=1))
    assert [path for path in (tmp_path / "images").rglob("*") if path.is_file()] == []
    assert store.records.base("sha256:" + "b" * 64) is None


def test_an_unusable_folder_is_an_error(tmp_path: Path) -> None:
    """If the folder is unusable, the error says what failed and what to check. No image is stored."""
    store = store_in(tmp_path)
    (tmp_path / "images" / "blobs").write_text("no folder")
    with pytest.raises(
        IntakeError, match=r"could not list blobs/sha256 in .*that the arena's user has access"
    ):
        keep(store, ONE)
    assert store.records.ids() == frozenset()
