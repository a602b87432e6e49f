"""The tables.

    bot_version ─< match_seat >─ match >─ challenge
        │                          │
        ├─< game_seat >──────────  game ── rating_event ─< rating_change
        └─< rating               highlight ─┘  ladder (one row: settings, the last numbers)

Other tables store bots, accounts, submissions, statistics, analyses, live games, workers and more.

``rating_event`` is the ladder's append-only log, ``rating_change`` contains the effects of each event, and
``rating`` contains the current ratings, which follow from the log. Assigning a number to a match, a game or
an event requires the lock on the row of ``ladder``.
"""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Final

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    DateTime,
    Dialect,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Text,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator, TypeEngine

from arena.protocol.states import BotState


class UtcTime(TypeDecorator[datetime]):
    """A point in time. Takes aware datetimes and returns UTC, even if the database stores no time zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Convert to UTC. Raises ValueError if the datetime is naive."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value} has no time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Convert to UTC; a naive value was stored as UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class SafeText(TypeDecorator[str]):
    """External text. Characters that PostgreSQL can't store (NUL, lone surrogates) are replaced."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Replace characters that can't be stored."""
        if value is None:
            return None
        return value.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


_NUMBER: TypeEngine[int] = BigInteger().with_variant(Integer(), "sqlite")  # SQLite's row id is an Integer
_NAME = String(64)

Number = Annotated[int, mapped_column(_NUMBER)]
NumberKey = Annotated[int, mapped_column(_NUMBER, primary_key=True, autoincrement=False)]
Serial = Annotated[int, mapped_column(_NUMBER, primary_key=True, autoincrement=True)]
Small = Annotated[int, mapped_column(Integer)]
SmallKey = Annotated[int, mapped_column(Integer, primary_key=True, autoincrement=False)]
Name = Annotated[str, mapped_column(_NAME)]
NameKey = Annotated[str, mapped_column(_NAME, primary_key=True)]
LongText = Annotated[str, mapped_column(Text)]
Reason = Annotated[str, mapped_column(SafeText)]
Moment = Annotated[datetime, mapped_column(UtcTime)]
Real = Annotated[float, mapped_column(Double)]
Blob = Annotated[bytes, mapped_column(LargeBinary)]
Numbers = Annotated[list[int], mapped_column(JSON)]
Texts = Annotated[list[str], mapped_column(JSON)]


WITHOUT_ROWID = {"sqlite_with_rowid": False}
"""SQLite stores these tables in the order of their keys, without a separate index for the key."""


OPEN_MATCH = "state IN ('waiting', 'running')"
OPEN_GAMES = "state IN ('waiting', 'playing')"
FAULTY = "faults > 0 OR taken_over"
QUARANTINED = "state = 'quarantined'"
LOGS = "logs"
REPLAYS = "replays AND kind = 'rated'"


def _partial_index(rows: str, name: str, *columns: str) -> Index:
    return Index(name, *columns, sqlite_where=text(rows), postgresql_where=text(rows))


class EventKind(StrEnum):
    """A kind of event in the ladder's log."""

    START = "start"
    GAME = "game"


class Base(DeclarativeBase):
    """The base class of all tables."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class LadderRow(Base):
    """The only row: the settings, and the last numbers assigned. To assign the next ones, lock it.

    ``revision`` increases with every change that a leaderboard shows. ``players`` lists the numbers of
    players per table, and ``deals`` is the number of deals per match. ``start_millis`` to ``bank_millis`` are
    the clock, and ``cpus`` to ``tmp_mib`` are a bot's limits. While the ladder is ``paused``, no matches are
    drawn. ``paused_changed`` is when an operator last paused or resumed the ladder; None if never.
    """

    __tablename__ = "ladder"
    __table_args__ = (CheckConstraint("id = 1", name="one_row"),)

    id: Mapped[SmallKey]
    events: Mapped[Number]
    games: Mapped[Number]
    revision: Mapped[Number] = mapped_column(default=0)
    paused: Mapped[bool] = mapped_column(default=False)
    paused_changed: Mapped[Moment | None]
    players: Mapped[Numbers]
    deals: Mapped[Small]
    start_millis: Mapped[Small]
    move_millis: Mapped[Small]
    bank_millis: Mapped[Small]
    cpus: Mapped[Real]
    memory_mib: Mapped[Small]
    pids: Mapped[Small]
    tmp_mib: Mapped[Small]


class HostReportRow(Base):
    """A report on a host's sandbox controls, as JSON. ``accepted`` names the accepted missing controls."""

    __tablename__ = "host_report"

    host: Mapped[NameKey]
    checked: Mapped[Moment]
    accepted: Mapped[Texts]
    report: Mapped[Blob]


