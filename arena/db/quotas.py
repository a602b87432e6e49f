"""Authors' quotas, and the checks of new submissions against them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, delete, func, insert, or_, select, text

from arena.db import bots
from arena.db import names as taken_names
from arena.db.database import count, from_row
from arena.db.errors import BotDisqualified, BotTaken, QuotaReached, SameContent
from arena.db.schema import OPEN_SUBMISSION, AccountRow, BotRow, BotVersionRow, SubmissionRow, UploadRow
from arena.languages.registry import UploadKind
from arena.platform.text import counted
from arena.protocol.match import decode
from arena.protocol.states import BotState
from arena.protocol.submissions import Cause, CauseKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """An author's limits. A limit of 0 allows nothing."""

    # Uploads started within 24 hours, including aborted ones. Checks have a separate limit of the same size.
    submissions_a_day: int
    bots: int  # different names, including those of open submissions
    open_submissions: int  # open submissions across all authors


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadAllowance:
    """An author's used and allowed uploads."""

    sent: int  # submissions within the last 24 hours, including uploads in progress and aborted ones
    submissions_a_day: int  # the limit on `sent`
    bots: int  # different names, including those of open submissions
    max_bots: int  # the limit on `bots`

    @property
    def left(self) -> int:
        """The number of submissions allowed now."""
        return max(0, self.submissions_a_day - self.sent)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSubmission:
    """A submission to check or to add. ``id``, ``bot`` and ``author`` have at most 64 characters."""

    id: str
    bot: str
    author: str
    account: int | None  # id of the author's account; None if an operator submits for the author
    kind: UploadKind
    note: str  # by the author
    size: int  # bytes; 0 if still unknown
    sha256: str  # hexadecimal; empty if still unknown
    received: datetime  # UTC
    check_only: bool  # whether it is only checked, and never becomes a version


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountQuota:
    """An account's quota; None means the arena's default."""

    submissions_a_day: int | None = None  # as in `Quota`
    bots: int | None = None  # different names
    challenges_a_day: int | None = None  # requested within 24 hours


def quota_of(connection: Connection, account: int) -> AccountQuota:
    """Return an account's quota."""
    row = connection.execute(select(AccountRow.__table__).where(AccountRow.id == account)).one()
    return from_row(AccountQuota, row)


def of_author(connection: Connection, account: int | None, usual: Quota) -> Quota:
    """Return an author's quota. Authors without an account have the default quota."""
    if account is None:
        return usual
    own = quota_of(connection, account)
    return replace(
        usual,
        submissions_a_day=usual.submissions_a_day if own.submissions_a_day is None else own.submissions_a_day,
        bots=usual.bots if own.bots is None else own.bots,
    )


def check_file(connection: Connection, new: NewSubmission) -> None:
    """Check that no version or open submission of the bot has the same file.

    A rejected file may be sent again, as may the file of a version whose image was removed. While a file is
    being checked, it may also be submitted. Raises SameContent, whose message names the version or
    submission.
    """
    bot = new.bot
    if (known := describe_version(connection, bot, BotVersionRow.sha256 == new.sha256)) is not None:
        raise SameContent(f"this is the same file as {known}")
    same = select(SubmissionRow.id).where(
        SubmissionRow.bot == bot, SubmissionRow.sha256 == new.sha256, text(OPEN_SUBMISSION)
    )
    if not new.check_only:
        same = same.where(~SubmissionRow.check_only)
    other = connection.execute(same.limit(1)).scalar_one_or_none()
    if other is not None:
        raise SameContent(f"this is the same file as submission {other} of {bot}, which is in progress")


def describe_version(connection: Connection, bot: str, same: ColumnElement[bool]) -> str | None:
    """Of the bot's versions that match ``same``, describe the active one, or else the newest.

    Returns None if no version matches.
    """
    rows: Any = connection.execute(
        select(BotVersionRow.number, BotRow.playing, BotRow.state)
        .join(BotRow, BotRow.id == BotVersionRow.bot_id)
        .where(BotRow.name == bot, BotVersionRow.gone.is_(None), same)
        .order_by(BotVersionRow.number)
    ).all()
    if not rows:
        return None
    found = next((row for row in rows if row.number == row.playing), rows[-1])
    name = f"{bot}@{found.number}"
    if found.number != found.playing:
        return f"{name}, which {bot}@{found.playing} has replaced"
    return (
        f"{name}, which is already active"
        if found.state == BotState.ACTIVE
        else f"{name}, which is {found.state}"
    )


_DAY: Final = timedelta(days=1)

MAX_IN_PROGRESS: Final = 8
"""Maximum number of open submissions and checks per author, so that a few authors can't fill the queue."""


