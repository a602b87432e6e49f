"""What an author may send: under which name, how often, how many bots."""

from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, func, or_, select, text

from arena.store import known_bots, quotas, same_content, versions
from arena.store.bot_models import Bot, BotState
from arena.store.errors import BotDisqualified, BotTaken, QuotaReached
from arena.store.submission_models import ON_ITS_WAY, Submission
from arena.store.submitted import Allowance, NewSubmission, Quota

_DAY: Final = timedelta(days=1)


def check(connection: Connection, new: NewSubmission, quota: Quota) -> None:
    """Make sure that an author may send this now.

    Raises:
        BotDisqualified: The bot may play no more.
        BotTaken: The name belongs to somebody else, or to something that is on its way.
        QuotaReached: It would be too much.
        SameContent: The bot has this file already.
    """
    _check_name(connection, new.bot, new.author, new.account)
    if new.sha256:
        same_content.check_file(connection, new.bot, new.sha256)
    quota = quotas.of_author(connection, new.account, quota)
    today, most = (
        _sent_within_a_day(connection, new.author, new.account, new.received),
        quota.submissions_a_day,
    )
    if today >= most:
        raise QuotaReached(
            f"{new.author} has sent {today} submissions within a day, and {most} is the most",
            _until_one_may_be_sent(connection, new, today - most),
        )
    names = _names(connection, new.author, new.account)
    if new.bot not in names and len(names) >= quota.bots:
        raise QuotaReached(
            f"{new.author} has {len(names)} bots, and {quota.bots} is the most: "
            "send a new version of one of them"
        )
    if _count(connection, text(ON_ITS_WAY)) >= quota.on_their_way:
        raise QuotaReached(f"{quota.on_their_way} submissions are on their way already: try again later")


def find(connection: Connection, author: str, account: int | None, quota: Quota, now: datetime) -> Allowance:
    """Return what an author may send now."""
    own = quotas.of_author(connection, account, quota)
    return Allowance(
        sent=_sent_within_a_day(connection, author, account, now),
        submissions_a_day=own.submissions_a_day,
        bots=len(_names(connection, author, account)),
        most_bots=own.bots,
    )


def _check_name(connection: Connection, bot: str, author: str, account: int | None) -> None:
    known = known_bots.find(connection, bot)
    if known is None:
        versions.check_spelling(connection, bot)
    if known is not None and (known.author, known.house, known.account) != (author, False, account):
        raise BotTaken(f"the name {bot} belongs to a bot of {known.author}: choose another")
    if known is not None and known.state is BotState.DISQUALIFIED:
        raise BotDisqualified(versions.disqualified(bot, known.reason))
    other = connection.execute(
        select(Submission.author)
        .where(func.lower(Submission.bot) == bot.lower(), text(ON_ITS_WAY))
        .where(
            or_(
                Submission.bot != bot,
                Submission.author != author,
                Submission.account_id.is_distinct_from(account),
            )
        )
        .limit(1)
    ).scalar_one_or_none()
    if other is not None:
        raise BotTaken(f"a bot called {bot} of {other} is on its way: choose another name")


def _sent_within_a_day(connection: Connection, author: str, account: int | None, now: datetime) -> int:
    return _count(connection, _of(author, account), Submission.received > now - _DAY)


def _until_one_may_be_sent(connection: Connection, new: NewSubmission, too_many: int) -> timedelta | None:
    """Return how long it takes until so many of a day's submissions and one more are a day old."""
    received = connection.execute(
        select(Submission.received)
        .where(_of(new.author, new.account), Submission.received > new.received - _DAY)
        .order_by(Submission.received)
        .offset(too_many)
        .limit(1)
    ).scalar_one_or_none()
    return None if received is None else received + _DAY - new.received


def _names(connection: Connection, author: str, account: int | None) -> set[str]:
    """Return the names of an author's bots, those on their way included."""
    bots = select(Bot.name).where(Bot.author == author, ~Bot.house)
    sent = select(Submission.bot).where(_of(author, account), text(ON_ITS_WAY))
    return {*connection.execute(bots).scalars(), *connection.execute(sent).scalars()}


def _of(author: str, account: int | None) -> Any:  # noqa: ANN401 - an expression of SQLAlchemy's
    return Submission.author == author if account is None else Submission.account_id == account


def _count(connection: Connection, *conditions: Any) -> int:  # noqa: ANN401 - as above
    return connection.execute(select(func.count()).select_from(Submission).where(*conditions)).scalar_one()