class DealRow(Base):
    """A deal from a rated match. No deal is ever repeated."""

    __tablename__ = "deal"
    __table_args__ = WITHOUT_ROWID

    seed: Mapped[NameKey]


class MatchRow(Base):
    """A match. ``number`` is its position among all matches.

    ``attempt`` counts claims and is the fencing token against late results; ``voids`` counts arena faults,
    and ``losses`` counts lost workers and coordinators. Matches with the lowest ``precedence`` are played
    first; a challenge's matches run one at a time. A running match was claimed by ``coordinator`` and is
    being played by ``worker``; its lease ends at ``leased_until`` on the clock ``lease_clock``. ``logs`` and
    ``replays`` say whether the match still has them (:mod:`arena.db.game_logs`).
    """

    __tablename__ = "match"
    __table_args__ = (
        CheckConstraint("state IN ('waiting', 'running', 'done', 'quarantined')", name="state"),
        CheckConstraint("kind IN ('rated', 'qualification', 'challenge')", name="kind"),
        # Only open matches, so that the queue's cost doesn't grow with the number of matches.
        _partial_index(OPEN_MATCH, "ix_match_open", "state", "precedence", "number"),
        _partial_index(QUARANTINED, "ix_match_quarantined", "ended"),
        Index("ix_match_number", "number", unique=True),
        Index("ix_match_challenge_number", "challenge_number"),
        _partial_index(LOGS, "ix_match_logs", "ended"),
        _partial_index(REPLAYS, "ix_match_replays", "ended"),
    )

    id: Mapped[NameKey]
    number: Mapped[Number]
    challenge_number: Mapped[Number | None] = mapped_column(ForeignKey("challenge.number"))
    players: Mapped[Small]
    pass_both_ways: Mapped[bool]
    soy_sauce: Mapped[bool]
    dummy: Mapped[bool]
    deals: Mapped[Small]
    created: Mapped[Moment]
    spec: Mapped[Blob]
    runtime: Mapped[Name]
    kind: Mapped[Name]
    precedence: Mapped[Small]
    state: Mapped[Name]
    attempt: Mapped[Small]
    voids: Mapped[Small]
    started: Mapped[Moment | None]
    ended: Mapped[Moment | None]
    reason: Mapped[Reason | None]
    coordinator: Mapped[Name | None]
    worker: Mapped[Name | None]
    leased_until: Mapped[Real | None]
    lease_clock: Mapped[Name | None]
    losses: Mapped[Small] = mapped_column(server_default="0")
    logs: Mapped[bool] = mapped_column(default=True)
    replays: Mapped[bool] = mapped_column(default=True)


class MatchSeatRow(Base):
    """A participant in a match: a version or a submission.

    ``seat`` is the index in the match; the seats in its games may differ. ``report`` and ``stderr`` are
    written when the match ends. ``report`` is the JSON of a SeatReport without ``stderr``, which is private
    to the owner.
    """

    __tablename__ = "match_seat"
    __table_args__ = (
        CheckConstraint("(version_id IS NULL) <> (submission_number IS NULL)", name="who"),
        Index("ix_match_seat_submission_number", "submission_number"),
    )

    match_id: Mapped[NameKey] = mapped_column(ForeignKey("match.id"))
    seat: Mapped[SmallKey]
    version_id: Mapped[Number | None] = mapped_column(ForeignKey("bot_version.id"))
    submission_number: Mapped[Number | None] = mapped_column(ForeignKey("submission.number"))
    report: Mapped[Blob | None]
    stderr: Mapped[Blob | None]


class GameRow(Base):
    """A rated game; ``number`` is its position in the order in which games were rated; there are no gaps.

    ``replay`` and ``record`` are empty once the match's replays have been removed.
    """

    __tablename__ = "game"
    __table_args__ = (UniqueConstraint("match_id", "position"), Index("ix_game_ended", "ended", "number"))

    number: Mapped[NumberKey]
    id: Mapped[Name] = mapped_column(unique=True)
    match_id: Mapped[Name] = mapped_column(ForeignKey("match.id"))
    position: Mapped[Small]
    players: Mapped[Small]
    ended: Mapped[Moment]
    # Last, so that lists never read the pages of these large columns.
    replay: Mapped[LongText]
    record: Mapped[Blob]


