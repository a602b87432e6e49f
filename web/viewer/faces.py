"""The faces of the cards as pixels, for pictures that are made without a browser.

``cards.png`` is drawn from ``static/cards.svg``, see ``tests/browser/card_faces.py``.
"""

from functools import cache
from pathlib import Path
from typing import Final

from PIL import Image

from arena.rules import Card

FACES: Final = (*(card.label for card in Card), "back")
"""From left to right."""

WIDTH: Final = 160
HEIGHT: Final = 224
"""Of one face, in pixels."""

FILE: Final = Path(__file__).with_name("cards.png")


@cache
def face(card: Card | None) -> Image.Image:
    """Return a card's face, or the back of all, with transparent corners."""
    left = FACES.index("back" if card is None else card.label) * WIDTH
    with Image.open(FILE) as faces:
        return faces.convert("RGBA").crop((left, 0, left + WIDTH, HEIGHT))
