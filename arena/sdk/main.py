"""The bot's main program."""

import os
import signal
import sys
from types import FrameType
from typing import Final, NoReturn

from arena.sdk.bot import Bot, is_class

ADDRESS: Final = "ARENA_REFEREE"
"""The environment variable that holds the referee's address."""

_NO_ADDRESS: Final = f"""\
{ADDRESS} is not set: this bot is meant to be started by the arena, which sets it to the address of a referee.
To try the bot here, play a game in process instead:
    from arena.sdk import play
    print(play([choose, choose]).result)
"""


def run(bot: Bot, games_at_once: int | None = None) -> NoReturn:
    """Play the match that the arena started this program for, and exit.

    Exit codes: 0 when the referee ended the match, 1 when the bot's own code
    raised (the traceback is on stderr), 2 when there was no referee, or it
    went away or refused.

    Args:
        bot: A function ``choose(view)``, or a class with a method ``choose(self, view)``
            and, if it likes, ``game_over(self, end)``; the class gets an instance a game.
        games_at_once: How many games of a match to play at once: 32 for a
            function and 1 for a class, if nothing is said. The clock of every
            asked game runs, so a bot that thinks long should say 1.

    Raises:
        TypeError: ``bot`` is neither.
        ValueError: ``games_at_once`` is below 1.
    """
    if games_at_once is None:
        games_at_once = 1 if is_class(bot) else 32
    if games_at_once < 1:
        raise ValueError(f"games_at_once is {games_at_once}; it is 1 or more")
    is_class(bot)
    address = os.environ.get(ADDRESS)
    if not address:
        sys.stderr.write(_NO_ADDRESS)
        sys.exit(2)
    # The first process of a container has no default for signals: without this it could only be killed.
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, _leave)
    # gRPC's own log lines would go to the bot's stderr, which is for its author.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from arena.sdk.match import play_match  # noqa: PLC0415 - games in process need no gRPC, which is slow to import

    sys.exit(play_match(bot, address, games_at_once))


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    # Not by an exception: that would unwind through whatever the bot or gRPC is doing right now.
    sys.stdout.flush()
    os._exit(128 + number)
