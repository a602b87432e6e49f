"""The table of games that are being played."""

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from arena.store.columns import LongText, NameKey, Small, SmallKey
from arena.store.models import Base


class LiveGame(Base):
    """As much of a game as may be seen while its match is played: so many rounds, as JSON.

    The rows of an attempt that is not played any more are nobody's, and go when the next ones come.
    """

    __tablename__ = "live_game"

    match_id: Mapped[NameKey] = mapped_column(ForeignKey("match.id"))
    game: Mapped[SmallKey]
    attempt: Mapped[Small]
    rounds: Mapped[Small]
    disclosed: Mapped[LongText]
