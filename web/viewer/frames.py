"""All frames of a game for one pair of eyes, as data for ``static/viewer.js``.

Short, so that a game can be stepped through without asking again: a letter a card, and lists without the
empty entries at their ends. The letters are those of ``KINDS`` in order, from ``a``.
"""

from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any, Final

from arena.rules import ROUNDS, Card
from web.text import fixed
from web.viewer.address import Eyes
from web.viewer.film import Film
from web.viewer.hands import HandCard, Mark
from web.viewer.scene import Scene, SeatScene, scene
from web.viewer.stacks import Stack

FORMAT: Final = "kaiten-frames/1"
KINDS: Final = tuple(card.label for card in Card)
_LETTERS: Final = dict(zip(Card, ascii_lowercase, strict=False))
_MARKS: Final = {Mark.NONE: ".", Mark.PICKED: "p", Mark.GIVEN: "g", Mark.RETURNED: "r"}
_FACE_DOWN: Final = "?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Frames:
    """The document.

    Attributes:
        format: ``kaiten-frames/1``.
        view: Whose eyes.
        turns: How many a round has.
        directions: Of each round: 1 where hands go to the next seat, -1 where they go to the one before.
        kinds: Names of cards, in the order of their letters.
        frames: Of each round, turn, stage, what happens in words, and the seats; in views of what a
            seat could infer also the unseen cards, each a letter and a number, and what there is to say
            of them. Of a seat: its hand, the marks of the hand's cards, its stacks,
            points, gain, tags, time, whether it leads, its place.
    """

    format: str
    view: str
    turns: int
    directions: tuple[int, ...]
    kinds: tuple[str, ...]
    frames: tuple[tuple[Any, ...], ...]


def frames(film: Film, eyes: Eyes) -> Frames:
    """Return the document of a film, as these eyes see it."""
    return Frames(
        format=FORMAT,
        view=str(eyes),
        turns=film.rules.turns,
        directions=tuple(map(film.rules.direction, range(1, ROUNDS + 1))),
        kinds=KINDS,
        frames=tuple(_frame(scene(film, frame, eyes)) for frame in film.frames),
    )


def _frame(shown: Scene) -> tuple[Any, ...]:
    unseen = shown.unseen and (
        " ".join(f"{_LETTERS[card]}{count}" for card, count in shown.unseen.cards),
        shown.unseen.says,
    )
    return _cut(*shown.frame, shown.says, tuple(map(_seat, shown.seats)), unseen)


def _seat(seat: SeatScene) -> tuple[Any, ...]:
    return _cut(
        "".join(_FACE_DOWN if held.card is None else _LETTERS[held.card] for held in seat.hand),
        _marks(seat.hand),
        " ".join(map(_stack, seat.stacks)),
        seat.score,
        seat.gain,
        ",".join(seat.tags),
        seat.time,
        int(seat.leads),
        seat.place,
    )


def _marks(hand: tuple[HandCard, ...]) -> str:
    return "".join(_MARKS[held.mark] for held in hand).rstrip(_MARKS[Mark.NONE])


def _stack(stack: Stack) -> str:
    """Write a stack: its letters, new cards as capitals, ``~`` and rolls of maki, ``=`` and points."""
    cards = "".join(
        _LETTERS[card].upper() if new else _LETTERS[card]
        for card, new in zip(stack.cards, stack.new, strict=True)
    )
    rolls = f"~{stack.rolls}" if stack.rolls else ""
    return cards + rolls + (f"={fixed(stack.points, 0)}" if stack.points else "")


def _cut(*entries: object) -> tuple[Any, ...]:
    """Leave out empty entries at the end."""
    last = max((number for number, entry in enumerate(entries) if entry), default=-1)
    return entries[: last + 1]
