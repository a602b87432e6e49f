"""Submissions: their progress and outcome.

Each change specifies the stage that the submission leaves, so repeating the change has no effect.
"""

from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, Select, func, insert, select, text, update

from arena.db import bots, ladder, matches, quotas, subscriptions
from arena.db.database import Repository, count, from_row
from arena.db.games import RULES
from arena.db.matches import NewMatch, report_of
from arena.db.quotas import NewSubmission, Quota, UploadAllowance
from arena.db.schema import (
    OPEN_SUBMISSION,
    BotVersionRow,
    MatchRow,
    MatchSeatRow,
    SubmissionRow,
    UnratedGameRow,
)
from arena.ladder.qualification import Played
from arena.protocol.match import GameRecord, SeatReport, decode
from arena.protocol.news import Topic, submission_done
from arena.protocol.states import MatchState
from arena.protocol.submissions import HINTS, Cause, CauseKind, Stage, Submission
from arena.rules import Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSubmission(Submission):
    """A submission, with its place in the queue, its account and its image."""

    number: int  # its place in the queue
    account: int | None  # id of the author's account; None if an operator submitted it for the author
    source: str | None  # the image id; None before it is built


@dataclass(frozen=True, slots=True, kw_only=True)
class QualificationGame:
    """A submission's one-game match. ``report``, ``game`` and ``record`` are None until it is over."""

    match: str
    state: MatchState
    rules: Rules
    seat: int  # the submission's seat
    reason: str | None  # why an attempt at the match last failed, or None
    report: SeatReport | None  # of the submission's sandbox, with its stderr
    game: str | None  # the game's id
    record: GameRecord | None

    @property
    def played(self) -> Played | None:
        """The game for the verdict; None until it is over."""
        if self.report is None or self.record is None:
            return None
        return Played(rules=self.rules, seat=self.seat, report=self.report, game=self.record)