class AnalysisRow(Base):
    """An analysis of a game; ``document`` is its `kaiten-analysis/1` as JSON, compressed with zlib."""

    __tablename__ = "analysis"

    game_number: Mapped[NumberKey] = mapped_column(ForeignKey("game.number"))
    analyst: Mapped[Name]
    version: Mapped[Small]
    playouts: Mapped[Small]
    document: Mapped[Blob]


class CostlyDecisionRow(Base):
    """A version's inaccuracy or blunder according to an analysis. ``played`` and ``best`` name the cards."""

    __tablename__ = "costly_decision"
    __table_args__ = (Index("ix_costly_decision_version", "version_id", "game_number"), WITHOUT_ROWID)

    game_number: Mapped[NumberKey] = mapped_column(ForeignKey("analysis.game_number"))
    round: Mapped[SmallKey]
    turn: Mapped[SmallKey]
    seat: Mapped[SmallKey]
    version_id: Mapped[Number] = mapped_column(ForeignKey("bot_version.id"))
    lost_chance: Mapped[Real]
    lost_points: Mapped[Real]
    played: Mapped[Texts]
    best: Mapped[Texts]


class PuzzleRow(Base):
    """The puzzle for a UTC day (`2026-11-23`): one seat's decision. ``merit`` is the puzzle's quality."""

    __tablename__ = "puzzle"

    day: Mapped[NameKey]
    game_number: Mapped[Number] = mapped_column(ForeignKey("game.number"))
    round: Mapped[Small]
    turn: Mapped[Small]
    seat: Mapped[Small]
    merit: Mapped[Real]


class GameSeatRow(Base):
    """A seat's result.

    ``median_micros`` is the median time of the seat's decisions; None if it never answered. ``after_two`` is
    the seat's points after two rounds; None for games recorded before revision 0101.
    """

    __tablename__ = "game_seat"
    __table_args__ = (
        UniqueConstraint("version_id", "game_number"),
        # Finds an old fault as fast as the latest one.
        _partial_index(FAULTY, "ix_game_seat_faulty", "version_id", "game_number"),
        WITHOUT_ROWID,
    )

    game_number: Mapped[NumberKey] = mapped_column(ForeignKey("game.number"))
    seat: Mapped[SmallKey]
    version_id: Mapped[Number] = mapped_column(ForeignKey("bot_version.id"))
    points: Mapped[Small]
    puddings: Mapped[Small]
    place: Mapped[Small]
    faults: Mapped[Small]
    taken_over: Mapped[bool]
    median_micros: Mapped[Number | None]
    after_two: Mapped[Small | None]


class RatingEventRow(Base):
    """An event in the log: a game, or a version's start (as the successor of ``previous_id``, if any)."""

    __tablename__ = "rating_event"
    __table_args__ = (
        CheckConstraint(
            "(kind = 'start' AND version_id IS NOT NULL AND game_number IS NULL)"
            " OR (kind = 'game' AND version_id IS NULL AND previous_id IS NULL AND game_number IS NOT NULL)",
            name="kind",
        ),
    )

    number: Mapped[NumberKey]
    kind: Mapped[Name]
    version_id: Mapped[Number | None] = mapped_column(ForeignKey("bot_version.id"), unique=True)
    previous_id: Mapped[Number | None] = mapped_column(ForeignKey("bot_version.id"))
    game_number: Mapped[Number | None] = mapped_column(ForeignKey("game.number"), unique=True)


class RatingChangeRow(Base):
    """An event's effect on a version in one list; ``players`` is 0 for the overall list.

    If the event is the version's start, the values before it are None.
    """

    __tablename__ = "rating_change"
    __table_args__ = WITHOUT_ROWID

    event_number: Mapped[NumberKey] = mapped_column(ForeignKey("rating_event.number"))
    players: Mapped[SmallKey]
    version_id: Mapped[NumberKey] = mapped_column(ForeignKey("bot_version.id"))
    mean_before: Mapped[Real | None]
    deviation_before: Mapped[Real | None]
    mean_after: Mapped[Real]
    deviation_after: Mapped[Real]


