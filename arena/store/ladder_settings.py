"""What the ladder plays: settings that its operator may change while it runs."""

from dataclasses import dataclass

from sqlalchemy import Connection, select, update

from arena.matchmaking import PLAYER_COUNTS
from arena.store.models import Ladder


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderSettings:
    """What the ladder plays.

    Attributes:
        paused: Whether no more sets are drawn. What waits is played, and submissions qualify.
        players: Numbers of players of its tables, rising.
        deals: Deals of a set; one where somebody in it has no rated game yet.

    Raises:
        ValueError: No table, one that there can't be, or a number of deals that is not 1 to 24.
    """

    paused: bool
    players: tuple[int, ...]
    deals: int

    def __post_init__(self) -> None:
        if not self.players or list(self.players) != sorted(set(self.players) & set(PLAYER_COUNTS)):
            raise ValueError(
                f"a ladder's tables have 2, 3, 4 or 5 players, each named once, not {self.players}"
            )
        if not 1 <= self.deals <= _MOST_DEALS:
            raise ValueError(f"a set has 1 to {_MOST_DEALS} deals, not {self.deals}")


_MOST_DEALS = 24


def find(connection: Connection) -> LadderSettings:
    """Return what the ladder plays."""
    row = connection.execute(select(Ladder.paused, Ladder.players, Ladder.deals)).one()
    return LadderSettings(paused=row.paused, players=tuple(row.players), deals=row.deals)


def put(connection: Connection, settings: LadderSettings) -> None:
    """Change what the ladder plays from the next set on."""
    connection.execute(
        update(Ladder).values(paused=settings.paused, players=list(settings.players), deals=settings.deals)
    )
