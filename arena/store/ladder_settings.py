"""What the ladder plays: settings that its operator may change while it runs."""

from dataclasses import asdict, dataclass, replace

from sqlalchemy import Connection, select, update

from arena.matchmaking import PLAYER_COUNTS
from arena.store import ladder
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


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderChange:
    """What is to be different; None where it stays. See :class:`LadderSettings`."""

    paused: bool | None = None
    players: tuple[int, ...] | None = None
    deals: int | None = None


def find(connection: Connection) -> LadderSettings:
    """Return what the ladder plays."""
    row = connection.execute(select(Ladder.paused, Ladder.players, Ladder.deals)).one()
    return LadderSettings(paused=row.paused, players=tuple(row.players), deals=row.deals)


def change(connection: Connection, wanted: LadderChange) -> bool:
    """Change what the ladder plays from the next set on; False where it plays that already.

    Raises:
        ValueError: The ladder can't play that.
    """
    ladder.lock(connection)
    before = find(connection)
    after = replace(before, **{name: value for name, value in asdict(wanted).items() if value is not None})
    connection.execute(
        update(Ladder).values(paused=after.paused, players=list(after.players), deals=after.deals)
    )
    return after != before
