"""Disqualifications: made and taken back, each under the lock on the ladder.

Both rate everybody anew. That takes long, so the caller rehearses it before the lock is taken.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, or_, select, text

from arena.rating import Rate
from arena.store import bot_states, ladder, rebuild, submissions, versions
from arena.store.bot_models import BotState, BotVersion
from arena.store.errors import WrongState
from arena.store.models import OPEN, Match, MatchSeat, MatchState
from arena.store.submission_models import Submission
from arena.submitting.hints import HINTS
from arena.submitting.stages import Cause, CauseKind, Stage

_NO_IMAGE = "its image was removed while it was disqualified: submit it again"


def rehearse(connection: Connection, name: str, rate: Rate, *, counts: bool) -> frozenset[int]:
    """Rate everybody as it will be, and write nothing.

    Args:
        connection: To the store, for reading.
        name: Of the bot.
        rate: Rates a game, and remembers.
        counts: Whether its games will count.

    Returns:
        The versions whose games won't count.

    Raises:
        NoSuchBot: There is none of that name.
        WrongState: As :func:`disqualify` or :func:`reinstate`.
    """
    bot = bot_states.find(connection, name)
    _check(bot, disqualified=counts)
    its = select(BotVersion.id).where(BotVersion.bot_id == bot.id)
    versions_ = frozenset(connection.execute(its).scalars())
    before = ladder.disqualified(connection)
    barred = before - versions_ if counts else before | versions_
    rebuild.rehearse(connection, barred, rate)
    return barred


def disqualify(connection: Connection, name: str, why: str, at: datetime, rate: Rate) -> rebuild.Rebuilt:
    """Take a bot off the ladder for good, and rate everybody anew as if it had never played.

    Its matches that wait are struck, its submissions on their way rejected. What runs doesn't count.

    Raises:
        NoSuchBot: There is none of that name.
        WrongState: It is disqualified already, or a bot of the house.
    """
    bot = bot_states.lock(connection, name)
    _check(bot, disqualified=False)
    bot_states.set_state(connection, bot.id, BotState.DISQUALIFIED, why, at)
    _strike(connection, bot)
    cause = Cause(
        stage=Stage.RECEIVED,
        kind=CauseKind.BARRED,
        text=versions.disqualified(name, why),
        hint=HINTS[CauseKind.BARRED],
    )
    submissions.reject_all_of(connection, name, cause, at)
    return rebuild.rebuild(connection, rate)


def reinstate(connection: Connection, name: str, at: datetime, rate: Rate) -> rebuild.Rebuilt:
    """Take a disqualification back, and rate everybody anew with its games.

    The bot plays again, unless its image was removed meanwhile: then it is benched until it is submitted.

    Raises:
        NoSuchBot: There is none of that name.
        WrongState: It was not disqualified.
    """
    bot = bot_states.lock(connection, name)
    _check(bot, disqualified=True)
    gone = connection.execute(
        select(BotVersion.gone).where(BotVersion.bot_id == bot.id, BotVersion.number == bot.playing)
    ).scalar_one()
    if gone is None:
        bot_states.set_state(connection, bot.id, BotState.ACTIVE, None, at)
    else:
        bot_states.set_state(connection, bot.id, BotState.BENCHED, _NO_IMAGE, at)
    return rebuild.rebuild(connection, rate)


def _check(bot: Row[Any], *, disqualified: bool) -> None:
    if disqualified and bot.state != BotState.DISQUALIFIED:
        raise WrongState(f"{bot.name} was not disqualified: it is {bot.state}")
    if not disqualified and bot.state == BotState.DISQUALIFIED:
        raise WrongState(f"{bot.name} was disqualified already: {bot.reason}")


def _strike(connection: Connection, bot: Row[Any]) -> None:
    """Remove the matches that wait in which a bot sits, or a submission that is to become a version of it."""
    its = (
        select(MatchSeat.match_id)
        .join(Match, Match.id == MatchSeat.match_id)
        .outerjoin(BotVersion, BotVersion.id == MatchSeat.version_id)
        .outerjoin(Submission, Submission.number == MatchSeat.submission_number)
        .where(text(OPEN), Match.state == MatchState.WAITING)
        .where(or_(BotVersion.bot_id == bot.id, Submission.bot == bot.name))
        .with_for_update(of=Match)  # so that none of them begins meanwhile
    )
    struck = list(connection.execute(its).scalars())
    connection.execute(delete(MatchSeat).where(MatchSeat.match_id.in_(struck)))
    connection.execute(delete(Match).where(Match.id.in_(struck)))
