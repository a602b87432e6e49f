"""The tables of bots.

    account ─< bot ─< bot_version

``bot.playing`` is the number of the version that plays, ``bot.newest`` the highest number that was given.
"""

from enum import StrEnum
from typing import Final

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from arena.store.columns import LongText, Moment, Name, Number, Reason, Serial, Small
from arena.store.models import Base


class BotState(StrEnum):
    """Whether a bot plays."""

    ACTIVE = "active"
    BENCHED = "benched"
    """Its games kept failing. Its owner or a new version brings it back."""
    RETIRED = "retired"
    """Its owner took it off the ladder, and may bring it back."""
    DISQUALIFIED = "disqualified"
    """An operator took it off the ladder; its games don't count."""


ON_THE_BOARD: Final = (BotState.ACTIVE, BotState.BENCHED)
"""States in which a bot is on the leaderboard, and its image is kept."""


class Bot(Base):
    """A bot, and which of its versions plays.

    ``author`` is shown. ``account_id`` owns it: none where it is the house's, or was added by an operator.
    ``revision`` is that of the ladder when last something changed that a leaderboard shows of it.
    ``state`` is a :class:`BotState`, ``reason`` why, ``since`` when it last changed; none for
    one that was never anything but active. Games before ``forgiven`` don't bench it again.
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
    revision: Mapped[Number] = mapped_column(default=0, index=True)


class BotVersion(Base):
    """A version of a bot; ``source`` is the id of its image, or its folder.

    ``size`` and ``sha256`` are of the file that it came of; a bot of the house came of none. ``gone`` is when
    its image was removed to make room: then it can't play any more.
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
