"""A qualification game in figures, for the bot's owner. Pure."""

from dataclasses import dataclass
from statistics import median

from arena.match import Fault
from arena.recorded import played_again
from arena.referee.places import places_with_faults, taken_over
from arena.submitting.qualification import Played


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """How a bot did in a game.

    Attributes:
        place: From 1; bots that were taken over come last.
        decisions: That were asked of it, while it had not been taken over.
        median_millis: From request to answer; None where no answer came in time.
        slowest_millis: The same of the slowest answer.
        late: Decisions that came too late.
        notes: Decisions that came with a note.
        stderr_bytes: Of what is kept of what it printed there.
    """

    place: int
    decisions: int
    median_millis: float | None
    slowest_millis: float | None
    late: int
    notes: int
    stderr_bytes: int


def figures(played: Played) -> Figures:
    """Return the figures of a game that was played to its end."""
    decisions = [decision for step in played.game.steps if (decision := step[played.seat]) is not None]
    millis = [decision.millis for decision in decisions if decision.millis is not None]
    return Figures(
        place=_place(played),
        decisions=sum(decision.fault is not None or not decision.standin for decision in decisions),
        median_millis=median(millis) if millis else None,
        slowest_millis=max(millis, default=None),
        late=sum(decision.fault is Fault.TIMEOUT for decision in decisions),
        notes=sum(decision.note is not None for decision in decisions),
        stderr_bytes=len(played.report.stderr.encode()),
    )


def _place(played: Played) -> int:
    faults = [[decision.fault if decision else None for decision in step] for step in played.game.steps]
    result = played_again(played.rules, played.game).state.result
    if result is None:
        raise ValueError("the record of the game ends before the game")
    return places_with_faults(result.places, taken_over(faults, played.rules.players))[played.seat]