def check(connection: Connection, new: NewSubmission, quota: Quota) -> None:
    """Check that an author may send this file now.

    Raises BotDisqualified, BotTaken, QuotaReached or SameContent.
    """
    _check_name(connection, new.bot, new.author, new.account)
    if new.sha256:
        check_file(connection, new)
    quota = of_author(connection, new.account, quota)
    finished, begun = _sent_within_a_day(
        connection, new.author, new.account, new.received, check_only=new.check_only
    )
    times, limit = finished + begun, quota.submissions_a_day
    if (today := len(times)) >= limit:
        what = counted(today, "check" if new.check_only else "submission")
        unfinished = f" ({len(begun)} unfinished)" if begun else ""
        raise QuotaReached(
            f"{new.author} has sent {what} in the last 24 hours{unfinished}; the limit is {limit}",
            wait_for(times, limit, new.received),
        )
    names = _bot_names(connection, new.author, new.account)
    if new.bot not in names and len(names) >= quota.bots:
        raise QuotaReached(
            f"{new.author} has {counted(len(names), 'bot')}, and the limit is {quota.bots}: "
            "send a new version of one of them"
        )
    if (
        count(connection, SubmissionRow, _is_by(new.author, new.account), text(OPEN_SUBMISSION))
        >= MAX_IN_PROGRESS
    ):
        raise QuotaReached(
            f"{new.author} has {MAX_IN_PROGRESS} submissions and checks in progress: "
            "wait until one of them has finished"
        )
    if count(connection, SubmissionRow, text(OPEN_SUBMISSION)) >= quota.open_submissions:
        raise QuotaReached(f"{quota.open_submissions} submissions are in progress: try again later")


def begin(connection: Connection, new: NewSubmission) -> None:
    """Count the start of an upload; delete counted starts that are too old to matter."""
    connection.execute(delete(UploadRow).where(UploadRow.began <= new.received - _DAY))
    connection.execute(
        insert(UploadRow).values(
            id=new.id,
            author=new.author,
            account_id=new.account,
            began=new.received,
            check_only=new.check_only,
        )
    )


def forget(connection: Connection, id_: str) -> None:
    """Refund an upload if it was counted."""
    connection.execute(delete(UploadRow).where(UploadRow.id == id_))


def forget_all_of(connection: Connection, account: int) -> None:
    """Delete an account's counted uploads."""
    connection.execute(delete(UploadRow).where(UploadRow.account_id == account))


def allowance_of(
    connection: Connection, author: str, account: int | None, quota: Quota, now: datetime
) -> UploadAllowance:
    """Return an author's used and allowed uploads."""
    own = of_author(connection, account, quota)
    return UploadAllowance(
        sent=sum(map(len, _sent_within_a_day(connection, author, account, now, check_only=False))),
        submissions_a_day=own.submissions_a_day,
        bots=len(_bot_names(connection, author, account)),
        max_bots=own.bots,
    )


def _check_name(connection: Connection, bot: str, author: str, account: int | None) -> None:
    known = bots.find(connection, bot)
    if known is None:
        taken_names.check_bot(connection, bot, account)
    elif not known.is_of(author, account):
        raise BotTaken(f"the name {bot} belongs to a bot by {known.author}: choose another")
    if known is not None and known.state is BotState.DISQUALIFIED:
        raise BotDisqualified(bot, known.reason)
    other = connection.execute(
        select(SubmissionRow.author, SubmissionRow.bot)
        .where(func.lower(SubmissionRow.bot) == bot.lower(), text(OPEN_SUBMISSION))
        .where(
            or_(
                SubmissionRow.bot != bot,
                SubmissionRow.author != author,
                SubmissionRow.account_id.is_distinct_from(account),
            )
        )
        .limit(1)
    ).one_or_none()
    if other is not None and other.author == author:
        raise BotTaken(f"you are already submitting {other.bot}, which differs only in capital letters")
    if other is not None:
        raise BotTaken(f"{other.author} is already submitting a bot called {other.bot}: choose another name")


def _sent_within_a_day(
    connection: Connection, author: str, account: int | None, now: datetime, *, check_only: bool
) -> tuple[list[datetime], list[datetime]]:
    """Return the times of an author's finished and unfinished uploads in the last day.

    Submissions that the arena lost don't count.
    """
    finished = select(SubmissionRow.received, SubmissionRow.cause).where(
        _is_by(author, account),
        SubmissionRow.received > now - _DAY,
        SubmissionRow.check_only.is_(check_only),
    )
    begun = select(UploadRow.began).where(
        _is_by(author, account, UploadRow),
        UploadRow.began > now - _DAY,
        UploadRow.check_only.is_(check_only),
    )
    times = [row.received for row in connection.execute(finished) if not _is_lost(row.cause)]
    return times, [*connection.execute(begun).scalars()]


def _is_lost(cause: bytes | None) -> bool:
    return cause is not None and decode(cause, Cause).kind is CauseKind.LOST


def wait_for(times: Iterable[datetime], limit: int, now: datetime) -> timedelta | None:
    """Return how long it takes until fewer than ``limit`` of these times are in the last day.

    At ``now``, all of them are. Returns None if ``limit`` is 0.
    """
    return sorted(times)[-limit] + _DAY - now if limit else None


def _bot_names(connection: Connection, author: str, account: int | None) -> set[str]:
    """Return the names of an author's bots, including those of open submissions."""
    bots = select(BotRow.name).where(BotRow.author == author, ~BotRow.house)
    sent = select(SubmissionRow.bot).where(_is_by(author, account), text(OPEN_SUBMISSION))
    return {*connection.execute(bots).scalars(), *connection.execute(sent).scalars()}


def _is_by(author: str, account: int | None, of: type[UploadRow | SubmissionRow] = SubmissionRow) -> Any:  # noqa: ANN401 - an SQLAlchemy expression
    return of.author == author if account is None else of.account_id == account