class RatingRow(Base):
    """A version's current rating in one list, with the sums for the leaderboard.

    ``mean`` and ``deviation`` are those of the rating. ``times`` and ``closings`` are fields of
    :class:`arena.ladder.rating_events.Entry`, as JSON.
    """

    __tablename__ = "rating"
    __table_args__ = WITHOUT_ROWID

    version_id: Mapped[NumberKey] = mapped_column(ForeignKey("bot_version.id"))
    players: Mapped[SmallKey]
    mean: Mapped[Real]
    deviation: Mapped[Real]
    games: Mapped[Number]
    wins: Mapped[Number]
    place_sum: Mapped[Number]
    faulty: Mapped[Number]
    last_played: Mapped[Moment | None]
    times: Mapped[Blob]
    closings: Mapped[Blob]
    skill_mean: Mapped[Real]
    skill_deviation: Mapped[Real]
    sound_mean: Mapped[Real]
    sound_deviation: Mapped[Real]


class HighlightRow(Base):
    """One of a day's remarkable games, derived from the log. See :mod:`arena.ladder.highlights`."""

    __tablename__ = "highlight"
    __table_args__ = WITHOUT_ROWID

    day: Mapped[NumberKey]
    kind: Mapped[NameKey]
    game_number: Mapped[NumberKey] = mapped_column(ForeignKey("game.number"))
    seat: Mapped[Small]
    other: Mapped[Small | None]
    value: Mapped[Real]


class ChallengeRow(Base):
    """Unrated matches that an account requested for one of its bots."""

    __tablename__ = "challenge"
    __table_args__ = (Index("ix_challenge_account_id_created", "account_id", "created"),)

    number: Mapped[Serial]
    id: Mapped[Name] = mapped_column(unique=True)
    account_id: Mapped[Number] = mapped_column(ForeignKey("account.id"))
    version_id: Mapped[Number] = mapped_column(ForeignKey("bot_version.id"))
    deals: Mapped[Small]
    created: Mapped[Moment]


class PersonGameRow(Base):
    """A person's unrated game against bots.

    ``visitor`` is the digest of the visitor's cookie. ``account_id`` is the person's account, if any.
    ``rules``, ``asked`` (the view of the person's latest decision) and ``chosen`` (the person's choice) are
    JSON. ``opponents`` are ids of versions in the order of their seats. ``state`` is a
    :class:`PersonGameState`. ``replay`` is empty until the game is over; ``analysis`` may be added later.
    ``trouble`` says why the game failed.
    """

    __tablename__ = "person_game"
    __table_args__ = (
        CheckConstraint("state IN ('waiting', 'playing', 'over', 'left', 'failed')", name="state"),
        _partial_index(OPEN_GAMES, "ix_person_game_open", "state", "number"),
        Index("ix_person_game_visitor", "visitor", "number"),
        Index("ix_person_game_account_id", "account_id", "number"),
    )

    number: Mapped[Serial]
    id: Mapped[Name] = mapped_column(unique=True)
    visitor: Mapped[Name]
    account_id: Mapped[Number | None] = mapped_column(ForeignKey("account.id"))
    state: Mapped[Name]
    rules: Mapped[LongText]
    opponents: Mapped[Numbers]
    seat: Mapped[Small]
    created: Mapped[Moment]
    seen: Mapped[Moment]
    ended: Mapped[Moment | None]
    asked: Mapped[LongText | None]
    chosen: Mapped[LongText | None]
    replay: Mapped[LongText]
    analysis: Mapped[Blob | None]
    trouble: Mapped[Reason | None]


ON_THE_BOARD: Final = (BotState.ACTIVE, BotState.BENCHED)
"""States in which a bot is on the leaderboard and keeps its image."""


class BotRow(Base):
    """A bot. ``playing`` is the number of its active version.

    ``author`` is the author's display name. ``account_id`` is the owner's id; None for house bots and bots
    that an operator added. ``revision`` is the ladder's revision at the last change that a leaderboard shows.
    ``state`` is a :class:`BotState`; ``since`` is when the state or the active version last changed, or None.
    Games before ``forgiven`` don't count towards benching. ``open_to_people`` says whether anyone may play
    against the bot.
    """

    __tablename__ = "bot"
    __table_args__ = (
        CheckConstraint("state IN ('active', 'benched', 'retired', 'disqualified')", name="state"),
    )

    id: Mapped[Serial]
    name: Mapped[Name] = mapped_column(unique=True)
    author: Mapped[Name]
    house: Mapped[bool]
    newest: Mapped[Small]
    account_id: Mapped[Number | None] = mapped_column(ForeignKey("account.id"), index=True)
    playing: Mapped[Small]
    state: Mapped[Name] = mapped_column(default="active")
    reason: Mapped[Reason | None]
    since: Mapped[Moment | None]
    forgiven: Mapped[Moment | None]
    open_to_people: Mapped[bool] = mapped_column(server_default=false())
    revision: Mapped[Number] = mapped_column(default=0, index=True)


