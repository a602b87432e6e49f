"""Puts positions to a bot in this process."""

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
    """What a bot did in a position."""

    move: Move | None  # None if it gave none
    millis: float  # on the ladder's clock
    trouble: str | None = None  # what was wrong with it, or None
    where: str = ""  # the line of the author's code that failed, or empty
    trace: str = ""  # the traceback from that code on, or empty

    def as_json(self) -> dict[str, object]:
        """Return it as data."""
        return {
            "move": None if self.move is None else move_text(self.move),
            "cards": None if self.move is None else [card.label for card in self.move.cards],
            "millis": self.millis,
            "trouble": self.trouble,
            "where": self.where or None,
        }


def solve(bot: HomeBot, views: Sequence[View]) -> Solution:
    """Ask a bot for each of a game's decisions in order, and return its answer to the last.

    If it fails before, that is returned. Raises PlayingFailed.
    """
    *_, last = answers(bot, (views,))
    return last


def answers(bot: HomeBot, games: Sequence[Sequence[View]]) -> Iterator[Solution]:
    """Ask a bot for the decisions of some games in order, and yield its answers.

    Its first failure, an error or no answer in time, is the last that is yielded. Raises PlayingFailed.
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
                    # Called at once, so it doesn't matter that the names change with the loop.
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
