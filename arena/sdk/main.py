"""Runs bots in a match, or in the current process to try them out."""

import faulthandler
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType
from typing import Final, NoReturn

from arena.rules import (
    Move,
    Rules,
    State,
    apply,
    new_game,
    seats_to_move,
    shuffled_deck,
    simulation_seed,
    view,
)
from arena.sdk.bot import Bot, GameOver, as_move, is_class, new_chooser

ADDRESS: Final = "ARENA_REFEREE"
"""The environment variable with the referee's address."""

_NO_ADDRESS: Final = f"""\
{ADDRESS} is not set: this bot is meant to be started by the arena, which sets it to the address of a referee.
To try the bot here, play a game in this process instead:
    from arena.sdk import play
    print(play([choose, choose]).result)
"""


_RUN_TIMEOUT_SECONDS: Final = 8.0
"""Maximum time from the start to the call to :func:`run`, a little less than the default time to Hello."""


def _show_stacks() -> None:
    """Have the stack printed after a segmentation fault, or if :func:`cancel_timer` isn't called in time.

    The verdict on a submission quotes the stack.
    """
    with suppress(AttributeError, OSError, RuntimeError, ValueError):  # no stderr, or unsupported here
        faulthandler.enable(all_threads=False)
        if signal.getsignal(signal.SIGALRM) != signal.SIG_DFL:  # the bot has its own handler
            return
        faulthandler.register(signal.SIGALRM, all_threads=False)
        signal.setitimer(signal.ITIMER_REAL, _RUN_TIMEOUT_SECONDS)


def cancel_timer() -> None:
    """Stop waiting for the bot to call :func:`run`."""
    with suppress(AttributeError):  # unsupported on this system
        signal.setitimer(signal.ITIMER_REAL, 0)


if ADDRESS in os.environ:  # only in a match
    _show_stacks()


def run(bot: Bot, games_at_once: int | None = None) -> NoReturn:
    """Play the match that the arena started this program for, and exit.

    Exit codes: 0 if the referee ended the match, 1 if the bot's own code raised an exception (the traceback
    is on stderr), 2 if no referee answered, or if the referee disconnected, refused the bot or sent something
    unknown. ``bot`` is a function ``choose(view)``, or a class with a method ``choose(self, view)`` and,
    optionally, ``game_over(self, end)``; every game gets a new instance. ``games_at_once`` limits the number
    of games in progress, by default to 32 for a function and 1 for a class. Raises TypeError if ``bot`` is
    neither a function nor such a class, or ValueError if ``games_at_once`` is below 1.
    """
    if games_at_once is None:
        games_at_once = 1 if is_class(bot) else 32
    if games_at_once < 1:
        raise ValueError(f"games_at_once is {games_at_once}; it must be 1 or more")
    is_class(bot)
    address = os.environ.get(ADDRESS)
    if not address:
        sys.stderr.write(_NO_ADDRESS)
        sys.exit(2)
    cancel_timer()
    _handle_signals()
    # gRPC's own log lines would go to the bot's stderr, which is for its author.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from arena.sdk.match import play_match  # noqa: PLC0415 - in-process games need no gRPC, which is slow to import

    sys.exit(play_match(bot, address, games_at_once))


def _handle_signals() -> None:
    """Exit on SIGTERM and SIGINT, even while the bot is computing.

    A container's first process has no default signal handlers. Outside the arena, the bot may be that
    process. Without these handlers, only SIGKILL would then end it.
    """
    signal.signal(signal.SIGTERM, _exit_on_signal)
    signal.signal(signal.SIGINT, _exit_on_signal)
    # The main thread runs the handlers. It may not notice a signal that arrived in one of gRPC's threads
    # until a Python thread asks for the GIL. The thread below does: signals are also written to the pipe.
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_read_forever, args=(reader,), name="signals", daemon=True).start()


def _read_forever(descriptor: int) -> None:
    while os.read(descriptor, 64):
        pass


def _exit_on_signal(number: int, _frame: FrameType | None) -> NoReturn:
    # Don't raise an exception: it would unwind through whatever the bot or gRPC is doing right now.
    with suppress(RuntimeError):  # the bot may be in the middle of a print
        sys.stdout.flush()
    os._exit(128 + number)


def play(bots: Sequence[Bot], rules: Rules | None = None, seed: int = 0) -> State:
    """Play one game in this process: no referee, no clock, no container.

    ``bots`` has one entry per seat. By default, they play the basic game. The same ``seed`` deals the same
    cards. In the returned final state, ``result`` has the totals and places, ``rounds`` the scores, and
    ``turns`` everything that was played. Raises IllegalMove if a bot's choice is illegal, TypeError if it is
    not an answer, or ValueError if there are more or fewer bots than seats.
    """
    rules = rules or Rules(players=len(bots))
    if len(bots) != rules.players:
        raise ValueError(f"{len(bots)} bots for {rules.players} seats: give one bot per seat")
    choosers = [new_chooser(bot) for bot in bots]
    state = new_game(rules, shuffled_deck(rules, simulation_seed(seed, 0)))
    while state.result is None:
        moves: list[Move | None] = [None] * rules.players
        for seat in seats_to_move(state):
            seen = view(state, seat)
            moves[seat] = as_move(choosers[seat].choose(seen), seen)
        state = apply(state, moves)
    for seat, chooser in enumerate(choosers):
        if chooser.game_over:
            chooser.game_over(GameOver(rules, seat, state.turns, state.result))
    return state
