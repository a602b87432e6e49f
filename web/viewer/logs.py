"""The private part of a game's page: what bots printed and noted, for their owners."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from arena.db.game_logs import GameLogs, SeatLog, StoredGameLog
from arena.protocol.games import SeatDecision
from arena.protocol.match import played_again
from web.http.rendering import Viewer, visible

_LONG_DELAY_MILLIS: Final = 100
"""A host delay that is at least this long is shown even if it had no effect."""


def decisions(log: StoredGameLog, seat: int) -> tuple[SeatDecision, ...]:
    """Return a seat's decisions with a note, a fault, trouble or a long host delay, in order."""
    states = played_again(log.rules, log.record).states
    return tuple(
        SeatDecision(
            round=before.round,
            turn=before.turn,
            note=decision.note,
            fault=decision.fault,
            trouble=decision.trouble,
            millis=decision.millis,
            waited_millis=decision.waited_millis,
        )
        for before, step in zip(states, log.record.steps, strict=False)
        if (decision := step[seat]) is not None
        and (
            decision.note is not None
            or decision.fault is not None
            or decision.trouble is not None
            or _long_delay(decision.waited_millis) is not None
        )
    )


def _long_delay(waited_millis: float | None) -> float | None:
    """Return the host delay, or None if it is too short to show."""
    return waited_millis if waited_millis is not None and waited_millis >= _LONG_DELAY_MILLIS else None


_MAX_LETTERS: Final = 150
_MAX_BREAKS: Final = 2
"""Length of a note that fits without scrolling, even on a phone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatNote:
    """A seat's decision with a note, trouble or a long host delay."""

    seat: SeatLog
    decision: SeatDecision

    @property
    def is_long(self) -> bool:
        """True if the text may be too long to show without scrolling."""
        text = visible(f"{self.decision.trouble or ''} {self.decision.note or ''}")
        return len(text) > _MAX_LETTERS or text.count("\n") > _MAX_BREAKS

    @property
    def host_delay(self) -> float | None:
        """Milliseconds that the decision's time excludes; None if it is too short to show."""
        return _long_delay(self.decision.waited_millis)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateLog:
    """The private part of a game that a viewer may see."""

    seats: Sequence[SeatLog]  # the viewer's own, in seat order; all for operators
    # Keyed by the turn's anchor, as in :mod:`web.games.pages`.
    notes: Mapping[str, Sequence[SeatNote]]
    own: bool  # whether all of these seats belong to the viewer
    gone: bool = False  # whether their logs were deleted


_NOTHING: Final = PrivateLog(seats=(), notes={}, own=False)
_GONE: Final = PrivateLog(seats=(), notes={}, own=False, gone=True)


def read_private_log(logs: GameLogs, game: str, viewer: Viewer) -> PrivateLog:
    """Read the private part of a game that a viewer may see. For anonymous viewers, the store isn't read."""
    if viewer.account is None:
        return _NOTHING
    log = logs.find(game)
    seats = () if log is None else tuple(seat for seat in log.seats if viewer.may_see(seat.account))
    if log is None or not seats:
        return _NOTHING
    if not log.kept:
        return _GONE
    return PrivateLog(
        seats=seats, notes=_notes_by_turn(log, seats), own=all(viewer.owns(seat.account) for seat in seats)
    )


def _notes_by_turn(log: StoredGameLog, seats: Sequence[SeatLog]) -> Mapping[str, Sequence[SeatNote]]:
    notes = defaultdict(list)
    for seat in seats:
        for decision in decisions(log, seat.seat):
            note = SeatNote(seat=seat, decision=decision)
            if decision.note is not None or decision.trouble is not None or note.host_delay is not None:
                notes[f"r{decision.round}t{decision.turn}"].append(note)
    return dict(notes)
