"""Bots of ``arena simulate``: called in this process, with a time limit that stops endless loops."""

from arena.home.bots import HomeBot
from arena.home.games import Mistake, blame
from arena.home.puzzle import puzzle_of
from arena.home.timing import DecisionTimer, OutOfTime
from arena.home.workers import load_home_bot
from arena.play.botfiles import Chooser
from arena.play.simulate import SimulatedBotFailed, SimulatedPlayer
from arena.protocol.faults import Fault
from arena.protocol.match import Clock, decision_of
from arena.rules import IllegalMove, View, asked, view
from arena.sdk.bot import Choice, new_chooser


class TookTooLong(Exception):
    """A bot exceeded the ladder's free time and bank. The cause's traceback shows where."""


def simulated_player(bot: HomeBot, timer: DecisionTimer) -> SimulatedPlayer:
    """Load a bot for one seat. Decisions that exceed free time and bank raise :class:`TookTooLong`.

    Raises BotUnloadable if it can't be loaded.
    """
    loaded = load_home_bot(bot, timer)
    clock = Clock()
    allowed = (clock.move_millis + clock.bank_millis) / 1000

    def factory() -> Chooser:
        try:
            choose = timer.call(allowed, lambda: new_chooser(loaded.bot)).choose
        except OutOfTime as error:
            raise TookTooLong(f"the game had not begun after {allowed:.0f} s") from error

        def in_time(seen: View) -> Choice:
            try:
                return timer.call(allowed, lambda: choose(seen))
            except OutOfTime as error:
                raise TookTooLong(f"no answer in {allowed:.0f} s") from error

        return in_time

    return SimulatedPlayer(seat=loaded.seat, factory=factory)


def simulated_mistake(failed: SimulatedBotFailed, game: int, bot: HomeBot) -> Mistake:
    """Return a bot's mistake, for its author. ``bot`` is the number of the bot on ``failed.seat``."""
    error = failed.__cause__ or failed
    if isinstance(error, TookTooLong):
        fault, what, error = Fault.TIMEOUT, str(error), error.__cause__ or error
    elif isinstance(error, IllegalMove):
        fault, what = Fault.ILLEGAL, str(error)
    else:
        said = " ".join(str(error).split())
        fault, what = Fault.CRASH, f"{type(error).__name__}: {said}".removesuffix(": ")
    where, trace = ("", "") if bot.file is None else blame(error, bot.file.parent)
    puzzle = None
    if failed.seat in asked(failed.state):
        steps = [[None if move is None else decision_of(move) for move in moves] for moves in failed.moves]
        puzzle = puzzle_of(view(failed.state, failed.seat), failed.seed.hex(), steps)
    return Mistake(
        game=game, bot=failed.seat, fault=fault, what=what, where=where, trace=trace, puzzle=puzzle
    )
