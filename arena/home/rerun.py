"""Asks a bot for the decisions of recorded games."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from arena.home.bots import HomeBot
from arena.home.puzzle import Puzzle, puzzle_of
from arena.home.solving import Solution, answers
from arena.play.replay.document import PublicReplay
from arena.play.replay.verify import RecordedDecision, decisions, log_of
from arena.protocol.match import decision_of


class RecordedSeat(NamedTuple):
    """A seat of a recorded game."""

    replay: PublicReplay
    seat: int

    def decisions(self) -> tuple[RecordedDecision, ...]:
        """Return the decisions of the seat. Raises InvalidReplay."""
        return tuple([each for each in decisions(self.replay) if each.view.seat == self.seat])


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A recorded decision, and a bot's answer to it."""

    recorded: RecordedSeat
    decision: RecordedDecision
    answer: Solution

    @property
    def differs(self) -> bool:
        """True if the bot didn't play the recorded move."""
        return self.answer.move != self.decision.move

    def puzzle(self) -> Puzzle:
        """Return the position."""
        replay, before = self.recorded.replay, log_of(self.recorded.replay).moves[: self.decision.step]
        steps = [[None if move is None else decision_of(move) for move in moves] for moves in before]
        return puzzle_of(self.decision.view, replay.seed, steps)


def rerun(bot: HomeBot, seats: Sequence[RecordedSeat], hear: Callable[[Answered], object]) -> str:
    """Ask a bot for every decision of some seats, game by game; the games continue as recorded.

    The bot's first failure, an error or no answer in time, stops this; an illegal move doesn't. Return the
    stderr of a program that failed, or an empty text.

    Raises InvalidReplay before the first request, PlayingFailed if the bot can't be run, or OSError.
    """
    asked = [(seat, decision) for seat in seats for decision in seat.decisions()]
    places = iter(asked)

    def answered(answer: Solution) -> None:
        seat, decision = next(places)
        hear(Answered(recorded=seat, decision=decision, answer=answer))

    if bot.in_process:
        for answer in answers(bot, [[each.view for each in seat.decisions()] for seat in seats]):
            answered(answer)
        return ""
    from arena.home.interview import GameToAsk, interview  # noqa: PLC0415 - slow to import

    games = [
        GameToAsk(seat.replay.variant, seat.replay.seed, seat.seat, log_of(seat.replay).moves)
        for seat in seats
    ]
    done = interview(
        bot,
        games,
        lambda reply: answered(Solution(move=reply.move, millis=reply.millis, trouble=reply.trouble)),
    )
    return "" if done.lost is None else done.stderr
