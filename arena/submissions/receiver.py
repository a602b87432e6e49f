"""Receives bots' files: checks, stores, hashes and records them. Needs no engine, and doesn't parse files."""

import hashlib
import secrets
import threading
import unicodedata
from asyncio import CancelledError
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO, Final

from arena.db.errors import DatabaseUnavailable
from arena.db.quotas import NewSubmission, Quota, UploadAllowance
from arena.db.store import Store
from arena.db.submissions import KnownSubmission
from arena.images.image import DEFAULT_LIMITS
from arena.languages.language import MAX_SOURCE_BYTES
from arena.languages.registry import UploadKind
from arena.platform.files import Disk
from arena.platform.names import check_name
from arena.platform.settings import Settings
from arena.submissions.uploads import Damaged, NoRoom, SlotLost, TooLarge, UploadRefused, Uploads, unwritten

MAX_CONCURRENT: Final = 16
"""Maximum number of concurrent uploads in a process. Each takes a few MiB of memory."""

SOURCE_SLOTS: Final = 4
"""Number of the ``MAX_CONCURRENT`` slots that are reserved for source files, which arrive within seconds."""

MAX_PER_ADDRESS: Final = 8
"""Maximum number of concurrent uploads from one address, which a classroom behind a router may share."""

SLOW_AFTER: Final = timedelta(minutes=1)
SLOW_RATE: Final = 1024 * 1024
"""Bytes per second. If all slots are in use, a slower upload loses its slot after ``SLOW_AFTER``."""


@dataclass(slots=True, eq=False, kw_only=True)
class UploadSlot:
    """The slot that an upload holds while it is being received."""

    account: int | None
    source: str | None
    small: bool
    began: datetime
    received: int = 0  # bytes received so far
    lost: bool = False  # whether another upload has the slot now

    def rate(self, now: datetime) -> float:
        """Return the average number of bytes per second since the start, which must be before ``now``."""
        return self.received / (now - self.began).total_seconds()


class UploadSlots:
    """Limits the number of concurrent uploads in total, per address and, separately, for images.

    An account can have only one upload at a time. If the slots run out, a slow upload loses its slot to a new
    upload. Threads may share an instance.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._taken: list[UploadSlot] = []

    @contextmanager
    def reserve(self, account: int | None, source: str | None, *, small: bool) -> Iterator[UploadSlot]:
        """Reserve a slot for the duration of the context.

        For the operator, ``account`` and ``source`` are None. Raises NoRoom if no slot is free, or the
        account already has a slot.
        """
        with self._lock:
            if account is not None and any(account == other.account for other in self._taken):
                raise NoRoom("you have another upload in progress: try again when it has finished")
            slot = UploadSlot(account=account, source=source, small=small, began=self._now())
            self._make_room(slot)
            self._taken.append(slot)
        try:
            yield slot
        finally:
            with self._lock:
                if not slot.lost:
                    self._taken.remove(slot)

    def _make_room(self, new: UploadSlot) -> None:
        # Begin with the narrowest limit, because freeing a slot to meet it also helps with the others.
        if new.source is not None:
            same_source = [slot for slot in self._taken if slot.source == new.source]
            self._free_slot(same_source, MAX_PER_ADDRESS, "files from your address")
        if not new.small:
            images = [slot for slot in self._taken if not slot.small]
            self._free_slot(images, MAX_CONCURRENT - SOURCE_SLOTS, "images")
        self._free_slot(self._taken, MAX_CONCURRENT, "files")

    def _free_slot(self, taken: Sequence[UploadSlot], limit: int, what: str) -> None:
        if len(taken) < limit:
            return
        now = self._now()
        slow = [slot for slot in taken if now - slot.began >= SLOW_AFTER and slot.rate(now) < SLOW_RATE]
        if not slow:
            raise NoRoom(f"{limit} {what} are already being received: try again in a moment")
        # The address with the most slots loses one first.
        held = Counter(slot.source for slot in taken)
        slowest = min(slow, key=lambda slot: (-held[slot.source], slot.rate(now)))
        slowest.lost = True
        self._taken.remove(slowest)


NOTE_LENGTH: Final = 200
_ROOM_CHECK_BYTES: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file as declared by its sender."""

    bot: str
    author: str
    account: int | None  # None if an operator acts for the author
    kind: UploadKind
    source: str | None = None  # the sender's address or network; None for the operator's own file
    note: str = ""  # the author's note, at most `NOTE_LENGTH` characters
    size: int | None = None  # bytes; None if not declared
    sha256: str | None = None  # hexadecimal; None if not declared
    check_only: bool = False  # True if it must not become a version, even if it qualifies

    @property
    def limit(self) -> int:
        """Maximum size of a file of this kind, in bytes."""
        return DEFAULT_LIMITS.archive_bytes if self.kind is UploadKind.IMAGE else MAX_SOURCE_BYTES


