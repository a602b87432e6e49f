"""Asks bots for moves: in given positions, in recorded games, and in the games of ``arena simulate``."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from arena.local.bots import LocalBot
from arena.local.games import Mistake, locate
from arena.local.puzzle import Puzzle, move_text, puzzle_of
from arena.local.timing import DecisionTimer, TimeLimitExceeded
from arena.local.workers import load_local_bot
from arena.play.referee.clock import SeatClock
from arena.play.replay.document import PublicReplay
from arena.play.replay.verify import RecordedDecision, decisions, log_of
from arena.play.simulate import SimulatedBotFailed, SimulatedPlayer
from arena.protocol.faults import Fault
from arena.protocol.match import Clock, decision_of
from arena.rules import IllegalMove, Move, View, check_move, seats_to_move, view
from arena.sdk.bot import Choice, Chooser, as_move, new_chooser


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """A bot's answer in a position."""

    move: Move | None  # None if there was no answer
    millis: float  # on the ladder's clock
    trouble: str | None = None  # description of the error, if any
    where: str = ""  # the line of the author's code that failed, or empty
    trace: str = ""  # a traceback that starts in that code, a program's stderr, or empty

    def as_json(self) -> dict[str, object]:
        """Return the answer as JSON data."""
        return {
            "move": None if self.move is None else move_text(self.move),
            "cards": None if self.move is None else [card.label for card in self.move.cards],
            "millis": self.millis,
            "trouble": self.trouble,
            "where": self.where or None,
        }


def answers(bot: LocalBot, games: Sequence[Sequence[View]]) -> Iterator[Solution]:
    """Ask a bot for its decisions in these games, in order, and yield its answers.

    Stops at the bot's first failure, which is an error or an exceeded time limit. Raises PlayingFailed.
    """
    timer = DecisionTimer()
    left = SeatClock.of(Clock())
    with timer.running(sys.__stderr__ or sys.stderr):
        loaded = load_local_bot(bot, timer)
        try:
            for views in games:
                left = SeatClock.of(Clock())
                chooser = timer.call(left.allowance, lambda: new_chooser(loaded.bot))
                for seen in views:
                    move = timer.call(left.allowance, lambda: as_move(chooser.choose(seen), seen))  # noqa: B023 - called immediately
                    left = left.spend(timer.seconds)
                    yield Solution(move=move, millis=timer.seconds * 1000, trouble=refusal(seen, move))
        except TimeLimitExceeded as error:
            where, trace = locate(error, loaded.folder)
            late = f"no answer within {left.allowance:.1f} s"
            yield Solution(move=None, millis=timer.seconds * 1000, trouble=late, where=where, trace=trace)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the author's code raises
            where, trace = locate(error, loaded.folder)
            what = f"{type(error).__name__}: {error}".removesuffix(": ")
            yield Solution(move=None, millis=timer.seconds * 1000, trouble=what, where=where, trace=trace)


def refusal(seen: View, move: Move) -> str | None:
    """Return why the rules forbid a move, or None if they allow it."""
    try:
        check_move(seen.seat, seen.hand, seen.table, move, control=seen.control)
    except IllegalMove as error:
        return f"illegal: {error}"
    return None


class RecordedSeat(NamedTuple):
    """A seat in a recorded game."""

    replay: PublicReplay
    seat: int

    def decisions(self) -> tuple[RecordedDecision, ...]:
        """Return the seat's decisions. Raises InvalidReplay."""
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
        """Return the position in which the decision was made."""
        replay, before = self.recorded.replay, log_of(self.recorded.replay).moves[: self.decision.step]
        steps = [[None if move is None else decision_of(move) for move in moves] for moves in before]
        return puzzle_of(self.decision.view, replay.seed, steps)


def rerun(bot: LocalBot, seats: Sequence[RecordedSeat], on_answer: Callable[[Answered], object]) -> str:
    """Ask a bot for every decision that these seats made, game by game.

    The games continue as recorded, whatever the bot answers. Stops at the bot's first failure: an error, or
    no answer in time. An illegal move is not a failure. Returns the stderr of a program that failed, or an
    empty string.

    Raises InvalidReplay before the first request, PlayingFailed if the bot can't be run, or OSError.
    """
    decisions = [(seat, decision) for seat in seats for decision in seat.decisions()]
    places = iter(decisions)

    def answered(answer: Solution) -> None:
        seat, decision = next(places)
        on_answer(Answered(recorded=seat, decision=decision, answer=answer))

    if bot.in_process:
        for answer in answers(bot, [[each.view for each in seat.decisions()] for seat in seats]):
            answered(answer)
        return ""
    from arena.local.ask_program import GameToAsk, ask_program  # noqa: PLC0415 - slow to import

    games = [
        GameToAsk(seat.replay.rules.as_rules, seat.replay.seed, seat.seat, log_of(seat.replay).moves)
        for seat in seats
    ]
    done = ask_program(
        bot,
        games,
        lambda reply: answered(Solution(move=reply.move, millis=reply.millis, trouble=reply.trouble)),
    )
    return "" if done.lost is None else done.stderr


class DecisionTimeout(Exception):
    """A bot exceeded the ladder's move time and bank. The cause's traceback shows where."""


def simulated_player(bot: LocalBot, timer: DecisionTimer) -> SimulatedPlayer:
    """Load a bot for one seat. Decisions that exceed its move time and bank raise :class:`DecisionTimeout`.

    Raises BotUnloadable if it can't be loaded.
    """
    loaded = load_local_bot(bot, timer)

    def factory() -> Chooser:
        left = SeatClock.of(Clock())
        try:
            choose = timer.call(left.allowance, lambda: new_chooser(loaded.bot)).choose
        except TimeLimitExceeded as error:
            raise DecisionTimeout(f"the bot did not begin the game within {left.allowance:.0f} s") from error

        def in_time(seen: View) -> Choice:
            nonlocal left
            try:
                choice = timer.call(left.allowance, lambda: choose(seen))
            except TimeLimitExceeded as error:
                raise DecisionTimeout(f"no answer within {left.allowance:.1f} s") from error
            left = left.spend(timer.seconds)
            return choice

        return Chooser(in_time)

    return SimulatedPlayer(seat=loaded.seat, factory=factory)


def simulated_mistake(failed: SimulatedBotFailed, game: int, bot: LocalBot) -> Mistake:
    """Return a bot's mistake, for its author. ``bot`` is the bot in ``failed.seat``."""
    error = failed.__cause__ or failed
    if isinstance(error, DecisionTimeout):
        fault, what, error = Fault.TIMEOUT, str(error), error.__cause__ or error
    elif isinstance(error, IllegalMove):
        fault, what = Fault.ILLEGAL, str(error)
    else:
        message = " ".join(str(error).split())
        fault, what = Fault.CRASH, f"{type(error).__name__}: {message}".removesuffix(": ")
    where, trace = ("", "") if bot.file is None else locate(error, bot.file.parent)
    puzzle = None
    if failed.seat in seats_to_move(failed.state):
        steps = [[None if move is None else decision_of(move) for move in moves] for moves in failed.moves]
        puzzle = puzzle_of(view(failed.state, failed.seat), failed.seed.hex(), steps)
    return Mistake(
        game=game, bot=failed.seat, fault=fault, what=what, where=where, trace=trace, puzzle=puzzle
    )
