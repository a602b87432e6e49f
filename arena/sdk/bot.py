"""Bots and their answers.

A bot is a function, or a class that is instantiated for every game. An answer is a card, two cards, a move
from ``view.legal_moves()`` or, to add a note, an :class:`Answer`.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from arena.rules import Card, Move, Result, Rules, Turn, View


class Answer(NamedTuple):
    """A choice with a note."""

    cards: Card | Iterable[Card]  # a card, or two in the order in which to place them
    dummy: Card | None = None  # the dummy's card, if this seat is in control of the dummy
    note: str = ""  # free text that only the bot's owner can see


Choice = Card | Iterable[Card] | Move | Answer
"""Anything that ``choose`` may return."""


def as_move(answer: Choice, view: View) -> Move:
    """Return an answer as a move, without checking whether it is legal.

    ``answer`` is what ``choose`` returned for ``view``. Raises TypeError if it isn't a :data:`Choice`; the
    message contains the decision and the answer. Also raises TypeError if its note is not text.
    """
    note_of(answer)
    dummy = None
    cards = answer
    if isinstance(answer, Answer | Move):
        cards, dummy = answer.cards, answer.dummy
    if isinstance(cards, Card):
        named: tuple[object, ...] = (cards,)
    elif isinstance(cards, Iterable) and not isinstance(cards, str | bytes):
        named = tuple(cards)
    else:
        raise TypeError(_refusal(answer, view))
    if not all(isinstance(card, Card) for card in named) or not isinstance(dummy, Card | None):
        raise TypeError(_refusal(answer, view))
    return Move(named, dummy)  # type: ignore[arg-type]  # all are cards: checked above


def note_of(answer: Choice) -> str:
    """Return an answer's note, or an empty string. Raises TypeError if the note is not text."""
    if not isinstance(answer, Answer):
        return ""
    if not isinstance(answer.note, str):
        raise TypeError(f"an answer's note must be text, not {answer.note!r}")
    return answer.note


def _refusal(answer: object, view: View) -> str:
    return (
        f"round {view.round}, turn {view.turn}: choose() returned {answer!r}; it must return a Card, "
        "two Cards, a Move from view.legal_moves(), or an Answer"
    )


class Player(Protocol):
    """Plays one game. It may also have a method ``game_over(end: GameOver)``."""

    def choose(self, view: View) -> Choice:
        """Return what to play."""


class GameOver(NamedTuple):
    """The end of a game, as passed to a bot's ``game_over`` method."""

    rules: Rules
    seat: int  # the bot's own
    turns: tuple[Turn, ...]  # everything revealed in the game
    result: Result  # puddings, totals and places as the referee gave them


Bot = Callable[[View], Choice] | type[Player]
"""A function that chooses, or a class of players that can be instantiated without arguments."""


def is_class(bot: Bot) -> bool:
    """Return True if a bot is a class rather than a function.

    Raises TypeError if it is neither; the message shows the object.
    """
    if isinstance(bot, type):
        if callable(getattr(bot, "choose", None)):
            return True
        raise TypeError(f"the class {bot.__name__} is not a bot: it has no method choose(self, view)")
    if not callable(bot):
        raise TypeError(
            f"{bot!r} is not a bot: pass a function choose(view), or a class with a method choose(self, view)"
        )
    return False


class Chooser(NamedTuple):
    """A bot's functions for one game."""

    choose: Callable[[View], Choice]  # the function, or the method of this game's instance
    game_over: Callable[[GameOver], object] | None = None  # the method with that name, or None


def new_chooser(bot: Bot) -> Chooser:
    """Return a bot's functions for a new game. A class gets a new instance."""
    if isinstance(bot, type):
        player = bot()
        return Chooser(player.choose, getattr(player, "game_over", None))
    return Chooser(bot)
