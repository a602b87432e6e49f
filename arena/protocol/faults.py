"""Kinds of faults, and what follows from them: the stand-in's moves, take-overs and places.

The stand-in decides for bots that don't answer correctly. It normally makes a single decision, but after the
seat's third fault in a game, or the loss of its stream, it makes all decisions until the end of the game.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from arena.rules import Move, View


class Fault(StrEnum):
    """Reason for a stand-in's decision. After one of ``FINAL_FAULTS``, it plays the rest of the game."""

    TIMEOUT = "timeout"
    ILLEGAL = "illegal"
    PROTOCOL = "protocol"
    CRASH = "crash"
    ABSENT = "absent"
    EXPELLED = "expelled"

    @property
    def meaning(self) -> str:
        """Short description of the fault."""
        return _MEANINGS[self]


_MEANINGS: Final = {
    Fault.TIMEOUT: "no answer in time",
    Fault.ILLEGAL: "a move that the rules forbid",
    Fault.PROTOCOL: "a message that breaks the protocol",
    Fault.CRASH: "exited, or its stream ended early",
    Fault.ABSENT: "no valid Hello in time",
    Fault.EXPELLED: "disconnected by the referee for sending something that the protocol doesn't allow",
}

FINAL_FAULTS: Final = frozenset({Fault.CRASH, Fault.ABSENT, Fault.EXPELLED})
"""After one of these faults the bot is disconnected, so the stand-in plays the rest of the game."""

FAULTS_TO_TAKE_OVER: Final = 3
"""After this many faults in one game, the stand-in plays the rest of it."""


def stand_in(view: View) -> Move:
    """Return the stand-in's move: the first card of the hand in the order of the table of cards.

    The stand-in never uses chopsticks. If the seat controls the dummy, the dummy gets the next card of
    the hand. The move depends only on the view, so that a record can be checked.
    """
    if view.control:
        return Move((view.hand[0],), view.hand[1])
    return Move((view.hand[0],))


def taken_over(faults: Sequence[Sequence[str | None]], seats: int) -> tuple[int | None, ...]:
    """Return, for each seat, the index into ``faults`` at which it was taken over, or None if it wasn't.

    A seat is taken over at its first final fault, such as ``crash``, or its third fault of any kind.
    ``faults`` has one entry per turn, in order of play: for every seat, the fault's name or None.
    """
    moments: list[int | None] = [None] * seats
    counts = [0] * seats
    for moment, row in enumerate(faults):
        for seat, fault in enumerate(row):
            if fault is None or moments[seat] is not None:
                continue
            counts[seat] += 1
            if fault in FINAL_FAULTS or counts[seat] == FAULTS_TO_TAKE_OVER:
                moments[seat] = moment
    return tuple(moments)


def places_with_faults(rules_places: Sequence[int], moments: Sequence[int | None]) -> tuple[int, ...]:
    """Return the final places: taken-over seats rank below all others.

    Taken-over seats rank by the time of the take-over: the later, the better. Seats taken over in the same
    turn share a place. ``rules_places`` ignore take-overs; ``moments`` come from :func:`taken_over`.
    """
    ranks = [
        (0, place) if moment is None else (1, -moment)
        for place, moment in zip(rules_places, moments, strict=True)
    ]
    return tuple(1 + sum(other < mine for other in ranks) for mine in ranks)
