"""What goes into the store and comes out of it about submissions: plain, frozen data."""

from dataclasses import dataclass
from datetime import datetime

from arena.match import GameRecord, SeatReport
from arena.rules import Rules
from arena.store.models import MatchState
from arena.submitting.stages import Cause, Stage, UploadKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """How much one author may send. Zero of anything is none.

    Attributes:
        submissions_a_day: Received within 24 hours.
        bots: Of different names, those on their way included.
        on_their_way: Of all authors together.
    """

    submissions_a_day: int
    bots: int
    on_their_way: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What one author has sent, and may send.

    Attributes:
        sent: Submissions received within the last 24 hours.
        submissions_a_day: The most of them.
        bots: Of different names, those on their way included.
        most_bots: The most of them.
    """

    sent: int
    submissions_a_day: int
    bots: int
    most_bots: int

    @property
    def left(self) -> int:
        """Submissions that may be sent now."""
        return max(0, self.submissions_a_day - self.sent)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSubmission:
    """A file that is here, whole.

    Attributes:
        id: Given by the caller, at most 64 characters.
        bot: Name, at most 64 characters.
        author: Name, at most 64 characters.
        account: Of the author; None where an operator acts for somebody.
        kind: Of the file.
        note: The author's own words.
        size: Bytes.
        sha256: Hexadecimal.
        received: UTC.
    """

    id: str
    bot: str
    author: str
    account: int | None
    kind: UploadKind
    note: str
    size: int
    sha256: str
    received: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSubmission:
    """A submission. See :class:`NewSubmission` for the rest.

    Attributes:
        number: Its place in the queue.
        stage: How far it is.
        source: The id of its image; None before there is one.
        version: The number of the version it became; None where it became none.
        inspected: UTC; None where it never was.
        qualifying: UTC, of its beginning; None where it never was.
        ended: UTC; None while it is on its way.
        waiting: What the arena itself lacks to go on, or None.
        cause: Why it was rejected, or None.
    """

    number: int
    id: str
    bot: str
    author: str
    account: int | None
    kind: UploadKind
    note: str
    size: int
    sha256: str
    stage: Stage
    source: str | None
    version: int | None
    received: datetime
    inspected: datetime | None
    qualifying: datetime | None
    ended: datetime | None
    waiting: str | None
    cause: Cause | None


@dataclass(frozen=True, slots=True, kw_only=True)
class QualificationGame:
    """A match of one game that a submission plays, or has played.

    Attributes:
        match: Its id.
        state: How far it is.
        rules: What is played.
        seat: The submission's.
        reason: Why the arena failed it last, or None.
        report: What became of its sandbox, with what it printed; None before the end.
        game: The game's id; None before the end.
        record: Of the game; None before the end.
    """

    match: str
    state: MatchState
    rules: Rules
    seat: int
    reason: str | None
    report: SeatReport | None
    game: str | None
    record: GameRecord | None
