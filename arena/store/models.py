"""The tables.

    bot_version ─< match_seat >─ match >─ match_set ── challenge
        │                          │
        ├─< game_seat >──────────  game ── rating_event ─< rating_change
        └─< rating               highlight ─┘  ladder (one row: settings, the last numbers)

``host_report`` stands alone. Bots, people, submissions, statistics of cards and histories of bots have tables
of their own (:mod:`arena.store.bot_models`, :mod:`arena.store.people_models`,
:mod:`arena.store.submission_models`, :mod:`arena.store.card_models`, :mod:`arena.store.history_models`), and
so have workers (:mod:`arena.store.worker_models`).
``rating_event`` is the ladder's append-only log; ``rating_change`` says what each event did, and ``rating``
is where the fold of the log stands. Whoever numbers a game or an event holds the lock on the row of
``ladder``.
"""

from enum import StrEnum

from sqlalchemy import CheckConstraint, ForeignKey, Index, MetaData, UniqueConstraint, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from arena.store.columns import (
    Blob,
    LongText,
    Moment,
    Name,
    NameKey,
    Number,
    NumberKey,
    Numbers,
    Real,
    Reason,
    Serial,
    Small,
    SmallKey,
    Texts,
)

LEAN = {"sqlite_with_rowid": False}
"""For tables whose key is several columns: kept in the order of the key, without a second index."""


OPEN = "state IN ('waiting', 'running')"
FAULTY = "faults > 0 OR taken_over"
QUARANTINED = "state = 'quarantined'"
LOGS = "logs"
REPLAYS = "replays AND kind = 'rated'"


class MatchState(StrEnum):
    """How far a match is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    QUARANTINED = "quarantined"
    """Voided too often; not played again by itself."""


class MatchKind(StrEnum):
    """What a match is for."""

    RATED = "rated"
    QUALIFICATION = "qualification"
    """A submission plays it before it may be rated. Its games are kept and never counted."""
    CHALLENGE = "challenge"
    """Somebody asked for it. Its games are kept and never counted."""


class EventKind(StrEnum):
    """What the log of a ladder holds."""

    START = "start"
    GAME = "game"


class Base(DeclarativeBase):
    """All tables."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class Ladder(Base):
    """One row: what is played, the last numbers given out, and the lock on giving the next.

    ``revision`` rises with everything that changes what a leaderboard shows.

    ``players`` are the numbers of players of its tables, ``deals`` how many deals a set has. While it is
    ``paused`` no sets are drawn. The statistics of cards hold the games from ``cards_from`` on.
    """

    __tablename__ = "ladder"
    __table_args__ = (CheckConstraint("id = 1", name="one_row"),)

    id: Mapped[SmallKey]
    events: Mapped[Number]
    games: Mapped[Number]
    revision: Mapped[Number] = mapped_column(default=0)
    paused: Mapped[bool] = mapped_column(default=False)
    players: Mapped[Numbers]
    deals: Mapped[Small]
    cards_from: Mapped[Number] = mapped_column(default=1)


class HostReport(Base):
    """What a host can hold, as JSON; ``accepted`` are the controls whose absence its operator accepted."""

    __tablename__ = "host_report"

    host: Mapped[NameKey]
    checked: Mapped[Moment]
    accepted: Mapped[Texts]
    report: Mapped[Blob]


class MatchSet(Base):
    """The same deals, with the bots moved one seat on in each match."""

    __tablename__ = "match_set"

    number: Mapped[Serial]
    id: Mapped[Name] = mapped_column(unique=True)
    players: Mapped[Small]
    pass_both_ways: Mapped[bool]
    soy_sauce: Mapped[bool]
    dummy: Mapped[bool]
    deals: Mapped[Small]
    seeds: Mapped[Texts]
    created: Mapped[Moment]