class BotVersionRow(Base):
    """A version of a bot; ``source`` is its image id, or its folder.

    ``size`` and ``sha256`` describe the submitted file; None for house bots. ``gone`` is when its image was
    removed to free space, or a house bot's folder was found missing: the version can't play until the image
    or folder is back.
    """

    __tablename__ = "bot_version"
    __table_args__ = (UniqueConstraint("bot_id", "number"),)

    id: Mapped[Serial]
    bot_id: Mapped[Number] = mapped_column(ForeignKey("bot.id"))
    number: Mapped[Small]
    source: Mapped[LongText]
    created: Mapped[Moment]
    note: Mapped[Reason] = mapped_column(default="")
    size: Mapped[Number | None]
    sha256: Mapped[Name | None]
    gone: Mapped[Moment | None]


PLAYS: Final = (BotVersionRow.bot_id == BotRow.id) & (BotVersionRow.number == BotRow.playing)
"""Joins a bot and its active version."""


class AccountRow(Base):
    """An account. ``key`` is the name in lower case. A deleted account has a pseudonym and no password.

    A quota is None if the arena's default applies.
    """

    __tablename__ = "account"
    __table_args__ = (
        CheckConstraint("role IN ('user', 'operator')", name="role"),
        CheckConstraint("(password IS NULL) = (deleted IS NOT NULL)", name="deleted"),
    )

    id: Mapped[Serial]
    name: Mapped[Name]
    key: Mapped[Name] = mapped_column(unique=True)
    password: Mapped[LongText | None]
    role: Mapped[Name]
    created: Mapped[Moment]
    deleted: Mapped[Moment | None]
    submissions_a_day: Mapped[Small | None]
    bots: Mapped[Small | None]
    challenges_a_day: Mapped[Small | None]


class SessionRow(Base):
    """A browser session. ``seen`` is approximate, to avoid a write per request."""

    __tablename__ = "session"

    id: Mapped[Serial]
    account_id: Mapped[Number] = mapped_column(ForeignKey("account.id"), index=True)
    hash: Mapped[Name] = mapped_column(unique=True)
    browser: Mapped[Reason]
    created: Mapped[Moment]
    seen: Mapped[Moment]


class ApiTokenRow(Base):
    """An API token. ``prefix`` is the part of the secret that may be displayed again."""

    __tablename__ = "api_token"

    id: Mapped[Serial]
    account_id: Mapped[Number] = mapped_column(ForeignKey("account.id"), index=True)
    name: Mapped[Reason]
    prefix: Mapped[Name]
    hash: Mapped[Name] = mapped_column(unique=True)
    scopes: Mapped[Texts]
    created: Mapped[Moment]
    expires: Mapped[Moment]
    last_used: Mapped[Moment | None]
    revoked: Mapped[Moment | None]


class SubscriptionRow(Base):
    """An address for an account's notifications: a `webhook` or `mail` (``kind``).

    ``secret`` signs a webhook's requests, or is part of the links in emails. Without ``confirmed``, an email
    address gets only the request to confirm it. ``failures`` is the number of failures in a row, and
    ``trouble`` is the reason for the last one. The receiver has been failing since ``failing_since``. The
    next attempt is made no earlier than ``due``. After ``off``, nothing is sent.
    """

    __tablename__ = "subscription"
    __table_args__ = (CheckConstraint("kind IN ('webhook', 'mail')", name="kind"),)

    id: Mapped[Serial]
    account_id: Mapped[Number] = mapped_column(ForeignKey("account.id"), index=True)
    kind: Mapped[Name]
    address: Mapped[Reason]
    topics: Mapped[Texts]
    secret: Mapped[Name] = mapped_column(unique=True)
    created: Mapped[Moment]
    confirmed: Mapped[Moment | None]
    failures: Mapped[Small]
    failing_since: Mapped[Moment | None]
    due: Mapped[Moment]
    trouble: Mapped[Reason | None]
    off: Mapped[Moment | None]