class Receiver:
    """Receives files. Threads may share an instance."""

    def __init__(  # noqa: PLR0913 - the collaborators of all steps
        self,
        store: Store,  # records the submissions
        uploads: Uploads,  # stores the files
        quota: Quota,  # the default for each author
        now: Callable[[], datetime],  # UTC
        new_id: Callable[[], str],  # returns a short unique id
        *,
        own: bool = False,  # whether every file comes from the operator; if so, `admit` checks nothing
    ) -> None:
        self._store = store
        self._uploads = uploads
        self._quota = quota
        self._now = now
        self._new_id = new_id
        self._own = own
        self._slots = UploadSlots(now)

    def admit(self) -> None:
        """Check that the arena currently accepts bots. Raises UntrustedBotsRefused."""
        if not self._own:
            self._store.activity.check_admission()

    def has_room(self) -> bool:
        """Return True if the disk has room for more files."""
        return self._uploads.disk.has_room()

    def allowance(self, author: str, account: int | None) -> UploadAllowance:
        """Return an author's used and allowed uploads."""
        return self._store.submissions.allowance(author, account, self._quota, self._now())

    @contextmanager
    def begin(self, upload: Upload) -> Iterator["Incoming"]:
        """Start receiving a file, which is removed at the end of the context unless it has been stored.

        The upload counts towards the quota from this point on, unless the arena turns out to be unable to
        receive it. Raises BotTaken, QuotaReached, StoreError, UntrustedBotsRefused, UploadRefused, WrongName,
        or SameContent if the bot has this file already and the upload specifies its hash.
        """
        self.admit()
        check_name(upload.bot, "bot")
        new = NewSubmission(
            id=self._new_id(),
            bot=upload.bot,
            author=upload.author,
            account=upload.account,
            kind=upload.kind,
            note=_clean_note(upload.note),
            size=upload.size or 0,
            sha256=(upload.sha256 or "").lower(),
            received=self._now(),
            check_only=upload.check_only,
        )
        if upload.size is not None and upload.size > upload.limit:
            raise _too_large(upload)
        if upload.size == 0:
            raise _empty()
        self._store.submissions.check(new, self._quota)  # before reserving a slot
        self._uploads.check_room(upload.size or 0)
        small = upload.kind is not UploadKind.IMAGE
        with (
            self._slots.reserve(upload.account, upload.source, small=small) as slot,
            self._count_upload(new),
            self._uploads.writing(new.id) as file,
        ):
            yield Incoming(self._store, self._uploads, self._quota, upload, new, slot, file, self._now)

    @contextmanager
    def _count_upload(self, new: NewSubmission) -> Iterator[None]:
        """Count an upload towards the quota, unless the arena turns out to be unable to receive it."""
        try:
            self._store.submissions.begin(new, self._quota)
            yield
        except (NoRoom, DatabaseUnavailable, CancelledError, GeneratorExit):  # last two: the site is stopping
            with suppress(DatabaseUnavailable):
                self._store.submissions.refund(new.id)
            raise