class Match(Base):
    """One seating. ``attempt`` counts claims and fences late results off, ``voids`` faults of the arena.

    Of those that wait, the ones with the lowest ``precedence`` come first. Of one that runs, ``coordinator``
    says who has claimed it, ``worker`` who plays it, and ``leased_until`` by ``lease_clock`` for how long
    without a sign of life. ``losses`` counts the times that whoever had it was lost.
    ``logs`` and ``replays`` say whether these are still kept (:mod:`arena.store.retention`).
    """

    __tablename__ = "match"
    __table_args__ = (
        UniqueConstraint("set_number", "position"),
        CheckConstraint("state IN ('waiting', 'running', 'done', 'quarantined')", name="state"),
        CheckConstraint("kind IN ('rated', 'qualification', 'challenge')", name="kind"),
        # Only what is open: the queue costs the same after ten matches and after ten million.
        Index(
            "ix_match_open",
            "state",
            "precedence",
            "set_number",
            "position",
            sqlite_where=text(OPEN),
            postgresql_where=text(OPEN),
        ),
        Index(
            "ix_match_quarantined",
            "ended",
            sqlite_where=text(QUARANTINED),
            postgresql_where=text(QUARANTINED),
        ),
        Index("ix_match_logs", "ended", sqlite_where=text(LOGS), postgresql_where=text(LOGS)),
        Index("ix_match_replays", "ended", sqlite_where=text(REPLAYS), postgresql_where=text(REPLAYS)),
    )

    id: Mapped[NameKey]
    set_number: Mapped[Number] = mapped_column(ForeignKey("match_set.number"))
    position: Mapped[Small]
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


class MatchSeat(Base):
    """Who sits where: a version, or a submission that is none yet. Report and stderr come at the end.

    ``report`` is the JSON of a SeatReport without its ``stderr``, which is private to the owner.
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


class Game(Base):
    """A rated game; ``number`` is its place in the order of rating, without gaps.

    ``replay`` and ``record`` are empty when its match has its replays no more.
    """

    __tablename__ = "game"
    __table_args__ = (UniqueConstraint("match_id", "position"), Index("ix_game_ended", "ended", "number"))

    number: Mapped[NumberKey]
    id: Mapped[Name] = mapped_column(unique=True)
    match_id: Mapped[Name] = mapped_column(ForeignKey("match.id"))
    position: Mapped[Small]
    players: Mapped[Small]
    ended: Mapped[Moment]
    # Last, so that lists never read the pages that these two fill.
    replay: Mapped[LongText]
    record: Mapped[Blob]


class GameSeat(Base):
    """What one seat made of a game. ``median_micros`` is of its decisions, none where it gave no answer."""

    __tablename__ = "game_seat"
    __table_args__ = (
        UniqueConstraint("version_id", "game_number"),
        # So that a fault years ago is found as fast as the last one.
        Index(
            "ix_game_seat_faulty",
            "version_id",
            "game_number",
            sqlite_where=text(FAULTY),
            postgresql_where=text(FAULTY),
        ),
        LEAN,
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


class RatingEvent(Base):
    """A line of the ladder's log: a version that starts (perhaps from ``previous_id``), or a game."""

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


class RatingChange(Base):
    """What an event did to a version in one list; ``players`` 0 is the overall one. A start has no before."""

    __tablename__ = "rating_change"
    __table_args__ = LEAN

    event_number: Mapped[NumberKey] = mapped_column(ForeignKey("rating_event.number"))
    players: Mapped[SmallKey]
    version_id: Mapped[NumberKey] = mapped_column(ForeignKey("bot_version.id"))
    mean_before: Mapped[Real | None]
    deviation_before: Mapped[Real | None]
    mean_after: Mapped[Real]
    deviation_after: Mapped[Real]


class Rating(Base):
    """Where the fold of the log stands, for one version in one list, with the sums of the leaderboard.

    ``times`` and ``closings`` are those of :class:`arena.rating.Entry`, as JSON.
    """

    __tablename__ = "rating"
    __table_args__ = LEAN

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


class Highlight(Base):
    """One of the most remarkable games of a day; see :mod:`arena.highlights`. It follows from the log."""

    __tablename__ = "highlight"
    __table_args__ = LEAN

    day: Mapped[NumberKey]
    kind: Mapped[NameKey]
    game_number: Mapped[NumberKey] = mapped_column(ForeignKey("game.number"))
    seat: Mapped[Small]
    other: Mapped[Small | None]
    value: Mapped[Real]


class Challenge(Base):
    """Matches that somebody asked for with a bot of theirs, and nobody's rating knows of."""

    __tablename__ = "challenge"
    __table_args__ = (Index("ix_challenge_account_id_created", "account_id", "created"),)

    number: Mapped[Serial]
    id: Mapped[Name] = mapped_column(unique=True)
    account_id: Mapped[Number] = mapped_column(ForeignKey("account.id"))
    version_id: Mapped[Number] = mapped_column(ForeignKey("bot_version.id"))
    set_number: Mapped[Number] = mapped_column(ForeignKey("match_set.number"), unique=True)
    created: Mapped[Moment]
