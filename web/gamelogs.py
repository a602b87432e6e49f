"""What is private in the page of a game: what bots printed and noted, for those whose bots they are."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from arena.gamelog import decisions
from arena.store import GameLog, Reads, SeatLog
from web.privacy import Viewer
from web.text import visible

_MOST_LETTERS: Final = 150
_MOST_BREAKS: Final = 2
"""What is seen of a note at once, on a phone too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What is known of one decision, beside what was played.

    Attributes:
        seat: Whose it was.
        note: The bot's own words, or None.
        trouble: What was wrong, in words, or None.
    """

    seat: SeatLog
    note: str | None
    trouble: str | None

    @property
    def is_long(self) -> bool:
        """Whether there may be more of it than is seen at once, so that it has to be scrolled."""
        text = visible(f"{self.trouble or ''} {self.note or ''}")
        return len(text) > _MOST_LETTERS or text.count("\n") > _MOST_BREAKS


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateLog:
    """What somebody may see of a game that is not for everybody.

    Attributes:
        seats: Theirs, in seat order; all for an operator, none for everybody else.
        said: What was noted and what was wrong at a turn, by the turn's anchor as in :mod:`web.replay`.
        own: Whether all of these seats are who looks' own.
        gone: Whether there was something for them that is no longer kept.
    """

    seats: Sequence[SeatLog]
    said: Mapping[str, Sequence[Said]]
    own: bool
    gone: bool = False


_NOTHING: Final = PrivateLog(seats=(), said={}, own=False)
_GONE: Final = PrivateLog(seats=(), said={}, own=False, gone=True)


def read_private_log(reads: Reads, game: str, viewer: Viewer) -> PrivateLog:
    """Read what somebody may see of a game beside what everybody sees. For nobody's eyes nothing is read."""
    if viewer.account is None:
        return _NOTHING
    log = reads.game_log(game)
    seats = () if log is None else tuple(seat for seat in log.seats if viewer.may_see(seat.account))
    if log is None or not seats:
        return _NOTHING
    if not log.kept:
        return _GONE
    return PrivateLog(
        seats=seats, said=_said(log, seats), own=all(viewer.owns(seat.account) for seat in seats)
    )


def _said(log: GameLog, seats: Sequence[SeatLog]) -> Mapping[str, Sequence[Said]]:
    said = defaultdict(list)
    for seat in seats:
        for decision in decisions(log, seat.seat):
            if decision.note is not None or decision.trouble is not None:
                anchor = f"r{decision.round}t{decision.turn}"
                said[anchor].append(Said(seat=seat, note=decision.note, trouble=decision.trouble))
    return dict(said)
