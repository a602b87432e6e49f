"""Tests that uploads are stored completely or not at all."""

import hashlib
import os
import sqlite3
from asyncio import CancelledError
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.engine.default import DefaultDialect

from arena.db.errors import BotTaken, DatabaseUnavailable, QuotaReached, SameContent
from arena.db.quotas import Quota
from arena.db.store import Store
from arena.db.submissions import KnownSubmission
from arena.languages.language import MAX_SOURCE_BYTES
from arena.languages.registry import UploadKind
from arena.platform.files import Disk
from arena.platform.names import WrongName
from arena.protocol.sandbox_controls import UntrustedBotsRefused
from arena.protocol.submissions import Stage
from arena.submissions.receiver import (
    MAX_CONCURRENT,
    MAX_PER_ADDRESS,
    SLOW_AFTER,
    SOURCE_SLOTS,
    Incoming,
    Receiver,
    Upload,
)
from arena.submissions.uploads import (
    GRACE,
    Damaged,
    DiskFull,
    NoRoom,
    SlotLost,
    TooLarge,
    UploadRefused,
    Uploads,
)
from tests.builders import START, host_report
from tests.databases import sqlite_store
from tests.db.builders import add_account, add_bot
from tests.folders import small_disk

FILE = b"print('hello')\n"
IMAGES = MAX_CONCURRENT - SOURCE_SLOTS


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Create a store with the report of a host on which every control passes."""
    with closing(sqlite_store(tmp_path / "arena.sqlite3")) as store:
        store.activity.record_host(host_report(), ())
        yield store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of received files."""
    return tmp_path / "data" / "uploads"


def receiver(  # noqa: PLR0913 - options of the tests
    store: Store,
    folder: Path,
    *,
    most: int = 20,
    least_free: int = 0,
    own: bool = False,
    now: Callable[[], datetime] = lambda: START,
) -> Receiver:
    """Return a receiver."""
    ids = iter(range(1000))
    quota = Quota(submissions_a_day=most, bots=2, open_submissions=100)
    uploads = Uploads(folder, Disk(folder, least_free))
    return Receiver(store, uploads, quota, now=now, new_id=lambda: f"u{next(ids)}", own=own)


def upload(bot: str = "mine", **said: Any) -> Upload:  # noqa: ANN401 - any field
    """Return the announcement of a file."""
    return Upload(**{"bot": bot, "author": "ben", "account": None, "kind": UploadKind.PYTHON} | said)


def send(receiver: Receiver, said: Upload, *pieces: bytes) -> KnownSubmission:
    """Send a file in pieces."""
    with receiver.begin(said) as incoming:
        for piece in pieces:
            incoming.write(piece)
        return incoming.finish()


def test_a_file_is_kept_under_its_submission(store: Store, folder: Path) -> None:
    """The submission has the file's size and hash, and the note without invisible characters."""
    digest = hashlib.sha256(FILE).hexdigest()
    said = upload(size=len(FILE), sha256=digest.upper(), note=" a\N{RIGHT-TO-LEFT OVERRIDE}b \n c ")
    known = send(receiver(store, folder), said, FILE[:3], FILE[3:])
    assert (known.stage, known.size, known.sha256, known.note) == (Stage.RECEIVED, len(FILE), digest, "a b c")
    assert store.submissions.open_submissions() == (known,)
    assert [file.name for file in folder.iterdir()] == ["u0.py"]
    assert (folder / "u0.py").read_bytes() == FILE
    assert folder.stat().st_mode & 0o077 == 0


def test_an_undeclared_size_and_hash_are_computed(store: Store, folder: Path) -> None:
    """An archive that is built while it is sent has no declared size or hash."""
    known = send(receiver(store, folder), upload(kind=UploadKind.IMAGE), FILE)
    assert (known.size, known.sha256) == (len(FILE), hashlib.sha256(FILE).hexdigest())
    assert (folder / "u0.tar").is_file()


@pytest.mark.parametrize(
    ("said", "pieces", "error", "words"),
    [
        (upload(size=len(FILE) + 1), [FILE], Damaged, "only 15 of 16 bytes arrived"),
        (upload(size=3), [FILE], Damaged, "more than the declared 3 bytes arrived"),
        (upload(sha256="0" * 64), [FILE], Damaged, "has the SHA-256 [0-9a-f]{64}, not 000"),
        (upload(), [], Damaged, "the file is empty"),
        (upload(size=0), [], Damaged, "the file is empty"),
        (upload(size=MAX_SOURCE_BYTES + 1), [FILE], TooLarge, "limit for a source file is 1 MiB"),
        (upload(), [FILE, bytes(MAX_SOURCE_BYTES)], TooLarge, "limit for a source file is 1 MiB"),
        (upload(kind=UploadKind.IMAGE, size=1 << 40), [], TooLarge, "limit for an image archive is"),
        (upload(note="x" * 201), [FILE], UploadRefused, "the note has 201 characters"),
        (upload("../up"), [FILE], WrongName, "is not a valid bot name"),
        (upload("taken"), [FILE], BotTaken, "belongs to a bot by ann"),
    ],
)
def test_a_refused_upload_leaves_nothing(  # noqa: PLR0913, PLR0917 - columns of the table
    store: Store, folder: Path, said: Upload, pieces: list[bytes], error: type[Exception], words: str
) -> None:
    """A refused upload leaves neither a file nor a row, and the error says why."""
    add_bot(store, "taken", author="ann")
    with pytest.raises(error, match=words):
        send(receiver(store, folder), said, *pieces)
    assert not folder.exists() or list(folder.iterdir()) == []
    assert store.submissions.newest() == ()


