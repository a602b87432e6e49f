"""What pictures are drawn on that are made without a browser: lines of text, plates, the belt, cards."""

from collections.abc import Sequence
from functools import lru_cache
from io import BytesIO
from typing import Final

from PIL import Image, ImageDraw, ImageFont

from arena.rules import Card
from web.viewer.faces import HEIGHT, WIDTH, face

SIZE: Final = (1200, 630)
"""What other sites show beside a link without cutting it."""

TALL: Final = HEIGHT / WIDTH
"""Height of a card whose width is 1."""

_FINE: Final = 2
"""Drawn so much larger first, so that edges are smooth."""

# The site's colours by day, see static/site.css.
PAPER: Final = "#faf6ed"
INK: Final = "#25211b"
SOFT: Final = "#6b6358"
VERMILION: Final = "#c2361a"
WOOD: Final = "#e6d5b8"
PLATE: Final = "#fffdf8"


class Sheet:
    """A sheet of paper; all measures in pixels of the finished picture."""

    def __init__(self) -> None:
        self._image = Image.new("RGB", [_FINE * length for length in SIZE], PAPER)
        self._draw = ImageDraw.Draw(self._image)

    def text(
        self, at: tuple[float, float], text: str, size: int, colour: str = INK, *, align: str = "left"
    ) -> float:
        """Write a line from or up to a point of its upper edge; return how wide it is."""
        place = (_FINE * at[0], _FINE * at[1])
        font = ImageFont.load_default(_FINE * size)
        self._draw.text(place, text, colour, font, anchor="ra" if align == "right" else "la")
        return self._draw.textlength(text, font) / _FINE

    def cut(self, text: str, size: int, width: float) -> str:
        """Return as much of a text as has room."""
        font = ImageFont.load_default(_FINE * size)
        while self._draw.textlength(text, font) > _FINE * width:
            text = text.rstrip("…")[:-1] + "…"
        return text

    def plate(self, x: float, y: float, text: str, colour: str) -> None:
        """Draw a plate around a number."""
        self._circle(x, y, 21, WOOD)
        self._circle(x, y, 19, PLATE)
        self._number(x, y, text, 26, colour)

    def badge(self, x: float, y: float, text: str, colour: str) -> None:
        """Draw a number on a round sign."""
        self._circle(x, y, 15, PAPER)
        self._circle(x, y, 13, colour)
        self._number(x, y, text, 17, PAPER)

    def mark(self, x: float, y: float) -> None:
        """Draw the site's mark: a belt with two plates."""
        ring = [_FINE * value for value in (x, y + 12, x + 66, y + 48)]
        self._draw.rounded_rectangle(ring, _FINE * 18, outline=VERMILION, width=_FINE * 7)
        self._circle(x + 21, y + 14, 11, VERMILION)
        self._circle(x + 45, y + 46, 11, VERMILION)

    def belt(self, left: float, top: float, right: float, bottom: float) -> None:
        """Draw a piece of the belt, with its plates."""
        self._draw.rectangle([_FINE * value for value in (left, top, right, bottom)], WOOD)
        for number in range(int(right - left) // 60):
            self._circle(left + 30 + 60 * number, (top + bottom) / 2, 9, PLATE)

    def cards(self, cards: Sequence[Card], top: float, width: float) -> None:
        """Lay cards side by side between there and the lower edge, in the middle."""
        left = (SIZE[0] - len(cards) * (width + 10) + 10) / 2
        for number, card in enumerate(cards):
            self.card(card, left + number * (width + 10), (top + SIZE[1] - width * TALL) / 2, width)

    def card(self, card: Card | None, x: float, y: float, width: float, *, framed: bool = False) -> None:
        """Lay a card there, face down without one; framed in vermilion if that is wanted."""
        shown = _resized(card, round(_FINE * width))
        self._image.paste(shown, (round(_FINE * x), round(_FINE * y)), shown)
        if framed:
            box = [_FINE * value for value in (x - 4, y - 4, x + width + 4, y + width * TALL + 4)]
            self._draw.rounded_rectangle(box, _FINE * (width / 10 + 4), outline=VERMILION, width=_FINE * 4)

    def png(self) -> bytes:
        """Return the finished picture."""
        made = BytesIO()
        self._image.resize(SIZE, Image.Resampling.LANCZOS).quantize(128, Image.Quantize.FASTOCTREE).save(
            made, "PNG"
        )
        return made.getvalue()

    def _number(self, x: float, y: float, text: str, size: int, colour: str) -> None:
        font = ImageFont.load_default(_FINE * size)
        self._draw.text((_FINE * x, _FINE * y), text, colour, font, anchor="mm")

    def _circle(self, x: float, y: float, radius: float, colour: str) -> None:
        box = [_FINE * value for value in (x - radius, y - radius, x + radius, y + radius)]
        self._draw.ellipse(box, colour)


@lru_cache(maxsize=64)
def _resized(card: Card | None, width: int) -> Image.Image:
    return face(card).resize((width, round(width * TALL)), Image.Resampling.LANCZOS)
