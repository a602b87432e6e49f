"""What a bot is: a function, or a class of which every game gets an instance."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from arena.rules import Result, Rules, Turn, View
from arena.sdk.answer import Choice


class Player(Protocol):
    """What plays one game. It may also have a method ``game_over(end: GameOver)``."""

    def choose(self, view: View) -> Choice:
        """Return what to play."""


class GameOver(NamedTuple):
    """The end of a game, for a bot that wants to know.

    Attributes:
        rules: What was played.
        seat: The bot's own.
        turns: Everything revealed in the game.
        result: Puddings, totals and places as the referee gave them.
    """

    rules: Rules
    seat: int
    turns: tuple[Turn, ...]
    result: Result


Bot = Callable[[View], Choice] | type[Player]
"""A function that chooses, or a class of players that is called without arguments."""


def is_class(bot: Bot) -> bool:
    """Tell the two kinds of bots apart.

    Raises:
        TypeError: It is neither; the text says what it is.
    """
    if isinstance(bot, type):
        if callable(getattr(bot, "choose", None)):
            return True
        raise TypeError(f"the class {bot.__name__} is not a bot: it has no method choose(self, view)")
    if not callable(bot):
        raise TypeError(
            f"{bot!r} is not a bot: that is a function choose(view), or a class with such a method"
        )
    return False


class Chooser(NamedTuple):
    """One game's side of a bot.

    Attributes:
        choose: The function, or the method of this game's instance.
        game_over: The method of that name, or None.
    """

    choose: Callable[[View], Choice]
    game_over: Callable[[GameOver], object] | None = None


def new_chooser(bot: Bot) -> Chooser:
    """Begin a game: a class gets a new instance, a function is used as it is."""
    if isinstance(bot, type):
        player = bot()
        return Chooser(player.choose, getattr(player, "game_over", None))
    return Chooser(bot)
