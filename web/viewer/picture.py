"""The picture of a game for those who share a link to it (Open Graph): who played, who won, with what."""

from collections.abc import Sequence
from io import BytesIO
from typing import Final

from PIL import Image, ImageDraw, ImageFont

from arena.rules import ROUNDS, Card, Table
from web.viewer.faces import HEIGHT, WIDTH, face
from web.viewer.film import Film

SIZE: Final = (1200, 630)
_FINE: Final = 2
"""Drawn so much larger first, so that edges are smooth."""

# The site's colours by day, see static/site.css.
_PAPER: Final = "#faf6ed"
_INK: Final = "#25211b"
_SOFT: Final = "#6b6358"
_VERMILION: Final = "#c2361a"
_WOOD: Final = "#e6d5b8"
_PLATE: Final = "#fffdf8"

MOST_PLAYERS: Final = 5

_MARGIN: Final = 70
_FIRST_ROW: Final = 214
_ROW: Final = 52
_BELT: Final = 470
_CARD: Final = 84
_COLUMNS: Final = (680, 760, 840, 990, 1130)
"""Right edges of the points of three rounds, of the puddings', and of the totals."""


def picture(film: Film, title: str) -> bytes:
    """Return the picture of a game as PNG.

    Args:
        film: The game.
        title: What it is called.
    """
    sheet = _Sheet()
    sheet.mark(_MARGIN, 48)
    sheet.text((_MARGIN + 84, 50), "Kaiten", 44)
    sheet.text((_MARGIN, 118), title, 60)
    _results(sheet, film, _FIRST_ROW + (MOST_PLAYERS - film.rules.players) * _ROW // 2)
    sheet.belt(_BELT)
    sheet.cards(_winners_table(film), _BELT)
    return sheet.png()


def _results(sheet: "_Sheet", film: Film, first_row: int) -> None:
    replay = film.replay
    for right, head in zip(_COLUMNS, ("1", "2", "3", "puddings", "points"), strict=True):
        sheet.text((right, first_row - 34), head, 22, _SOFT, align="right")
    order = sorted(range(film.rules.players), key=lambda seat: (replay.places[seat], seat))
    for row, seat in enumerate(order):
        top = first_row + row * _ROW
        place = replay.places[seat]
        colour = _VERMILION if place == 1 else _INK
        sheet.plate(_MARGIN + 20, top + 19, str(place), colour)
        name = sheet.cut(film.names[seat], 34, _COLUMNS[0] - _MARGIN - 150)
        sheet.text((_MARGIN + 62, top), name, 34, colour)
        points = [*(result.scores[seat] for result in replay.rounds), replay.puddings.scores[seat]]
        for right, score in zip(_COLUMNS, points, strict=False):
            sheet.text((right, top), str(score), 34, _SOFT, align="right")
        sheet.text((_COLUMNS[-1], top), str(replay.totals[seat]), 34, colour, align="right")


def _winners_table(film: Film) -> Table:
    """Return what lay in front of the winner at the end of the winner's best round."""
    replay = film.replay
    winner = replay.places.index(1)
    best = max(range(ROUNDS), key=lambda number: replay.rounds[number].scores[winner])
    return film.steps[(best + 1) * film.rules.turns - 1].moment.tables[winner]


class _Sheet:
    """What is drawn on; all measures in pixels of the finished picture."""

    def __init__(self) -> None:
        self._image = Image.new("RGB", [_FINE * length for length in SIZE], _PAPER)
        self._draw = ImageDraw.Draw(self._image)

    def text(
        self, at: tuple[float, float], text: str, size: int, colour: str = _INK, *, align: str = "left"
    ) -> None:
        """Write a line."""
        place = (_FINE * at[0], _FINE * at[1])
        font = ImageFont.load_default(_FINE * size)
        self._draw.text(place, text, colour, font, anchor="ra" if align == "right" else "la")

    def cut(self, text: str, size: int, width: float) -> str:
        """Return as much of a text as has room."""
        font = ImageFont.load_default(_FINE * size)
        while self._draw.textlength(text, font) > _FINE * width:
            text = text.rstrip("…")[:-1] + "…"
        return text

    def plate(self, x: float, y: float, text: str, colour: str) -> None:
        """Draw a plate around a number."""
        self._circle(x, y, 21, _WOOD)
        self._circle(x, y, 19, _PLATE)
        self._draw.text((_FINE * x, _FINE * y), text, colour, ImageFont.load_default(_FINE * 26), anchor="mm")

    def mark(self, x: float, y: float) -> None:
        """Draw the site's mark: a belt with two plates."""
        ring = [_FINE * value for value in (x, y + 12, x + 66, y + 48)]
        self._draw.rounded_rectangle(ring, _FINE * 18, outline=_VERMILION, width=_FINE * 7)
        self._circle(x + 21, y + 14, 11, _VERMILION)
        self._circle(x + 45, y + 46, 11, _VERMILION)

    def belt(self, top: float) -> None:
        """Draw the belt from there to the lower edge, with its plates."""
        self._draw.rectangle([0, _FINE * top, _FINE * SIZE[0], _FINE * SIZE[1]], _WOOD)
        for number in range(SIZE[0] // 60):
            self._circle(30 + 60 * number, (top + SIZE[1]) / 2, 9, _PLATE)

    def cards(self, cards: Sequence[Card], top: float) -> None:
        """Lay cards on the belt, in the middle."""
        height = _CARD * HEIGHT / WIDTH
        left = (SIZE[0] - len(cards) * (_CARD + 10) + 10) / 2
        size = (_FINE * _CARD, round(_FINE * height))
        for number, card in enumerate(cards):
            shown = face(card).resize(size, Image.Resampling.LANCZOS)
            place = (
                round(_FINE * (left + number * (_CARD + 10))),
                round(_FINE * ((top + SIZE[1] - height) / 2)),
            )
            self._image.paste(shown, place, shown)

    def png(self) -> bytes:
        """Return the finished picture."""
        made = BytesIO()
        self._image.resize(SIZE, Image.Resampling.LANCZOS).quantize(128, Image.Quantize.FASTOCTREE).save(
            made, "PNG"
        )
        return made.getvalue()

    def _circle(self, x: float, y: float, radius: float, colour: str) -> None:
        box = [_FINE * value for value in (x - radius, y - radius, x + radius, y + radius)]
        self._draw.ellipse(box, colour)
