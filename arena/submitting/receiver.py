"""Receives files for bots: checks, writes, hashes, writes down. Needs no engine, and parses nothing.

with receiver.begin(upload) as incoming:
for piece in pieces:
incoming.write(piece)
submission = incoming.finish()
"""

import hashlib
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import BinaryIO, Final

from arena.admission import admit
from arena.intake.limits import DEFAULT_LIMITS
from arena.intake.wrap import MAX_SOURCE_BYTES
from arena.names import check_name
from arena.store import Allowance, KnownSubmission, NewSubmission, Quota, Store
from arena.submitting.errors import Damaged, TooLarge, UploadRefused
from arena.submitting.places import Places
from arena.submitting.stages import UploadKind
from arena.submitting.uploads import Uploads, unwritten

MOST_AT_ONCE: Final = 4
"""Files that one process receives at a time."""

NOTE_LENGTH: Final = 200
_ROOM_STEP: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """What its sender says of a file.

    Attributes:
        bot: The bot's name.
        author: The author's name.
        account: Of the author; None where an operator acts for somebody.
        kind: Of the file.
        note: The author's own words, at most ``NOTE_LENGTH`` characters.
        size: Bytes; None where that is not known before the end.
        sha256: Hexadecimal; None as above.
    """

    bot: str
    author: str
    account: int | None
    kind: UploadKind
    note: str = ""
    size: int | None = None
    sha256: str | None = None

    @property
    def limit(self) -> int:
        """Bytes that such a file may have."""
        return DEFAULT_LIMITS.archive_bytes if self.kind is UploadKind.IMAGE else MAX_SOURCE_BYTES


class Receiver:
    """Receives files. Threads may share it.

    Args:
        store: Where submissions are written down.
        uploads: Where files are kept.
        quota: How much one author may send.
        now: UTC.
        new_id: A short id that was never used.
        own: Whether all files are those of whoever runs the bots. Then nobody has to be admitted.
    """

    def __init__(  # noqa: PLR0913 - what a file goes through
        self,
        store: Store,
        uploads: Uploads,
        quota: Quota,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
        *,
        own: bool = False,
    ) -> None:
        self._store = store
        self._uploads = uploads
        self._quota = quota
        self._now = now
        self._new_id = new_id
        self._own = own
        self._places = Places(MOST_AT_ONCE)

    def admit(self) -> None:
        """Make sure that bots can be taken now.

        Raises:
            StrangersRefused: Bots of strangers can't play here.
        """
        if not self._own:
            hosts = self._store.reads.hosts()
            admit(hosts[0].report if hosts else None, hosts[0].accepted if hosts else ())

    def has_room(self) -> bool:
        """Tell whether there is room on the disk for files at all."""
        return self._uploads.disk.has_room()

    def allowance(self, author: str, account: int | None) -> Allowance:
        """Return what an author has sent, and may send now."""
        return self._store.desk.allowance(author, account, self._quota, self._now())

    @contextmanager
    def begin(self, upload: Upload) -> Iterator["Incoming"]:
        """Give what takes a file. Unless it is finished, nothing is left of the file afterwards.

        Raises:
            BotTaken: The name belongs to somebody else.
            QuotaReached: It would be too much.
            SameContent: The bot has this file already; told before it is sent where its hash was.
            StoreError: The database can't be used.
            StrangersRefused: Bots of strangers can't play here.
            UploadRefused: The file can't be received.
            WrongName: The bot's name can't be used.
        """
        self.admit()
        check_name(upload.bot, "bot")
        new = NewSubmission(
            id=self._new_id(),
            bot=upload.bot,
            author=upload.author,
            account=upload.account,
            kind=upload.kind,
            note=_note(upload.note),
            size=upload.size or 0,
            sha256=(upload.sha256 or "").lower(),
            received=self._now(),
        )
        if upload.size is not None and upload.size > upload.limit:
            raise _too_large(upload)
        self._store.desk.check(new, self._quota)
        self._uploads.check_room(upload.size or 0)
        with self._places.one(upload.account), self._uploads.writing(new.id) as file:
            yield Incoming(self._store, self._uploads, self._quota, upload, new, file, self._now)


class Incoming:
    """A file on its way. From :meth:`Receiver.begin`."""

    def __init__(  # noqa: PLR0913, PLR0917 - made in one place
        self,
        store: Store,
        uploads: Uploads,
        quota: Quota,
        upload: Upload,
        new: NewSubmission,
        file: BinaryIO,
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._uploads = uploads
        self._quota = quota
        self._upload = upload
        self._new = new
        self._file = file
        self._now = now
        self._digest = hashlib.sha256()
        self._size = 0
        self._checked = 0

    def write(self, piece: bytes) -> None:
        """Take the next bytes.

        Raises:
            UploadRefused: They are too many, or there is no room.
        """
        self._size += len(piece)
        if self._size > self._upload.limit:
            raise _too_large(self._upload)
        if self._upload.size is not None and self._size > self._upload.size:
            raise Damaged(f"more bytes came than the {self._upload.size} that were announced: send it again")
        if self._size - self._checked >= _ROOM_STEP:
            self._uploads.check_room(len(piece))
            self._checked = self._size
        self._digest.update(piece)
        try:
            self._file.write(piece)
        except OSError as error:
            raise unwritten(error) from error

    def finish(self) -> KnownSubmission:
        """Keep the file, which is whole, and write it down.

        Raises:
            BotTaken: The name was taken meanwhile.
            QuotaReached: It would be too much by now.
            SameContent: The bot has this file already.
            StoreError: The database can't be used.
            UploadRefused: The file is not what was announced.
        """
        new = self._whole()
        try:
            self._uploads.keep(self._file, new.id, new.kind)
        except OSError as error:
            raise unwritten(error) from error
        try:
            return self._store.desk.add(new, self._quota)
        except BaseException:
            self._uploads.remove(new.id, new.kind)
            raise

    def _whole(self) -> NewSubmission:
        announced, digest = self._upload, self._digest.hexdigest()
        if not self._size:
            raise Damaged("the file is empty")
        if announced.size is not None and self._size != announced.size:
            raise Damaged(f"{self._size} of {announced.size} bytes came: send it again")
        if announced.sha256 is not None and announced.sha256.lower() != digest:
            raise Damaged(f"what came has the SHA-256 {digest}, not {announced.sha256[:64]}: send it again")
        return replace(self._new, size=self._size, sha256=digest, received=self._now())


def _note(note: str) -> str:
    """Return a note without what could disturb the text beside it.

    Raises:
        UploadRefused: It is too long.
    """
    seen = " ".join("".join(c if unicodedata.category(c)[0] != "C" else " " for c in note).split())
    if len(seen) > NOTE_LENGTH:
        raise UploadRefused(f"the note has {len(seen)} characters, and {NOTE_LENGTH} is the most")
    return seen


def _too_large(upload: Upload) -> TooLarge:
    what = "an image's archive" if upload.kind is UploadKind.IMAGE else "a source file"
    return TooLarge(f"{what} may have {upload.limit} bytes, and this has more")