class SubmissionRepository(Repository):
    """Adds submissions and tracks their progress."""

    def check(self, new: NewSubmission, quota: Quota) -> None:
        """Check that a submission could be added now, before its file is sent.

        Raises BotDisqualified, BotTaken, QuotaReached or SameContent.
        """
        with self._transactions.read() as connection:
            quotas.check(connection, new, quota)

    def begin(self, new: NewSubmission, quota: Quota) -> None:
        """Count the start of an upload, whether or not :meth:`add` completes it.

        Raises the same errors as :meth:`check`.
        """
        with self._transactions.write() as connection:
            ladder.lock(connection)  # so that no other upload is counted at the same time
            quotas.check(connection, new, quota)
            quotas.begin(connection, new)

    def refund(self, id_: str) -> None:
        """Refund an upload that the arena could not receive."""
        with self._transactions.write() as connection:
            quotas.forget(connection, id_)

    def allowance(self, author: str, account: int | None, quota: Quota, now: datetime) -> UploadAllowance:
        """Return an author's used and remaining uploads; ``quota`` is the arena's default."""
        with self._transactions.read() as connection:
            return quotas.allowance_of(connection, author, account, quota, now)

    def add(self, new: NewSubmission, quota: Quota) -> KnownSubmission:
        """Add a received submission. Raises the same errors as :meth:`check`."""
        with self._transactions.write() as connection:
            ladder.lock(connection)  # as in begin
            quotas.forget(connection, new.id)
            quotas.check(connection, new, quota)
            values = asdict(new)
            values["account_id"] = values.pop("account")
            connection.execute(insert(SubmissionRow).values(stage=Stage.RECEIVED, **values))
            return _known(connection.execute(_submissions().where(SubmissionRow.id == new.id)).one())

    def find(self, id_: str) -> KnownSubmission | None:
        """Return the submission with this id, or None."""
        with self._transactions.read() as connection:
            row = connection.execute(_submissions().where(SubmissionRow.id == id_)).one_or_none()
            return None if row is None else _known(row)

    def open_submissions(self) -> tuple[KnownSubmission, ...]:
        """Return the open submissions in the order of the queue."""
        with self._transactions.read() as connection:
            rows = connection.execute(
                _submissions().where(text(OPEN_SUBMISSION)).order_by(SubmissionRow.number)
            )
            return tuple(map(_known, rows))

    def newest(
        self,
        *,
        account: int | None = None,
        bot: str | None = None,
        before: int | None = None,
        limit: int = 50,
    ) -> tuple[KnownSubmission, ...]:
        """Return at most ``limit`` submissions with numbers below ``before``, newest first.

        ``account`` and ``bot``, in any case, narrow the list.
        """
        query = _submissions().order_by(SubmissionRow.number.desc()).limit(limit)
        if account is not None:
            query = query.where(SubmissionRow.account_id == account)
        if bot is not None:
            query = query.where(func.lower(SubmissionRow.bot) == bot.lower())
        if before is not None:
            query = query.where(SubmissionRow.number < before)
        with self._transactions.read() as connection:
            return tuple(map(_known, connection.execute(query)))

    def games(self, id_: str) -> tuple[QualificationGame, ...]:
        """Return a submission's games in order, including those not yet played."""
        with self._transactions.read() as connection:
            rows = connection.execute(
                select(
                    MatchRow.id.label("match"),
                    MatchRow.state,
                    MatchRow.reason,
                    MatchSeatRow.seat,
                    MatchSeatRow.report,
                    MatchSeatRow.stderr,
                    *RULES,
                    UnratedGameRow.id.label("game"),
                    UnratedGameRow.record,
                )
                .join(MatchSeatRow, MatchSeatRow.match_id == MatchRow.id)
                .join(SubmissionRow, SubmissionRow.number == MatchSeatRow.submission_number)
                .outerjoin(UnratedGameRow, UnratedGameRow.match_id == MatchRow.id)
                .where(SubmissionRow.id == id_)
                .order_by(MatchRow.number, UnratedGameRow.position)
            )
            return tuple(_game(row) for row in rows)

    def games_played(self, id_: str) -> int:
        """Return the number of a submission's finished games."""
        with self._transactions.read() as connection:
            match_ids = _matches_of(SubmissionRow.id == id_)
            return count(connection, UnratedGameRow, UnratedGameRow.match_id.in_(match_ids))

    def replay(self, id_: str, game: str) -> str | None:
        """Return the replay of a submission's game as JSON text, or None if it has no game with this id."""
        with self._transactions.read() as connection:
            condition = UnratedGameRow.match_id.in_(_matches_of(SubmissionRow.id == id_))
            replay = select(UnratedGameRow.replay).where(UnratedGameRow.id == game, condition)
            return connection.execute(replay).scalar_one_or_none()

    def same_image(self, bot: str, source: str) -> str | None:
        """Describe the bot's version that has this image; return None if there is none."""
        with self._transactions.read() as connection:
            return quotas.describe_version(connection, bot, BotVersionRow.source == source)

    def mark_inspected(self, id_: str, source: str, at: datetime) -> None:
        """Record the image built from a received file."""
        self._update_at(Stage.RECEIVED, id_, stage=Stage.INSPECTED, inspected=at, source=source)

    def mark_qualifying(self, id_: str, at: datetime) -> None:
        """Record that an inspected submission may play."""
        self._update_at(Stage.INSPECTED, id_, stage=Stage.QUALIFYING, qualifying=at)

    def add_game(self, new: NewMatch, *, played: int) -> bool:
        """Add a game for a qualifying submission. Return False if the number of its games isn't ``played``.

        Also returns False if the submission isn't qualifying, for example because its author cancelled it.
        Quarantined games don't count. Raises ValueError if a version doesn't exist.
        """
        with self._transactions.write() as connection:
            ladder.lock(connection)  # first, as in `activate`
            qualifying = select(SubmissionRow.id).where(
                SubmissionRow.id == new.submission, SubmissionRow.stage == Stage.QUALIFYING
            )
            if connection.execute(qualifying.with_for_update()).one_or_none() is None:
                return False
            condition = MatchRow.id.in_(_matches_of(SubmissionRow.id == new.submission))
            if count(connection, MatchRow, condition, MatchRow.state != MatchState.QUARANTINED) != played:
                return False
            matches.add(connection, new)
            return True

    def wait(self, id_: str, why: str | None) -> None:
        """Record why a submission is waiting; None if it no longer is."""
        with self._transactions.write() as connection:
            connection.execute(
                update(SubmissionRow)
                .where(SubmissionRow.id == id_, text(OPEN_SUBMISSION))
                .values(waiting=why)
            )

    def activate(self, id_: str, at: datetime) -> int | None:
        """Make a qualifying submission the newest version of its bot; return that version's number.

        Matches with older versions are unchanged and count for those versions. Return None if the submission
        is not qualifying. Raises BotTaken.
        """
        with self._transactions.write() as connection:
            ladder.lock(connection)  # first, as when an account is deleted or a bot disqualified
            row = connection.execute(
                _submissions()
                .where(SubmissionRow.id == id_, SubmissionRow.stage == Stage.QUALIFYING)
                .with_for_update(of=SubmissionRow)
            ).one_or_none()
            if row is None:
                return None
            new = from_row(bots.NewVersion, row, house=False, created=at)
            version = bots.add_version(connection, new)
            connection.execute(
                update(SubmissionRow)
                .where(SubmissionRow.id == id_)
                .values(stage=Stage.ACTIVE, ended=at, waiting=None, version_id=version)
            )
            number = connection.execute(
                select(BotVersionRow.number).where(BotVersionRow.id == version)
            ).scalar_one()
            _notify(connection, row, at, version=number)
            return number

    def mark_passed(self, id_: str, at: datetime) -> None:
        """Record that a check-only submission has qualified."""
        with self._transactions.write() as connection:
            for row in connection.execute(
                update(SubmissionRow)
                .where(SubmissionRow.id == id_, SubmissionRow.stage == Stage.QUALIFYING)
                .values(stage=Stage.PASSED, ended=at, waiting=None)
                .returning(*SubmissionRow.__table__.columns)
            ).all():
                _notify(connection, row, at)

    def withdraw(self, id_: str, at: datetime) -> bool:
        """Cancel an open submission for its author. Return False if it isn't open."""
        with self._transactions.write() as connection:
            cause = _withdrawal("its author cancelled it")
            return bool(reject_open(connection, SubmissionRow.id == id_, cause, at))

    def reject(self, id_: str, cause: Cause, at: datetime) -> None:
        """Reject an open submission, and store the cause."""
        with self._transactions.write() as connection:
            reject_open(connection, SubmissionRow.id == id_, cause, at)

    def _update_at(self, left: Stage, id_: str, **values: object) -> None:
        """Change a submission if it is still at the stage ``left``."""
        with self._transactions.write() as connection:
            connection.execute(
                update(SubmissionRow)
                .where(SubmissionRow.id == id_, SubmissionRow.stage == left)
                .values(waiting=None, **values)
            )