def test_a_broken_connection_leaves_nothing(store: Store, folder: Path) -> None:
    """If an upload is interrupted in any way, the received part is deleted."""
    with suppress(ConnectionResetError), receiver(store, folder).begin(upload()) as incoming:
        incoming.write(FILE)
        assert len(list(folder.iterdir())) == 1
        raise ConnectionResetError
    assert list(folder.iterdir()) == []
    assert store.submissions.newest() == ()


def test_an_upload_counts_from_its_start(store: Store, folder: Path) -> None:
    """Concurrent uploads all count, even unfinished ones. A finished upload isn't counted twice."""
    one = receiver(store, folder, most=2)
    with one.begin(upload()) as first, one.begin(upload()) as second:
        with pytest.raises(
            QuotaReached, match=r"2 submissions in the last 24 hours \(2 unfinished\); the limit is 2"
        ):
            send(one, upload(), FILE * 3)
        first.write(FILE)
        first.finish()
        with pytest.raises(
            QuotaReached, match=r"2 submissions in the last 24 hours \(1 unfinished\); the limit is 2"
        ):
            send(one, upload(), FILE * 3)
        second.write(FILE * 2)
        second.finish()
    assert one.allowance("ben", None).left == 0
    assert len(store.submissions.newest()) == 2


def test_an_aborted_upload_counts_towards_the_quota(store: Store, folder: Path) -> None:
    """Uploads that differ from their announcement count too. The wait depends on the oldest upload."""
    one = receiver(store, folder, most=2)
    with suppress(ConnectionResetError), one.begin(upload()):
        raise ConnectionResetError
    with pytest.raises(Damaged):
        send(one, upload(), b"")
    assert one.allowance("ben", None).left == 0
    with pytest.raises(QuotaReached, match=r"2 submissions in the last 24 hours \(2 unfinished\)") as refused:
        send(one, upload(), FILE)
    assert refused.value.wait == timedelta(days=1)
    assert one.allowance("eve", None).left == 2


def test_an_upload_that_the_arena_could_not_store_does_not_count(store: Store, folder: Path) -> None:
    """The folder may be unwritable at the beginning or at the end of the upload."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_bytes(b"a file where the folder should be")
    one = receiver(store, folder, most=1)
    with pytest.raises(NoRoom, match="could not write"):
        send(one, upload(), FILE)
    folder.unlink()
    (folder / "u1.py").mkdir(parents=True)  # the path of the next file
    with pytest.raises(NoRoom, match="could not write"):
        send(one, upload(), FILE)
    (folder / "u1.py").rmdir()
    assert send(one, upload(), FILE).stage is Stage.RECEIVED


@pytest.mark.usefixtures("root")
def test_an_upload_that_fills_the_disk_does_not_count(store: Store, tmp_path: Path) -> None:
    """A small file stays in the buffer until the upload ends."""
    with small_disk(tmp_path, size=65536) as disk:
        one = receiver(store, disk / "uploads", most=1)
        (disk / "full").write_bytes(bytes(65536))
        with pytest.raises(DiskFull, match="the arena's disk is full"):
            send(one, upload(), FILE)
        assert list((disk / "uploads").iterdir()) == []
        (disk / "full").unlink()
        assert send(one, upload(), FILE).stage is Stage.RECEIVED


@pytest.mark.parametrize("end", [CancelledError, GeneratorExit])
def test_an_upload_that_a_restart_of_the_site_interrupts_does_not_count(
    store: Store, folder: Path, end: type[BaseException]
) -> None:
    """The site cancels the requests that are still open when it stops, or drops them as they begin."""
    one = receiver(store, folder, most=1)
    with suppress(end), one.begin(upload()):
        raise end
    assert one.allowance("ben", None).sent == 0


def test_a_lost_response_of_the_database_costs_nothing(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the connection fails during a commit, the change may have taken effect.

    A recorded submission keeps its file, and an upload that was counted is refunded.
    """
    losing = False

    def commit(_: DefaultDialect, connection: sqlite3.Connection) -> None:
        connection.commit()
        if losing:
            raise sqlite3.OperationalError("connection lost")

    monkeypatch.setattr(DefaultDialect, "do_commit", commit)
    one = receiver(store, folder, most=2)
    losing = True
    with pytest.raises(DatabaseUnavailable, match="connection lost"):
        send(one, upload(), FILE)
    losing = False
    assert one.allowance("ben", None).sent == 0
    with one.begin(upload()) as incoming:
        incoming.write(FILE)
        losing = True
        with pytest.raises(DatabaseUnavailable, match="connection lost"):
            incoming.finish()
        losing = False
    (recorded,) = store.submissions.open_submissions()
    assert (folder / f"{recorded.id}.py").read_bytes() == FILE
    assert one.allowance("ben", None).sent == 1


