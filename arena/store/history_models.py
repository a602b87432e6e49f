"""The tables of what a bot's page tells of the past: they follow from the log of the ladder."""

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from arena.store.columns import Moment, Number, NumberKey, Real, SmallKey
from arena.store.models import LEAN, Base


class RatingPoint(Base):
    """How a version's rating in a list stood after so many games there; see :mod:`arena.rating.curve`.

    ``ended`` is when the last of them did; none before the first.
    """

    __tablename__ = "rating_point"
    __table_args__ = LEAN

    version_id: Mapped[NumberKey] = mapped_column(ForeignKey("bot_version.id"))
    players: Mapped[SmallKey]
    games: Mapped[NumberKey]
    ended: Mapped[Moment | None]
    mean: Mapped[Real]
    deviation: Mapped[Real]


class Meeting(Base):
    """How a bot finished in all games with another one that count; each pair has a row either way round."""

    __tablename__ = "meeting"
    __table_args__ = (Index("ix_meeting_bot_id_games", "bot_id", "games"), LEAN)

    bot_id: Mapped[NumberKey] = mapped_column(ForeignKey("bot.id"))
    other_id: Mapped[NumberKey] = mapped_column(ForeignKey("bot.id"))
    games: Mapped[Number]
    ahead: Mapped[Number]
    behind: Mapped[Number]
    tied: Mapped[Number]
