"""Reads what the bench's bot says on its stderr."""

from collections.abc import Sequence
from typing import NamedTuple, Self


class Note(NamedTuple):
    """One line."""

    event: str  # `started`, `imported`, `ready`, `first`, or `played` now and then
    decisions: int  # made so far
    cpu: float  # seconds used so far
    at: float  # when; seconds of the machine's monotonic clock


class Diary(NamedTuple):
    """All lines of one bot."""

    notes: tuple[Note, ...]

    @classmethod
    def read(cls, stderr: str) -> Self:
        """Read a bot's stderr. Other lines are the SDK's own, and the last one may be cut off."""
        lines = [line.split() for line in stderr.split("\n")[:-1] if not line.startswith("kaiten: ")]
        return cls(
            tuple(Note(event, int(decisions), float(cpu), float(at)) for event, decisions, cpu, at in lines)
        )

    def time_of(self, event: str) -> float | None:
        """Return when that happened first, or None."""
        return next((note.at for note in self.notes if note.event == event), None)

    @property
    def steady(self) -> tuple[Note, Note]:
        """The first and the last line of the time in which it did nothing but play.

        Raises ValueError if it did not play for long enough.
        """
        played = [note for note in self.notes if note.event == "played"]
        if len(played) < 2:  # noqa: PLR2004 - a difference needs two
            raise ValueError("the match was too short to measure a bot")
        return played[0], played[-1]


def bot_cpu(diaries: Sequence[Diary]) -> float:
    """Return the CPU seconds a decision of these bots, their start left out."""
    spans = [diary.steady for diary in diaries]
    decisions = sum(last.decisions - first.decisions for first, last in spans)
    return sum(last.cpu - first.cpu for first, last in spans) / decisions


def decisions_a_second(diaries: Sequence[Diary]) -> float:
    """Return the decisions a second of all these bots together."""
    return sum(
        (last.decisions - first.decisions) / (last.at - first.at)
        for first, last in (diary.steady for diary in diaries)
    )