def test_the_same_file_again_leaves_nothing(store: Store, folder: Path) -> None:
    """The same file is refused before its transfer if its hash is declared, otherwise afterwards."""
    one = receiver(store, folder)
    send(one, upload(), FILE)
    digest = hashlib.sha256(FILE).hexdigest()
    with pytest.raises(SameContent), one.begin(upload(sha256=digest.upper())):
        pytest.fail("the content of the file was requested")
    with pytest.raises(SameContent):
        send(one, upload(), FILE)
    assert [file.name for file in folder.iterdir()] == ["u0.py"]
    assert [each.id for each in store.submissions.newest()] == ["u0"]


def test_a_full_disk_and_too_many_uploads_are_temporary(store: Store, folder: Path) -> None:
    """After a full disk or too many uploads, a file is accepted as soon as there is room."""
    with pytest.raises(DiskFull, match="disk is too full"):
        send(receiver(store, folder, least_free=1 << 60), upload(), FILE)
    one = receiver(store, folder)
    with ExitStack() as crowd:
        for _ in range(MAX_CONCURRENT):
            crowd.enter_context(one.begin(upload()))
        with pytest.raises(NoRoom, match=f"{MAX_CONCURRENT} files are already being received"):
            send(one, upload(), FILE)
    assert send(one, upload(), FILE).stage is Stage.RECEIVED


class Crowd(ExitStack):
    """Concurrent uploads of images, each from another address, and a clock set by the test."""

    def __init__(self, store: Store, folder: Path) -> None:
        super().__init__()
        self.now = START
        self.receiver = receiver(store, folder, now=lambda: self.now)

    def begin(self, source: str) -> Incoming:
        """Begin another upload."""
        return self.enter_context(self.receiver.begin(image(source)))

    def later(self, time: timedelta) -> None:
        """Advance the clock."""
        self.now += time


def image(source: str) -> Upload:
    """Return the announcement of an image. Every address has a different author."""
    return upload(f"bot-{source}", author=f"author-{source}", kind=UploadKind.IMAGE, source=source)


def test_the_slowest_upload_makes_room(store: Store, folder: Path) -> None:
    """Of the uploads older than a minute, the slowest is ended with a reason. It still counts."""
    with Crowd(store, folder) as crowd:
        begun = [crowd.begin(f"s{number}") for number in range(IMAGES)]
        for number, incoming in enumerate(begun):
            incoming.write(bytes(1000 - number))
        crowd.later(SLOW_AFTER - timedelta(seconds=1))
        with pytest.raises(NoRoom, match=f"{IMAGES} images are already being received"):
            send(crowd.receiver, image("mine"), FILE)
        crowd.later(timedelta(seconds=1))
        assert send(crowd.receiver, image("mine"), FILE).stage is Stage.RECEIVED
        for incoming in begun[:-1]:
            incoming.write(FILE)
        with pytest.raises(
            SlotLost, match=r"less than 1024 KiB per second after 60 seconds, .* towards your quota"
        ):
            begun[-1].write(FILE)
        assert send(crowd.receiver, image("yours"), FILE).stage is Stage.RECEIVED, (
            "the ended upload freed only one place"
        )
    assert crowd.receiver.allowance(f"author-s{IMAGES - 1}", None).left == 19
    assert sorted(file.suffix for file in folder.iterdir()) == [".tar"] * 2


def test_fast_uploads_keep_their_places(store: Store, folder: Path) -> None:
    """A new upload has to wait until one of the fast uploads becomes too slow."""
    with Crowd(store, folder) as crowd:
        fast = crowd.begin("fast")
        for _ in range(60):
            fast.write(bytes(1 << 20))
        crowd.later(SLOW_AFTER)
        for number in range(IMAGES - 1):
            crowd.begin(f"s{number}")
        with pytest.raises(NoRoom, match="images are already being received"):
            send(crowd.receiver, image("mine"), FILE)
        crowd.later(timedelta(seconds=1))
        assert send(crowd.receiver, image("mine"), FILE).stage is Stage.RECEIVED
        with pytest.raises(SlotLost):
            fast.write(FILE)


