"""A fold of the ladder's log, event by event: whether step by step or anew, it goes the same way."""

from dataclasses import dataclass, field

from arena.rating import Entry, Event, GamePlayed, Key, Rate, apply
from arena.store.highlights import Highlights
from arena.store.log import Logged
from arena.store.meetings import Meetings
from arena.store.points import Points
from arena.store.rows import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """What has become of the log, or of a part of it.

    Attributes:
        meetings: Who met whom.
        entries: Of versions, those at least that the events build on.
        highlights: The best of each day.
        points: Of the curves.
    """

    meetings: Meetings
    entries: dict[Key, Entry] = field(default_factory=dict)
    highlights: Highlights = field(default_factory=Highlights)
    points: Points = field(default_factory=Points)

    def note(self, logged: Logged, disqualified: frozenset[int], rate: Rate) -> list[Row]:
        """Go on with an event; of one that doesn't count nothing becomes.

        Args:
            logged: The event.
            disqualified: Versions whose games don't count.
            rate: Rates a game.

        Returns:
            What it changes, as rows of ``rating_change``.
        """
        if not _counts(logged.event, disqualified):
            return []
        self.highlights.note(logged, self.entries)
        changed = apply(self.entries, logged.event, rate)
        self.points.note(changed)
        self.meetings.note(logged.event)
        rows = [_change(logged.number, key, self.entries.get(key), entry) for key, entry in changed.items()]
        self.entries.update(changed)
        return rows


def _counts(event: Event, disqualified: frozenset[int]) -> bool:
    """Return whether an event changes ratings: not a game in which one of these versions sat."""
    return not isinstance(event, GamePlayed) or disqualified.isdisjoint(event.versions)


def _change(number: int, key: Key, before: Entry | None, after: Entry) -> Row:
    version, players = key
    return {
        "event_number": number,
        "players": players,
        "version_id": version,
        "mean_before": before.rating.mean if before else None,
        "deviation_before": before.rating.deviation if before else None,
        "mean_after": after.rating.mean,
        "deviation_after": after.rating.deviation,
    }
