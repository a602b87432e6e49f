"""Submissions: what was sent, how far it is, and what became of it.

A change names the stage that it leads away from, so doing it twice changes nothing the second time.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, func, insert, select, text, update

from arena.store import allowance, ladder, versions
from arena.store.bot_models import BotVersion
from arena.store.models import MatchSeat
from arena.store.submission_models import ON_ITS_WAY, Submission, UnratedGame
from arena.store.submitted import KnownSubmission, NewSubmission, Quota
from arena.submitting.hints import HINTS
from arena.submitting.stages import Cause, CauseKind, Stage, UploadKind, decode_cause, encode_cause


def add(connection: Connection, new: NewSubmission, quota: Quota) -> KnownSubmission:
    """Write down that a file is here.

    Raises:
        BotDisqualified: As :func:`arena.store.allowance.check`.
        BotTaken: As :func:`arena.store.allowance.check`.
        QuotaReached: As :func:`arena.store.allowance.check`.
        SameContent: As :func:`arena.store.allowance.check`.
    """
    ladder.lock(connection)  # so that nobody else is counted at the same time
    allowance.check(connection, new, quota)
    values = {
        "id": new.id,
        "bot": new.bot,
        "author": new.author,
        "account_id": new.account,
        "kind": new.kind,
        "note": new.note,
        "size": new.size,
        "sha256": new.sha256,
        "stage": Stage.RECEIVED,
        "received": new.received,
    }
    connection.execute(insert(Submission).values(values))
    return _known(connection.execute(_submissions().where(Submission.id == new.id)).one())


def find(connection: Connection, id_: str) -> KnownSubmission | None:
    """Return the submission of this id, or None where there is none."""
    row = connection.execute(_submissions().where(Submission.id == id_)).one_or_none()
    return None if row is None else _known(row)


def on_their_way(connection: Connection) -> tuple[KnownSubmission, ...]:
    """Return what is not over, in the order of the queue."""
    rows = connection.execute(_submissions().where(text(ON_ITS_WAY)).order_by(Submission.number))
    return tuple(map(_known, rows))


def newest(
    connection: Connection, *, account: int | None, bot: str | None, before: int | None, limit: int
) -> tuple[KnownSubmission, ...]:
    """Return submissions, newest first: of an account, or of all; of a bot, or of all."""
    wanted = _submissions().order_by(Submission.number.desc()).limit(limit)
    if account is not None:
        wanted = wanted.where(Submission.account_id == account)
    if bot is not None:
        wanted = wanted.where(Submission.bot == bot)
    if before is not None:
        wanted = wanted.where(Submission.number < before)
    return tuple(map(_known, connection.execute(wanted)))


def inspected(connection: Connection, id_: str, source: str, at: datetime) -> None:
    """Note the image that was made of a received file."""
    connection.execute(
        update(Submission)
        .where(Submission.id == id_, Submission.stage == Stage.RECEIVED)
        .values(stage=Stage.INSPECTED, inspected=at, source=source, waiting=None)
    )


def qualifying(connection: Connection, id_: str, at: datetime) -> None:
    """Note that an inspected submission may play."""
    connection.execute(
        update(Submission)
        .where(Submission.id == id_, Submission.stage == Stage.INSPECTED)
        .values(stage=Stage.QUALIFYING, qualifying=at, waiting=None)
    )


def reject(connection: Connection, id_: str, cause: Cause, at: datetime) -> None:
    """End a submission with a cause."""
    connection.execute(
        update(Submission)
        .where(Submission.id == id_, text(ON_ITS_WAY))
        .values(stage=Stage.REJECTED, ended=at, waiting=None, cause=encode_cause(cause))
    )


def reject_all_of(connection: Connection, bot: str, cause: Cause, at: datetime) -> None:
    """End all submissions of a bot that are on their way."""
    its = select(Submission.id).where(Submission.bot == bot, text(ON_ITS_WAY))
    for id_ in connection.execute(its).scalars().all():
        reject(connection, id_, cause, at)


def wait(connection: Connection, id_: str, why: str | None) -> None:
    """Note what the arena itself lacks to go on with a submission, or that it lacks nothing."""
    connection.execute(update(Submission).where(Submission.id == id_, text(ON_ITS_WAY)).values(waiting=why))


def activate(connection: Connection, id_: str, at: datetime) -> int | None:
    """Make a submission that has qualified the newest version of its bot.

    Matches with the older one that wait or run stay what they are, and count for that one.

    Returns:
        The number of that version, or None where the submission is not qualifying.

    Raises:
        BotTaken: The name belongs to another author by now.
    """
    ladder.lock(connection)  # first, as whoever deletes an account or disqualifies a bot
    row = connection.execute(
        _submissions()
        .where(Submission.id == id_, Submission.stage == Stage.QUALIFYING)
        .with_for_update(of=Submission)
    ).one_or_none()
    if row is None:
        return None
    version = versions.add_version(
        connection,
        versions.NewVersion(
            bot=row.bot,
            author=row.author,
            house=False,
            source=row.source,
            created=at,
            account=row.account_id,
            note=row.note,
            size=row.size,
            sha256=row.sha256,
        ),
    )
    connection.execute(
        update(Submission)
        .where(Submission.id == id_)
        .values(stage=Stage.ACTIVE, ended=at, waiting=None, version_id=version)
    )
    return connection.execute(select(BotVersion.number).where(BotVersion.id == version)).scalar_one()


def rename(connection: Connection, account: int, name: str, pseudonym: str, at: datetime) -> None:
    """Put a pseudonym wherever a deleted account's name stands, and end what it has on its way."""
    its = Submission.account_id == account
    cause = Cause(
        stage=Stage.RECEIVED,
        kind=CauseKind.WITHDRAWN,
        text="its author's account was deleted",
        hint=HINTS[CauseKind.WITHDRAWN],
    )
    for id_ in connection.execute(select(Submission.id).where(its, text(ON_ITS_WAY))).scalars().all():
        reject(connection, id_, cause, at)
    played = (
        select(MatchSeat.match_id)
        .join(Submission, Submission.number == MatchSeat.submission_number)
        .where(its)
    )
    # Names are of letters, digits, - and _ alone, so the text is the field and nothing else.
    renamed = func.replace(UnratedGame.replay, f'"author":"{name}"', f'"author":"{pseudonym}"')
    connection.execute(update(UnratedGame).where(UnratedGame.match_id.in_(played)).values(replay=renamed))
    connection.execute(update(Submission).where(its).values(author=pseudonym))


def _submissions() -> Select[Any]:
    return select(Submission.__table__, BotVersion.number.label("version")).outerjoin(
        BotVersion, BotVersion.id == Submission.version_id
    )


def _known(row: Row[*tuple[Any, ...]]) -> KnownSubmission:
    return KnownSubmission(
        number=row.number,
        id=row.id,
        bot=row.bot,
        author=row.author,
        account=row.account_id,
        kind=UploadKind(row.kind),
        note=row.note,
        size=row.size,
        sha256=row.sha256,
        stage=Stage(row.stage),
        source=row.source,
        version=row.version,
        received=row.received,
        inspected=row.inspected,
        qualifying=row.qualifying,
        ended=row.ended,
        waiting=row.waiting,
        cause=None if row.cause is None else decode_cause(row.cause),
    )