def test_a_slow_upload_keeps_its_place_while_others_find_one(store: Store, folder: Path) -> None:
    """While there are enough places, not even an upload at 2 Mbit per second is ended."""
    with Crowd(store, folder) as crowd:
        for number in range(IMAGES - 2):
            crowd.begin(f"s{number}")
        slow = crowd.begin("slow")
        for minute in range(3):
            slow.write(bytes(60 * 250_000))
            crowd.later(timedelta(minutes=1))
            assert send(crowd.receiver, image("mine"), FILE, bytes(minute)).stage is Stage.RECEIVED
        assert slow.finish().stage is Stage.RECEIVED


def test_places_per_address_are_limited(store: Store, folder: Path) -> None:
    """At the limit, files are accepted only from other addresses."""
    with Crowd(store, folder) as crowd:
        for _ in range(MAX_PER_ADDRESS):
            crowd.begin("many")
        with pytest.raises(
            NoRoom, match=f"{MAX_PER_ADDRESS} files from your address are already being received"
        ):
            send(crowd.receiver, image("many"), FILE)
        assert send(crowd.receiver, image("mine"), FILE).stage is Stage.RECEIVED


def test_an_address_with_many_places_loses_one_first(store: Store, folder: Path) -> None:
    """A slower upload from another address is spared, so that attackers can't displace slow connections."""
    with Crowd(store, folder) as crowd:
        slow = crowd.begin("slow")
        many = [crowd.begin("many") for _ in range(MAX_PER_ADDRESS)]
        few = [crowd.begin("few") for _ in range(IMAGES - MAX_PER_ADDRESS - 1)]
        for incoming in (*many, *few):
            incoming.write(bytes(1 << 20))
        crowd.later(SLOW_AFTER)
        for number in range(MAX_PER_ADDRESS - len(few)):
            crowd.begin(f"new-{number}")
        slow.write(FILE)
        for incoming in few:
            incoming.write(FILE)
        for incoming in many[: MAX_PER_ADDRESS - len(few)]:
            with pytest.raises(SlotLost):
                incoming.write(FILE)


def test_an_account_sends_one_file_at_a_time(store: Store, folder: Path) -> None:
    """One account can't use all places: it sends one file at a time. Other accounts are not affected."""
    one = receiver(store, folder)
    ben, eve = (add_account(store, name).id for name in ("ben", "eve"))
    with one.begin(upload(account=ben)) as first:
        first.write(FILE)
        with pytest.raises(NoRoom, match="you have another upload in progress"):
            send(one, upload("another", account=ben), FILE)
        assert send(one, upload("hers", author="eve", account=eve), FILE).stage is Stage.RECEIVED
        first.finish()
    assert send(one, upload("another", account=ben), FILE).stage is Stage.RECEIVED
    with suppress(ConnectionResetError), one.begin(upload(account=ben)):
        raise ConnectionResetError
    assert send(one, upload(account=ben), FILE * 2).stage is Stage.RECEIVED


def test_nothing_is_received_if_untrusted_bots_must_not_play(store: Store, folder: Path) -> None:
    """Untrusted files are refused if the host lacks a control or runs plain processes."""
    store.activity.record_host(host_report("swap"), ())
    with pytest.raises(UntrustedBotsRefused, match="swap"):
        send(receiver(store, folder), upload(), FILE)
    store.activity.record_host(host_report("swap"), {"swap"})
    assert send(receiver(store, folder), upload(), FILE).stage is Stage.RECEIVED
    store.activity.record_host(host_report(isolates=False), ())
    with pytest.raises(UntrustedBotsRefused, match="plain processes"):
        send(receiver(store, folder), upload("other"), FILE)


def test_trusted_files_need_no_tested_host(tmp_path: Path, folder: Path) -> None:
    """Files by trusted authors are accepted whatever the host's controls."""
    with closing(sqlite_store(tmp_path / "other.sqlite3")) as store:
        assert store.activity.hosts() == ()
        assert send(receiver(store, folder, own=True), upload(), FILE).stage is Stage.RECEIVED


def test_files_left_by_a_killed_process_are_removed(folder: Path) -> None:
    """Left-over files are removed once they can no longer be in use. Files of submissions are kept."""
    folder.mkdir(parents=True)
    for name, age in {"u1.tar": GRACE, "u2.py": GRACE, "u3.part": GRACE, "u4.part": timedelta(0)}.items():
        file = folder / name
        file.write_bytes(FILE)
        then = (START - age).timestamp()
        os.utime(file, (then, then))
    Uploads(folder, Disk(folder)).prune({"u1.tar"}, START)
    assert sorted(file.name for file in folder.iterdir()) == ["u1.tar", "u4.part"]