class NoticeRow(Base):
    """News to deliver to a subscription; deleted once delivered."""

    __tablename__ = "notice"

    number: Mapped[Serial]
    subscription_id: Mapped[Number] = mapped_column(ForeignKey("subscription.id"), index=True)
    topic: Mapped[Name]
    bot: Mapped[Name]
    place: Mapped[LongText]
    title: Mapped[Reason]
    text: Mapped[Reason]
    at: Mapped[Moment]


class HeldRankRow(Base):
    """A bot's overall rank, recorded to notify the owner when the bot is overtaken.

    ``lost`` is the rank that the bot lost most recently: at ``lost_at``, to the bot named ``lost_to``.
    """

    __tablename__ = "held_rank"

    bot_id: Mapped[NumberKey] = mapped_column(ForeignKey("bot.id"))
    rank: Mapped[Small]
    lost: Mapped[Small | None]
    lost_to: Mapped[Name | None]
    lost_at: Mapped[Moment | None]


class InvitationRow(Base):
    """An invitation to register one account."""

    __tablename__ = "invitation"

    id: Mapped[Serial]
    hash: Mapped[Name] = mapped_column(unique=True)
    created: Mapped[Moment]
    expires: Mapped[Moment]
    used_by: Mapped[Number | None] = mapped_column(ForeignKey("account.id"))


class AttemptRow(Base):
    """A rate limit's counter. ``key`` is a hash of the action, its subject and the client."""

    __tablename__ = "attempt"

    key: Mapped[NameKey]
    number: Mapped[Small]
    ends: Mapped[Moment] = mapped_column(index=True)


class AuditEntryRow(Base):
    """An action by an operator or a user.

    ``who`` is an account's name, or ``terminal:`` and a system user's name; empty if unknown. ``address`` is
    None for operators' actions, whose entries are permanent. Other entries expire.
    """

    __tablename__ = "audit"
    __table_args__ = (_partial_index("address IS NOT NULL", "ix_audit_visits", "at"),)

    number: Mapped[Serial]
    at: Mapped[Moment]
    who: Mapped[Reason]
    what: Mapped[Name]
    subject: Mapped[Reason]
    detail: Mapped[Reason]
    address: Mapped[Reason | None]


OPEN_SUBMISSION = "stage IN ('received', 'inspected', 'qualifying')"


class UploadRow(Base):
    """An upload that is in progress or was aborted."""

    __tablename__ = "upload"

    id: Mapped[NameKey]
    author: Mapped[Name]
    account_id: Mapped[Number | None] = mapped_column(ForeignKey("account.id"), index=True)
    began: Mapped[Moment] = mapped_column(index=True)
    check_only: Mapped[bool] = mapped_column(server_default=false())


class SubmissionRow(Base):
    """A submitted file; ``number`` is its place in the queue.

    ``source`` is the id of the image built from it. ``waiting`` says why the submission is waiting.
    ``cause`` is JSON. Each stage has a time; ``ended`` is that of the last stage. A ``check_only`` submission
    never becomes a version.
    """

    __tablename__ = "submission"
    __table_args__ = (
        CheckConstraint(
            "stage IN ('received', 'inspected', 'qualifying', 'active', 'passed', 'rejected')", name="stage"
        ),
        _partial_index(OPEN_SUBMISSION, "ix_submission_open", "number"),
        Index("ix_submission_author_received", "author", "received"),
        Index("ix_submission_bot", "bot"),
    )

    number: Mapped[Serial]
    id: Mapped[Name] = mapped_column(unique=True)
    bot: Mapped[Name]
    author: Mapped[Name]
    account_id: Mapped[Number | None] = mapped_column(ForeignKey("account.id"), index=True)
    kind: Mapped[Name]
    note: Mapped[Reason]
    size: Mapped[Number]
    sha256: Mapped[Name]
    stage: Mapped[Name]
    source: Mapped[LongText | None]
    version_id: Mapped[Number | None] = mapped_column(ForeignKey("bot_version.id"), index=True)
    received: Mapped[Moment]
    inspected: Mapped[Moment | None]
    qualifying: Mapped[Moment | None]
    ended: Mapped[Moment | None]
    waiting: Mapped[Reason | None]
    cause: Mapped[Blob | None]
    check_only: Mapped[bool] = mapped_column(server_default=false())