def rename(connection: Connection, account: int, name: str, pseudonym: str, at: datetime) -> None:
    """Replace a deleted account's name with a pseudonym, and end its open submissions."""
    condition = SubmissionRow.account_id == account
    reject_open(connection, condition, _withdrawal(bots.ACCOUNT_DELETED), at)
    connection.execute(
        update(UnratedGameRow)
        .where(UnratedGameRow.match_id.in_(_matches_of(condition)))
        .values(replay=renamed(UnratedGameRow.replay, name, pseudonym))
    )
    connection.execute(update(SubmissionRow).where(condition).values(author=pseudonym))
    quotas.forget_all_of(connection, account)


def renamed(replay: Any, author: str, pseudonym: str) -> Any:  # noqa: ANN401 - SQLAlchemy expressions
    """Return a replay with an author renamed, as an SQL expression: there may be thousands of replays."""
    # Names contain only letters, digits, - and _, so the text can match only this field.
    return func.replace(replay, f'"author":"{author}"', f'"author":"{pseudonym}"')


def _matches_of(submissions: ColumnElement[bool]) -> Select[str]:
    return (
        select(MatchSeatRow.match_id)
        .join(SubmissionRow, SubmissionRow.number == MatchSeatRow.submission_number)
        .where(submissions)
    )


def _withdrawal(why: str) -> Cause:
    kind = CauseKind.WITHDRAWN
    return Cause(stage=Stage.RECEIVED, kind=kind, text=why, hint=HINTS[kind])


def reject_open(connection: Connection, which: ColumnElement[bool], cause: Cause, at: datetime) -> int:
    """Reject the open submissions among these, each with its own stage in the cause; return their number.

    Their authors are notified unless the cause is a withdrawal.
    """
    found = select(SubmissionRow.__table__).where(which, text(OPEN_SUBMISSION)).with_for_update()
    rows = connection.execute(found).all()
    for row in rows:
        own = replace(cause, stage=Stage(row.stage))
        connection.execute(
            update(SubmissionRow)
            .where(SubmissionRow.number == row.number)
            .values(stage=Stage.REJECTED, ended=at, waiting=None, cause=msgspec.json.encode(own))
        )
        if cause.kind is not CauseKind.WITHDRAWN:
            _notify(connection, row, at, cause=own)
    return len(rows)


def _notify(
    connection: Connection,
    row: Row[*tuple[Any, ...]],
    at: datetime,
    *,
    version: int | None = None,
    cause: Cause | None = None,
) -> None:
    news = submission_done(row.bot, row.id, at, check_only=row.check_only, version=version, cause=cause)
    subscriptions.notify_account(connection, row.account_id, Topic.SUBMISSION, news)


def _submissions() -> Select[Any]:
    return (
        select(SubmissionRow.__table__, SubmissionRow.account_id.label("account"))
        .add_columns(BotVersionRow.number.label("version"))
        .outerjoin(BotVersionRow, BotVersionRow.id == SubmissionRow.version_id)
    )


def _known(row: Row[*tuple[Any, ...]]) -> KnownSubmission:
    return from_row(KnownSubmission, row, cause=None if row.cause is None else decode(row.cause, Cause))


def _game(row: Row[*tuple[Any, ...]]) -> QualificationGame:
    return from_row(
        QualificationGame,
        row,
        rules=from_row(Rules, row),
        report=None if row.report is None else report_of(row),
        record=None if row.record is None else decode(row.record, GameRecord),
    )