class Incoming:
    """A file that is being received: call :meth:`write` any number of times, then :meth:`finish`."""

    def __init__(  # noqa: PLR0913, PLR0917 - created in one place only
        self,
        store: Store,
        uploads: Uploads,
        quota: Quota,
        upload: Upload,
        new: NewSubmission,
        slot: UploadSlot,
        file: BinaryIO,
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._uploads = uploads
        self._quota = quota
        self._upload = upload
        self._new = new
        self._slot = slot
        self._file = file
        self._now = now
        self._digest = hashlib.sha256()
        self._checked = 0

    def write(self, piece: bytes) -> None:
        """Append bytes.

        Raises UploadRefused if the file is larger than allowed or declared, the disk is full, or another
        upload has taken the slot.
        """
        if self._slot.lost:
            raise SlotLost(
                f"this upload was still averaging less than {SLOW_RATE >> 10} KiB per second after "
                f"{SLOW_AFTER.seconds} seconds, so it was cancelled to make room for another. It still "
                "counts towards your quota. Try again over a faster connection"
            )
        self._slot.received += len(piece)
        size = self._slot.received
        if size > self._upload.limit:
            raise _too_large(self._upload)
        if self._upload.size is not None and size > self._upload.size:
            raise Damaged(f"more than the declared {self._upload.size:,} bytes arrived: send the file again")
        if size - self._checked >= _ROOM_CHECK_BYTES:
            self._uploads.check_room(len(piece))
            self._checked = size
        self._digest.update(piece)
        try:
            self._file.write(piece)
        except OSError as error:
            raise unwritten(error) from error

    def finish(self) -> KnownSubmission:
        """Store the complete file and record the submission.

        Raises BotTaken, QuotaReached, SameContent, StoreError, or UploadRefused if the file differs from what
        was declared.
        """
        new = self._checked_submission()
        try:
            self._uploads.keep(self._file, new.id, new.kind)
        except OSError as error:
            raise unwritten(error) from error
        try:
            return self._store.submissions.add(new, self._quota)
        except DatabaseUnavailable:
            # If only the database's reply was lost, the submission exists and needs its file. Otherwise, the
            # file is pruned later.
            raise
        except BaseException:
            self._uploads.remove(new.id, new.kind)
            raise

    def _checked_submission(self) -> NewSubmission:
        declared, digest, size = self._upload, self._digest.hexdigest(), self._slot.received
        if not size:
            raise _empty()
        if declared.size is not None and size != declared.size:
            raise Damaged(f"only {size:,} of {declared.size:,} bytes arrived: send the file again")
        if declared.sha256 is not None and declared.sha256.lower() != digest:
            raise Damaged(f"the file has the SHA-256 {digest}, not {declared.sha256[:64]}: send it again")
        return replace(self._new, size=size, sha256=digest, received=self._now())


def _clean_note(note: str) -> str:
    """Return a note on one line, without control characters. Raises UploadRefused if it is too long."""
    cleaned = " ".join("".join(c if unicodedata.category(c)[0] != "C" else " " for c in note).split())
    if len(cleaned) > NOTE_LENGTH:
        raise UploadRefused(f"the note has {len(cleaned)} characters (limit {NOTE_LENGTH}): shorten it")
    return cleaned


def _empty() -> Damaged:
    return Damaged("the file is empty: check it and send it again")


def _too_large(upload: Upload) -> TooLarge:
    what = "an image archive" if upload.kind is UploadKind.IMAGE else "a source file"
    return TooLarge(f"the file is too large: the limit for {what} is {upload.limit >> 20:,} MiB")


_ID_BYTES: Final = 8
_MAX_OPEN_SUBMISSIONS: Final = 100
"""Maximum total number of unfinished submissions, so that their files fit on a disk and waits are short."""


def open_receiver(settings: Settings, store: Store, *, own: bool = False) -> Receiver:
    """Return the arena's receiver; ``own`` is as in :class:`Receiver`."""
    quota = Quota(
        submissions_a_day=settings.submissions_a_day,
        bots=settings.bots_per_author,
        open_submissions=_MAX_OPEN_SUBMISSIONS,
    )
    return Receiver(
        store,
        uploads_of(settings),
        quota,
        now=lambda: datetime.now(UTC),
        new_id=lambda: secrets.token_hex(_ID_BYTES),
        own=own,
    )


def uploads_of(settings: Settings) -> Uploads:
    """Return the arena's received files."""
    folder = uploads_folder(settings)
    return Uploads(folder, Disk(folder, settings.least_free))


def uploads_folder(settings: Settings) -> Path:
    """Return the folder of received files."""
    return settings.data_dir / "uploads"
