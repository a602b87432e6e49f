"""Challenges, as the API returns them and commands print them."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from arena.protocol.games import SeatResult


class ChallengeState(StrEnum):
    """State of a challenge."""

    WAITING = "waiting"
    """None of its matches has begun."""
    RUNNING = "running"
    DONE = "done"
    """All its matches have been played."""
    FAILED = "failed"
    """It ended before all its matches were played."""

    @property
    def over(self) -> bool:
        """True if this state is final."""
        return self in {ChallengeState.DONE, ChallengeState.FAILED}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedGame:
    """A game in a challenge.

    Attributes:
        game: Id of the game.
        ended: When the game ended.
        seats: Results, in seat order.
    """

    game: str
    ended: datetime
    seats: tuple[SeatResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """An entrant's results over all games of a challenge.

    Attributes:
        bot: The bot's name.
        version: Version number, from 1.
        games: Number of games played.
        wins: Games in which it was first or tied for first.
        mean_place: Mean place (1 is best); null if no games were played.
        points: Mean final points; null if no games were played.
    """

    bot: str
    version: int
    games: int
    wins: int
    mean_place: float | None
    points: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengeSummary:
    """A challenge and its results.

    Attributes:
        id: The challenge's id.
        bot: Name of the challenging bot.
        version: Version number of the challenging bot.
        created: When it was requested.
        deals: Number of deals. Each is played once per seat, so that every entrant plays from every seat.
        state: The challenge's state.
        entrants: Entrants, starting with the challenger.
        games: Games played, in order; empty until all matches are over.
    """

    id: str
    bot: str
    version: int
    created: datetime
    deals: int
    state: ChallengeState
    entrants: tuple[Entrant, ...]
    games: tuple[PlayedGame, ...]
