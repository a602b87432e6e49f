"""Asks a bot in this process for moves in given positions."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arena.home.bots import HomeBot
from arena.home.games import blame
from arena.home.puzzle import move_text
from arena.home.timing import DecisionTimer, OutOfTime
from arena.home.workers import load_home_bot
from arena.protocol.match import Clock
from arena.rules import IllegalMove, Move, View, check_move
from arena.sdk.bot import as_move, new_chooser


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """A bot's answer in a position."""

    move: Move | None  # None without an answer
    millis: float  # on the ladder's clock
    trouble: str | None = None  # description of an error, or None
    where: str = ""  # the line of the author's code that failed, or empty
    trace: str = ""  # the traceback from that code on, or empty

    def as_json(self) -> dict[str, object]:
        """Return the answer as JSON data."""
        return {
            "move": None if self.move is None else move_text(self.move),
            "cards": None if self.move is None else [card.label for card in self.move.cards],
            "millis": self.millis,
            "trouble": self.trouble,
            "where": self.where or None,
        }


def solve(bot: HomeBot, views: Sequence[View]) -> Solution:
    """Ask a bot for each of a game's decisions in order, and return its answer to the last.

    If the bot fails earlier, return that failure. Raises PlayingFailed.
    """
    *_, last = answers(bot, (views,))
    return last


def answers(bot: HomeBot, games: Sequence[Sequence[View]]) -> Iterator[Solution]:
    """Ask a bot for the decisions of some games in order, and yield its answers.

    Stops after its first failure, which is an error or no answer in time. Raises PlayingFailed.
    """
    clock = Clock()
    allowed = (clock.move_millis + clock.bank_millis) / 1000
    timer = DecisionTimer()
    with timer.running(sys.__stderr__ or sys.stderr):
        loaded = load_home_bot(bot, timer)
        try:
            for views in games:
                chooser = timer.call(allowed, lambda: new_chooser(loaded.bot))
                for seen in views:
                    # Called immediately, so the loop's variables haven't changed.
                    move = timer.call(allowed, lambda: as_move(chooser.choose(seen), seen))  # noqa: B023
                    yield Solution(move=move, millis=timer.seconds * 1000, trouble=_refusal(seen, move))
        except OutOfTime as error:
            where, trace = blame(error, loaded.folder)
            late = f"no answer in {allowed:.1f} s"
            yield Solution(move=None, millis=timer.seconds * 1000, trouble=late, where=where, trace=trace)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the author's code raises
            where, trace = blame(error, loaded.folder)
            what = f"{type(error).__name__}: {error}".removesuffix(": ")
            yield Solution(move=None, millis=timer.seconds * 1000, trouble=what, where=where, trace=trace)


def _refusal(seen: View, move: Move | None) -> str | None:
    if move is None:
        return "no move"
    try:
        check_move(seen.seat, seen.hand, seen.table, move, control=seen.control)
    except IllegalMove as error:
        return f"illegal: {error}"
    return None
