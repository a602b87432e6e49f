"""The decisions of a recorded game: requests and moves."""

from typing import NamedTuple

from arena.play.replay.document import PublicReplay, is_automatic
from arena.play.replay.verify import course, moves_of
from arena.protocol.faults import Fault
from arena.rules import GameLog, Move, View, asked, replay, view


class RecordedDecision(NamedTuple):
    """A request to one seat, and its move."""

    step: int  # joint decisions before it, so an index into ``log_of(replay).moves``
    # As the bot got it; ``view.legal_moves()`` are the choices.
    view: View
    move: Move
    standin: bool  # whether the stand-in chose instead of the bot
    fault: Fault | None  # the fault of this decision, if any
    millis: float | None  # None if nothing was measured, or no answer came


def log_of(recorded: PublicReplay) -> GameLog:
    """Return the deck and the joint moves of a recorded game, automatic turns excluded.

    Raises InvalidReplay if it breaks the rules; the text is the first difference.
    """
    steps = [step for step in course(recorded) if not is_automatic(recorded.variant, step.noted.turn)]
    moves = tuple([tuple(moves_of(step.noted, step.moment.state)) for step in steps])
    return GameLog(recorded.variant, steps[0].moment.state.deck, moves)


def decisions(recorded: PublicReplay) -> tuple[RecordedDecision, ...]:
    """Return every decision of a recorded game: turn by turn, and in a turn seat by seat.

    Raises InvalidReplay if it breaks the rules; the text is the first difference.
    """
    log = log_of(recorded)
    turns = [turn for turn in recorded.turns if not is_automatic(log.rules, turn.turn)]
    found = []
    for step, (state, moves, turn) in enumerate(zip(replay(log).states, log.moves, turns, strict=False)):
        for seat in asked(state):
            move = moves[seat]
            assert move is not None  # noqa: S101 - the log was just played
            millis = None if turn.millis is None else turn.millis[seat]
            found.append(
                RecordedDecision(step, view(state, seat), move, turn.standin[seat], turn.fault[seat], millis)
            )
    return tuple(found)
