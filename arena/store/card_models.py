"""The tables of the statistics of cards: sums that grow with every rated game, and stay as few rows."""

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from arena.store.columns import Blob, Number, NumberKey, SmallKey
from arena.store.models import LEAN, Base


class CardGames(Base):
    """What the statistics of cards hold of games of so many players: :class:`arena.cardstats.Games`."""

    __tablename__ = "card_games"

    players: Mapped[SmallKey]
    games: Mapped[Number]
    seats: Mapped[Number]
    decisions: Mapped[Number]
    won: Mapped[Number]


class CardCount(Base):
    """What they hold of a kind of card in a turn of the round: :class:`arena.cardstats.Count`.

    ``turn`` 0 stands for all turns together.
    """

    __tablename__ = "card_count"
    __table_args__ = LEAN

    players: Mapped[SmallKey]
    card: Mapped[SmallKey]
    turn: Mapped[SmallKey]
    seen: Mapped[Number]
    taken: Mapped[Number]
    cards: Mapped[Number]
    won_taken: Mapped[Number]
    won_passed: Mapped[Number]
    points: Mapped[Number]
    taken_squares: Mapped[Number]
    passed_squares: Mapped[Number]


class GameTally(Base):
    """What the statistics count of a game whose replay was removed; see :mod:`arena.store.card_counts`."""

    __tablename__ = "game_tally"

    game_number: Mapped[NumberKey] = mapped_column(ForeignKey("game.number"))
    tally: Mapped[Blob]