class UnratedGameRow(Base):
    """An unrated game. Its seats are in its replay and in its match."""

    __tablename__ = "unrated_game"
    __table_args__ = (UniqueConstraint("match_id", "position"),)

    id: Mapped[NameKey]
    match_id: Mapped[Name] = mapped_column(ForeignKey("match.id"))
    position: Mapped[Small]
    ended: Mapped[Moment]
    replay: Mapped[LongText]
    record: Mapped[Blob]


class RatingPointRow(Base):
    """A version's rating in a list after ``games`` games in that list; see :mod:`arena.ladder.rating_events`.

    ``ended`` is the end of the last of these games; None before the first.
    """

    __tablename__ = "rating_point"
    __table_args__ = WITHOUT_ROWID

    version_id: Mapped[NumberKey] = mapped_column(ForeignKey("bot_version.id"))
    players: Mapped[SmallKey]
    games: Mapped[NumberKey]
    ended: Mapped[Moment | None]
    mean: Mapped[Real]
    deviation: Mapped[Real]


class MeetingRow(Base):
    """A bot's record against another bot in games that count; each pair has one row per direction."""

    __tablename__ = "meeting"
    __table_args__ = (Index("ix_meeting_bot_id_games", "bot_id", "games"), WITHOUT_ROWID)

    bot_id: Mapped[NumberKey] = mapped_column(ForeignKey("bot.id"))
    other_id: Mapped[NumberKey] = mapped_column(ForeignKey("bot.id"))
    games: Mapped[Number]
    ahead: Mapped[Number]
    behind: Mapped[Number]
    tied: Mapped[Number]


class CardGamesRow(Base):
    """Card statistics by number of players: :class:`arena.ladder.card_counts.Games`."""

    __tablename__ = "card_games"

    players: Mapped[SmallKey]
    games: Mapped[Number]
    seats: Mapped[Number]
    decisions: Mapped[Number]
    won: Mapped[Number]


class CardCountRow(Base):
    """Card statistics by kind of card and turn of the round: :class:`arena.ladder.card_counts.Count`.

    ``turn`` 0 is the sum of all turns. ``points`` are whole points, and ``point_parts`` is the remainder
    in units of 1 / ``POINT``, because a single column in these units would soon overflow.
    """

    __tablename__ = "card_count"
    __table_args__ = WITHOUT_ROWID

    players: Mapped[SmallKey]
    card: Mapped[SmallKey]
    turn: Mapped[SmallKey]
    seen: Mapped[Number]
    taken: Mapped[Number]
    cards: Mapped[Number]
    won_taken: Mapped[Number]
    won_passed: Mapped[Number]
    points: Mapped[Number]
    point_parts: Mapped[Number]
    taken_squares: Mapped[Number]
    passed_squares: Mapped[Number]


class GameTallyRow(Base):
    """Card counts for a game whose replay was removed; see :mod:`arena.db.card_counts`."""

    __tablename__ = "game_tally"

    game_number: Mapped[NumberKey] = mapped_column(ForeignKey("game.number"))
    tally: Mapped[Blob]


class LiveGameRow(Base):
    """The disclosed rounds of a running game, as JSON.

    Rows of attempts that are no longer running are ignored, and deleted at the next write.
    """

    __tablename__ = "live_game"

    match_id: Mapped[NameKey] = mapped_column(ForeignKey("match.id"))
    game: Mapped[SmallKey]
    attempt: Mapped[Small]
    rounds: Mapped[Small]
    disclosed: Mapped[LongText]


class WorkerRow(Base):
    """A coordinator's worker, as of its last heartbeat.

    For a worker that gets no matches, ``refused`` is the reason, and ``since`` is when it was refused.
    """

    __tablename__ = "worker"
    __table_args__ = WITHOUT_ROWID

    coordinator: Mapped[NameKey]
    name: Mapped[NameKey]
    host: Mapped[Name]
    seats: Mapped[Small]
    busy: Mapped[Small]
    doubted: Mapped[bool]
    usable: Mapped[Small | None]
    leased_until: Mapped[Real]
    lease_clock: Mapped[Name]
    refused: Mapped[Reason | None]
    since: Mapped[Moment | None]
