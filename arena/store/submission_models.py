"""The tables of submissions, and of games that are not rated.

account ─< submission >─ bot_version (the one it became)
└─< match_seat >─ match ─< unrated_game
"""

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from arena.store.columns import Blob, LongText, Moment, Name, NameKey, Number, Reason, Serial, Small
from arena.store.models import Base

ON_ITS_WAY = "stage IN ('received', 'inspected', 'qualifying')"


class Submission(Base):
    """A file that somebody sent; ``number`` is its place in the queue.

    ``source`` is the id of the image that was made of it. ``waiting`` says what the arena itself lacks to go
    on. ``cause`` is JSON. Each stage has its time; ``ended`` is that of the last one.
    """

    __tablename__ = "submission"
    __table_args__ = (
        CheckConstraint(
            "stage IN ('received', 'inspected', 'qualifying', 'active', 'rejected')", name="stage"
        ),
        CheckConstraint("kind IN ('image', 'python', 'javascript')", name="kind"),
        Index(
            "ix_submission_open",
            "number",
            sqlite_where=text(ON_ITS_WAY),
            postgresql_where=text(ON_ITS_WAY),
        ),
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


class UnratedGame(Base):
    """A game that no rating knows of. Who sat where is in its replay and with its match."""

    __tablename__ = "unrated_game"
    __table_args__ = (UniqueConstraint("match_id", "position"),)

    id: Mapped[NameKey]
    match_id: Mapped[Name] = mapped_column(ForeignKey("match.id"))
    position: Mapped[Small]
    ended: Mapped[Moment]
    replay: Mapped[LongText]
    record: Mapped[Blob]
