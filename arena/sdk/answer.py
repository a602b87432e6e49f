"""What a bot may answer, and what it means.

A bot's author writes the shortest thing that says it: a card, two cards, a
move of ``view.legal_moves()``, or an :class:`Answer` with a note.
"""

from collections.abc import Iterable
from typing import NamedTuple

from arena.rules import Card, Move, View


class Answer(NamedTuple):
    """A choice with a note.

    Attributes:
        cards: A card, or two in the order of placing.
        dummy: The dummy's card, in control of it.
        note: Free text for the bot's owner, shown to nobody else.
    """

    cards: Card | Iterable[Card]
    dummy: Card | None = None
    note: str = ""


Choice = Card | Iterable[Card] | Move | Answer
"""Everything that ``choose`` may return."""


def as_move(answer: Choice, view: View) -> Move:
    """Return the move that an answer means. Whether it is legal is the rules' business.

    Args:
        answer: What ``choose`` returned.
        view: What it was asked about; named in the error.

    Raises:
        TypeError: It is nothing that :data:`Choice` allows; the text says what it is.
    """
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
    return Move(named, dummy)  # type: ignore[arg-type]  # all are cards: checked in the line above


def note_of(answer: Choice) -> str:
    """Return the note of an answer, empty where there is none.

    Raises:
        TypeError: The note is not text.
    """
    if not isinstance(answer, Answer):
        return ""
    if not isinstance(answer.note, str):
        raise TypeError(f"the note of an answer is text, not {answer.note!r}")
    return answer.note


def _refusal(answer: object, view: View) -> str:
    return (
        f"round {view.round}, turn {view.turn}: choose() returned {answer!r}; it must return a Card, "
        "two Cards, a Move of view.legal_moves(), or an Answer"
    )
