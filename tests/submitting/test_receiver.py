"""Files that are received: whole and written down, or not at all."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from datetime import timedelta
from pathlib import Path

import pytest

from arena.admission import StrangersRefused
from arena.disk import Disk
from arena.intake.wrap import MAX_SOURCE_BYTES
from arena.names import WrongName
from arena.store import (
    BotTaken,
    KnownSubmission,
    NewAccount,
    Quota,
    QuotaReached,
    Role,
    SameContent,
    Store,
    open_store,
)
from arena.submitting.errors import Damaged, DiskFull, NoRoom, TooLarge, UploadRefused
from arena.submitting.receiver import MOST_AT_ONCE, Receiver, Upload
from arena.submitting.stages import Stage, UploadKind
from arena.submitting.uploads import GRACE, Uploads
from tests.builders import START, host_report
from tests.store.builders import add_bot

FILE = b"print('hello')\n"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Give a store that knows of a host which holds everything."""
    with closing(open_store(f"sqlite:///{tmp_path / 'arena.sqlite3'}")) as store:
        store.writes.record_host(host_report(), ())
        yield store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give where files go."""
    return tmp_path / "data" / "uploads"


def receiver(
    store: Store, folder: Path, *, most: int = 10, least_free: int = 0, own: bool = False
) -> Receiver:
    """Return what receives files."""
    ids = iter(range(1000))
    quota = Quota(submissions_a_day=most, bots=2, on_their_way=100)
    uploads = Uploads(folder, Disk(folder, least_free))
    return Receiver(store, uploads, quota, now=lambda: START, new_id=lambda: f"u{next(ids)}", own=own)


def upload(  # noqa: PLR0913 - what a sender may say
    bot: str = "mine",
    *,
    author: str = "ben",
    account: int | None = None,
    kind: UploadKind = UploadKind.PYTHON,
    note: str = "",
    size: int | None = None,
    sha256: str | None = None,
) -> Upload:
    """Return what is said of a file."""
    return Upload(bot=bot, author=author, account=account, kind=kind, note=note, size=size, sha256=sha256)


def send(receiver: Receiver, said: Upload, *pieces: bytes) -> KnownSubmission:
    """Send a file in pieces."""
    with receiver.begin(said) as incoming:
        for piece in pieces:
            incoming.write(piece)
        return incoming.finish()


def test_a_file_is_kept_under_its_submission(store: Store, folder: Path) -> None:
    """With its size, its hash and the note, from which everything invisible is gone."""
    digest = hashlib.sha256(FILE).hexdigest()
    said = upload(size=len(FILE), sha256=digest.upper(), note=" a\N{RIGHT-TO-LEFT OVERRIDE}b \n c ")
    known = send(receiver(store, folder), said, FILE[:3], FILE[3:])
    assert (known.stage, known.size, known.sha256, known.note) == (Stage.RECEIVED, len(FILE), digest, "a b c")
    assert store.desk.on_their_way() == (known,)
    assert [file.name for file in folder.iterdir()] == ["u0.py"]
    assert (folder / "u0.py").read_bytes() == FILE
    assert folder.stat().st_mode & 0o077 == 0


def test_what_is_not_known_beforehand_is_measured(store: Store, folder: Path) -> None:
    """An archive that is made while it is sent has neither size nor hash before its end."""
    known = send(receiver(store, folder), upload(kind=UploadKind.IMAGE), FILE)
    assert (known.size, known.sha256) == (len(FILE), hashlib.sha256(FILE).hexdigest())
    assert (folder / "u0.tar").is_file()


@pytest.mark.parametrize(
    ("said", "pieces", "error", "words"),
    [
        (upload(size=len(FILE) + 1), [FILE], Damaged, "15 of 16 bytes came"),
        (upload(size=3), [FILE], Damaged, "more bytes came than the 3"),
        (upload(sha256="0" * 64), [FILE], Damaged, "has the SHA-256 [0-9a-f]{64}, not 000"),
        (upload(), [], Damaged, "the file is empty"),
        (upload(size=MAX_SOURCE_BYTES + 1), [FILE], TooLarge, "a source file may have 1048576 bytes"),
        (upload(), [FILE, bytes(MAX_SOURCE_BYTES)], TooLarge, "a source file may have 1048576 bytes"),
        (upload(kind=UploadKind.IMAGE, size=1 << 40), [], TooLarge, "an image's archive may have"),
        (upload(note="x" * 201), [FILE], UploadRefused, "the note has 201 characters"),
        (upload("../up"), [FILE], WrongName, "can't be the name of a bot"),
        (upload("taken"), [FILE], BotTaken, "belongs to a bot of ann"),
    ],
)
def test_what_is_refused_leaves_nothing(  # noqa: PLR0913, PLR0917 - what is sent, and what is said
    store: Store, folder: Path, said: Upload, pieces: list[bytes], error: type[Exception], words: str
) -> None:
    """Neither a file nor a row, and the words say what was wrong."""
    add_bot(store, "taken", author="ann")
    with pytest.raises(error, match=words):
        send(receiver(store, folder), said, *pieces)
    assert not folder.exists() or list(folder.iterdir()) == []
    assert store.desk.newest() == ()


def test_a_broken_connection_leaves_nothing(store: Store, folder: Path) -> None:
    """Whatever ends the sending half way, the part that came goes with it."""
    with suppress(ConnectionResetError), receiver(store, folder).begin(upload()) as incoming:
        incoming.write(FILE)
        assert len(list(folder.iterdir())) == 1
        raise ConnectionResetError
    assert list(folder.iterdir()) == []
    assert store.desk.newest() == ()


def test_a_quota_that_was_reached_meanwhile_counts(store: Store, folder: Path) -> None:
    """Who sends two files at once when one is left gets one of them in; the other leaves nothing."""
    one = receiver(store, folder, most=1)
    with one.begin(upload()) as first, one.begin(upload()) as second:
        first.write(FILE)
        second.write(FILE * 2)
        first.finish()
        with pytest.raises(QuotaReached, match="1 is the most"):
            second.finish()
    assert [file.name for file in folder.iterdir()] == ["u0.py"]
    with pytest.raises(QuotaReached):
        send(one, upload(), FILE * 2)


def test_the_same_file_again_leaves_nothing(store: Store, folder: Path) -> None:
    """It is refused before it is sent where its hash is known, and else when it is here."""
    one = receiver(store, folder)
    send(one, upload(), FILE)
    digest = hashlib.sha256(FILE).hexdigest()
    with pytest.raises(SameContent), one.begin(upload(sha256=digest.upper())):
        pytest.fail("its bytes were asked for")
    with pytest.raises(SameContent):
        send(one, upload(), FILE)
    assert [file.name for file in folder.iterdir()] == ["u0.py"]
    assert [each.id for each in store.desk.newest()] == ["u0"]


def test_a_full_disk_and_a_crowd_are_no_fault_of_the_file(store: Store, folder: Path) -> None:
    """The sender is told to try again; when there is room it is taken."""
    with pytest.raises(DiskFull, match="disk is too full"):
        send(receiver(store, folder, least_free=1 << 60), upload(), FILE)
    one = receiver(store, folder)
    with ExitStack() as crowd:
        for _ in range(MOST_AT_ONCE):
            crowd.enter_context(one.begin(upload()))
        with pytest.raises(NoRoom, match=f"{MOST_AT_ONCE} files are being received already"):
            send(one, upload(), FILE)
    assert send(one, upload(), FILE).stage is Stage.RECEIVED


def test_an_account_sends_one_file_at_a_time(store: Store, folder: Path) -> None:
    """Whoever drips into every place would stop everybody; others go on, and so does it afterwards."""
    one = receiver(store, folder)
    ben, eve = (
        store.people.register(NewAccount(name=name, password="", role=Role.USER, created=START)).id
        for name in ("ben", "eve")
    )
    with one.begin(upload(account=ben)) as first:
        first.write(FILE)
        with pytest.raises(NoRoom, match="a file of yours is being received already"):
            send(one, upload("another", account=ben), FILE)
        assert send(one, upload("hers", author="eve", account=eve), FILE).stage is Stage.RECEIVED
        first.finish()
    assert send(one, upload("another", account=ben), FILE).stage is Stage.RECEIVED
    with suppress(ConnectionResetError), one.begin(upload(account=ben)):
        raise ConnectionResetError
    assert send(one, upload(account=ben), FILE * 2).stage is Stage.RECEIVED


def test_nothing_is_received_where_strangers_must_not_play(store: Store, folder: Path) -> None:
    """Before a host was tried, where it lacks a control, and where bots are plain processes."""
    store.writes.record_host(host_report("swap"), ())
    with pytest.raises(StrangersRefused, match="swap"):
        send(receiver(store, folder), upload(), FILE)
    store.writes.record_host(host_report("swap"), {"swap"})
    assert send(receiver(store, folder), upload(), FILE).stage is Stage.RECEIVED
    store.writes.record_host(host_report(isolates=False), ())
    with pytest.raises(StrangersRefused, match="plain processes"):
        send(receiver(store, folder), upload("other"), FILE)


def test_ones_own_files_need_no_host_that_was_tried(tmp_path: Path, folder: Path) -> None:
    """Where nobody is a stranger, nobody is refused for what the host lacks."""
    with closing(open_store(f"sqlite:///{tmp_path / 'other.sqlite3'}")) as store:
        assert store.reads.hosts() == ()
        assert send(receiver(store, folder, own=True), upload(), FILE).stage is Stage.RECEIVED


def test_what_a_killed_process_left_is_pruned(folder: Path) -> None:
    """Files that nobody has, once nobody can be writing them; those of received submissions stay."""
    folder.mkdir(parents=True)
    for name, age in {"u1.tar": GRACE, "u2.py": GRACE, "u3.part": GRACE, "u4.part": timedelta(0)}.items():
        file = folder / name
        file.write_bytes(FILE)
        then = (START - age).timestamp()
        os.utime(file, (then, then))
    assert Uploads(folder, Disk(folder)).prune({"u1.tar"}, START) == 2
    assert sorted(file.name for file in folder.iterdir()) == ["u1.tar", "u4.part"]
