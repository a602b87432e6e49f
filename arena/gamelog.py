"""What a bot noted and what went wrong in a game, decision by decision. Pure."""

from dataclasses import dataclass

from arena.match import Fault
from arena.recorded import played_again
from arena.store import GameLog


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatDecision:
    """A decision of which there is more to say than what was played.

    Attributes:
        round: From 1.
        turn: In its round, from 1.
        note: The bot's own words, or None.
        fault: Why the stand-in played, or None.
        trouble: What was wrong, in words, or None.
        millis: From request to answer; None where no answer came in time.
    """

    round: int
    turn: int
    note: str | None
    fault: Fault | None
    trouble: str | None
    millis: float | None


def decisions(log: GameLog, seat: int) -> tuple[SeatDecision, ...]:
    """Return those decisions of a seat that have a note, a fault or a trouble, in their order."""
    states = played_again(log.rules, log.record).states
    return tuple(
        SeatDecision(
            round=before.round,
            turn=before.turn,
            note=decision.note,
            fault=decision.fault,
            trouble=decision.trouble,
            millis=decision.millis,
        )
        for before, step in zip(states, log.record.steps, strict=False)
        if (decision := step[seat]) is not None
        and (decision.note is not None or decision.fault is not None or decision.trouble is not None)
    )
