"""Who finished ahead of whom, kept with the log it follows from."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations

from sqlalchemy import Connection, select

from arena.rating import Event, GamePlayed
from arena.store.bot_models import BotVersion
from arena.store.history_models import Meeting
from arena.store.rows import Row, add, replace

_COUNTS = ("games", "ahead", "behind", "tied")


class Meetings:
    """Goes along with a fold of the log and counts who met whom, by bot.

    Args:
        bots: The bot of each version that comes up.
    """

    def __init__(self, bots: Mapping[int, int]) -> None:
        self._bots = bots
        self._pairs: dict[tuple[int, int], list[int]] = {}

    def note(self, event: Event) -> None:
        """Look at an event that counts. Two versions of one bot are no opponents of each other."""
        if not isinstance(event, GamePlayed):
            return
        seats = zip([self._bots[version] for version in event.versions], event.places, strict=True)
        for (bot, place), (other, theirs) in permutations(seats, 2):
            if bot != other:
                counts = self._pairs.setdefault((bot, other), [0] * len(_COUNTS))
                counts[0] += 1
                counts[1] += place < theirs
                counts[2] += place > theirs
                counts[3] += place == theirs

    def add(self, connection: Connection) -> None:
        """Add what was counted to what is kept."""
        # In one order, whatever the seats: transactions that wait for each other's rows would never end.
        add(connection, Meeting, [_row(pair, counts) for pair, counts in sorted(self._pairs.items())])

    def put(self, connection: Connection) -> int:
        """Let what was counted be all that is kept, and return how many rows differed."""
        of_bot: dict[int, list[Row]] = {}
        for pair, counts in self._pairs.items():
            of_bot.setdefault(pair[0], []).append(_row(pair, counts))
        kept = connection.execute(select(Meeting.bot_id).distinct()).scalars()
        differing = 0
        for bot in sorted({*kept, *of_bot}):
            stored = connection.execute(select(Meeting.__table__).where(Meeting.bot_id == bot))
            differing += replace(connection, Meeting, [row._asdict() for row in stored], of_bot.get(bot, []))
        return differing


def bots_of(connection: Connection, versions: Iterable[int] | None = None) -> dict[int, int]:
    """Return the bots of some versions, or of all."""
    wanted = select(BotVersion.id, BotVersion.bot_id)
    if versions is not None:
        wanted = wanted.where(BotVersion.id.in_(list(versions)))
    return {row.id: row.bot_id for row in connection.execute(wanted)}


def _row(pair: tuple[int, int], counts: Sequence[int]) -> Row:
    bot, other = pair
    return {"bot_id": bot, "other_id": other, **dict(zip(_COUNTS, counts, strict=True))}
