"""Intake turns files into stored images: it detects their kind, and stores each base image once."""

import gzip
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from arena.images.image import IntakeError, Platform, Rejected
from arena.images.intake import Bases, Intake, remove_leftovers, workspace
from arena.images.store import GRACE, ImageStore, PrunePolicy
from arena.languages.language import Language
from tests.images.archives import PATIENT, Draft, members, old_docker
from tests.images.builders import NOW, PLENTY, blobs, store_in
from tests.images.tars import file as file_in_tar
from tests.images.tars import tar

ENGINE_ID = "sha256:" + "e" * 64


def saved(text: str) -> bytes:
    """Return the ``docker save`` archive of an image with one file."""
    return tar(*members(old_docker(Draft(layers=[tar(file_in_tar(b"etc/motd", text.encode()))]))))


class Engine:
    """An engine with one base image for all languages, which counts its exports."""

    def __init__(self) -> None:
        self.exports = 0
        self.id = ENGINE_ID
        self.archive = saved("base")

    def find(self, _: Language) -> str:
        """Return the base image's ID."""
        return self.id

    def export(self, id_: str) -> Iterator[bytes]:
        """Yield the base image's archive in two pieces."""
        assert id_ == self.id
        self.exports += 1
        yield self.archive[:1000]
        yield self.archive[1000:]


@pytest.fixture
def store(tmp_path: Path) -> ImageStore:
    """Return an empty store."""
    return store_in(tmp_path)


@pytest.fixture
def engine() -> Engine:
    """Return an engine."""
    return Engine()


@pytest.fixture
def intake(store: ImageStore, engine: Engine, tmp_path: Path) -> Intake:
    """Return an intake into the store."""
    bases = Bases(find=engine.find, export=engine.export)
    folder, platform = tmp_path / "incoming", Platform("linux", "amd64")
    return Intake(store, bases, folder, platform, lambda: NOW, limits=PATIENT)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_an_archive_is_detected_by_its_content(
    intake: Intake, store: ImageStore, tmp_path: Path, pack: type[bytes]
) -> None:
    """An archive is detected whatever its name is. Only the image is left afterwards."""
    file = tmp_path / "bot.py"
    file.write_bytes(pack(saved("mine")))
    image = intake.take(file, PLENTY)
    assert store.records.ids() == {image.id}
    assert blobs(tmp_path) == {image.id, *(layer.digest for layer in image.layers)}
    assert list((tmp_path / "incoming").iterdir()) == []


def test_a_source_file_is_wrapped_on_a_base_that_is_kept_once(
    intake: Intake, store: ImageStore, engine: Engine, tmp_path: Path
) -> None:
    """The second file reuses the stored base. A rebuilt base is exported again."""
    files = [tmp_path / name for name in ("a.py", "b.py", "c.js")]
    for file in files:
        file.write_text(f"# {file.name}")
    first, second = (intake.take(file, PLENTY) for file in files[:2])
    assert engine.exports == 1
    assert first.layers[:-1] == second.layers[:-1]
    assert first.command.entrypoint == ("python3", "/bot/bot.py")
    engine.id = "sha256:" + "f" * 64
    third = intake.take(files[2], PLENTY)
    assert engine.exports == 2
    assert third.command.entrypoint == ("node", "/bot/bot.js")
    assert {first.id, second.id, third.id} < store.records.ids()
    assert len(blobs(tmp_path)) == 1 + 1 + 3 + 3  # base layer and configuration, top layers, configurations


def test_a_base_that_was_pruned_is_exported_again(
    intake: Intake, store: ImageStore, engine: Engine, tmp_path: Path
) -> None:
    """A base that was pruned because it had long been unused is exported again."""
    file = tmp_path / "a.py"
    file.write_text("pass")
    image = intake.take(file, PLENTY)
    store.prune(PrunePolicy(quota=0, keep=frozenset), NOW + timedelta(days=1))
    assert store.records.ids() == frozenset()
    assert intake.take(file, PLENTY) == image
    assert engine.exports == 2


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("bot.zip", b"PK\3\4", "neither an image archive nor a source file"),
        ("bot.tar", b"", "neither"),
        ("bot.py", b"\x1f\x8bnonsense", "gzip"),
        ("bot.py", b"a\0b", "NUL"),
        ("bot.tar", tar(file_in_tar(b"readme", b"nothing")), "archive"),
    ],
    ids=["zip", "empty", "broken gzip", "binary", "no image"],
)
def test_a_rejected_file_leaves_nothing(
    intake: Intake, tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    """The error says why a file is rejected. Neither an image nor a temporary file is left."""
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(Rejected, match=words):
        intake.take(file, PLENTY)
    assert list((tmp_path / "images").rglob("*")) == []
    assert list((tmp_path / "incoming").glob("*")) == []


def test_an_invalid_base_is_an_arena_fault(
    intake: Intake, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The source file isn't blamed for a defect of the base image."""
    monkeypatch.setattr(engine, "archive", tar(file_in_tar(b"readme", b"nothing")))
    file = tmp_path / "a.py"
    file.write_text("pass")
    with pytest.raises(IntakeError, match=f"{ENGINE_ID} can't be stored"):
        intake.take(file, PLENTY)


def test_an_unreadable_file_is_no_fault_of_its_author(intake: Intake, tmp_path: Path) -> None:
    """The error names a file that can't be read. Only a missing file is the caller's mistake."""
    (tmp_path / "held.py").mkdir()
    with pytest.raises(IntakeError, match=r"held\.py can't be read: Is a directory"):
        intake.take(tmp_path / "held.py", PLENTY)
    with pytest.raises(Rejected, match=r"there is no file .*gone\.py"):
        intake.take(tmp_path / "gone.py", PLENTY)


def test_temporary_files_of_killed_processes_are_removed(tmp_path: Path) -> None:
    """Temporary files of killed processes are removed after a grace period. Other users can't read them."""
    parent = tmp_path / uuid.uuid4().hex
    remove_leftovers(parent, NOW)
    with workspace(parent) as folder:
        (folder / "layers").write_bytes(b"half")
        assert [path.stat().st_mode & 0o777 for path in (parent, folder)] == [0o700, 0o700]
        remove_leftovers(parent, datetime.now(UTC) + GRACE - timedelta(minutes=1))
        assert folder.exists()
        remove_leftovers(parent, datetime.now(UTC) + GRACE + timedelta(minutes=1))
        assert not folder.exists()
