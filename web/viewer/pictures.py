"""Pictures of games and frames for link previews (Open Graph)."""

from collections.abc import Sequence
from functools import cache, lru_cache
from io import BytesIO
from pathlib import Path
from typing import Final, NamedTuple

from PIL import Image, ImageDraw, ImageFont

from arena.rules import ROUNDS, Card, Table
from web.viewer.film import Film, FilmStage, Frame, Viewpoint, VisibleHands
from web.viewer.scene import HandCard, Mark, Scene, SeatScene, scene
from web.viewer.stacks import Stack
from web.viewer.words import STAGES

FACES: Final = (*(card.label for card in Card), "back")
"""The cards in cards.png, from left to right."""

WIDTH: Final = 160
HEIGHT: Final = 224
"""Size of one face, in pixels."""

FILE: Final = Path(__file__).with_name("cards.png")


@cache
def face(card: Card | None) -> Image.Image:
    """Return a card's face, or the common back if it is None, with transparent corners."""
    left = FACES.index("back" if card is None else card.label) * WIDTH
    with Image.open(FILE) as faces:
        return faces.convert("RGBA").crop((left, 0, left + WIDTH, HEIGHT))


SIZE: Final = (1200, 630)
"""Size, in pixels, that other sites show without cropping."""

TALL: Final = HEIGHT / WIDTH
"""Height of a card whose width is 1."""

_OVERSAMPLING: Final = 2
"""Factor by which pictures are drawn larger and then scaled down, for smooth edges."""

# The site's light theme; see static/site.css.
PAPER: Final = "#faf6ed"
INK: Final = "#25211b"
SOFT: Final = "#6b6358"
VERMILION: Final = "#c2361a"
WOOD: Final = "#e6d5b8"
PLATE: Final = "#fffdf8"


class Sheet:
    """A sheet to draw on; all lengths are in pixels of the finished picture."""

    def __init__(self) -> None:
        self._image = Image.new("RGB", [_OVERSAMPLING * length for length in SIZE], PAPER)
        self._draw = ImageDraw.Draw(self._image)

    def text(
        self, at: tuple[float, float], text: str, size: int, colour: str = INK, *, align: str = "left"
    ) -> float:
        """Write a line with its upper left or right corner (``align``) at ``at``; return its width."""
        place = (_OVERSAMPLING * at[0], _OVERSAMPLING * at[1])
        font = ImageFont.load_default(_OVERSAMPLING * size)
        self._draw.text(place, text, colour, font, anchor="ra" if align == "right" else "la")
        return self._draw.textlength(text, font) / _OVERSAMPLING

    def cut(self, text: str, size: int, width: float) -> str:
        """Shorten text to fit a width."""
        font = ImageFont.load_default(_OVERSAMPLING * size)
        while self._draw.textlength(text, font) > _OVERSAMPLING * width:
            text = text.rstrip("…")[:-1] + "…"
        return text

    def plate(self, x: float, y: float, text: str, colour: str) -> None:
        """Draw a number on a plate."""
        self._circle(x, y, 21, WOOD)
        self._circle(x, y, 19, PLATE)
        self._number(x, y, text, 26, colour)

    def badge(self, x: float, y: float, text: str, colour: str) -> None:
        """Draw a number on a round badge."""
        self._circle(x, y, 15, PAPER)
        self._circle(x, y, 13, colour)
        self._number(x, y, text, 17, PAPER)

    def mark(self, x: float, y: float) -> None:
        """Draw the site's logo."""
        ring = [_OVERSAMPLING * value for value in (x, y + 12, x + 66, y + 48)]
        self._draw.rounded_rectangle(ring, _OVERSAMPLING * 18, outline=VERMILION, width=_OVERSAMPLING * 7)
        self._circle(x + 21, y + 14, 11, VERMILION)
        self._circle(x + 45, y + 46, 11, VERMILION)

    def belt(self, left: float, top: float, right: float, bottom: float) -> None:
        """Draw a piece of the belt, with its plates."""
        self._draw.rectangle([_OVERSAMPLING * value for value in (left, top, right, bottom)], WOOD)
        for number in range(int(right - left) // 60):
            self._circle(left + 30 + 60 * number, (top + bottom) / 2, 9, PLATE)

    def cards(self, cards: Sequence[Card], top: float, width: float) -> None:
        """Lay cards side by side, centred between ``top`` and the lower edge."""
        left = (SIZE[0] - len(cards) * (width + 10) + 10) / 2
        for number, card in enumerate(cards):
            self.card(card, left + number * (width + 10), (top + SIZE[1] - width * TALL) / 2, width)

    def card(self, card: Card | None, x: float, y: float, width: float, *, framed: bool = False) -> None:
        """Draw a card, face down if it is None, and optionally framed in vermilion."""
        shown = _resize(card, round(_OVERSAMPLING * width))
        self._image.paste(shown, (round(_OVERSAMPLING * x), round(_OVERSAMPLING * y)), shown)
        if framed:
            box = [_OVERSAMPLING * value for value in (x - 4, y - 4, x + width + 4, y + width * TALL + 4)]
            self._draw.rounded_rectangle(
                box, _OVERSAMPLING * (width / 10 + 4), outline=VERMILION, width=_OVERSAMPLING * 4
            )

    def line(self, points: Sequence[tuple[float, float]], colour: str, width: float) -> None:
        """Draw a line through points."""
        self._draw.line(
            [(_OVERSAMPLING * x, _OVERSAMPLING * y) for x, y in points],
            colour,
            round(_OVERSAMPLING * width),
            joint="curve",
        )

    def png(self) -> bytes:
        """Return the finished picture."""
        buffer = BytesIO()
        self._image.resize(SIZE, Image.Resampling.LANCZOS).quantize(128, Image.Quantize.FASTOCTREE).save(
            buffer, "PNG"
        )
        return buffer.getvalue()

    def _number(self, x: float, y: float, text: str, size: int, colour: str) -> None:
        font = ImageFont.load_default(_OVERSAMPLING * size)
        self._draw.text((_OVERSAMPLING * x, _OVERSAMPLING * y), text, colour, font, anchor="mm")

    def _circle(self, x: float, y: float, radius: float, colour: str) -> None:
        box = [_OVERSAMPLING * value for value in (x - radius, y - radius, x + radius, y + radius)]
        self._draw.ellipse(box, colour)


@lru_cache(maxsize=64)
def _resize(card: Card | None, width: int) -> Image.Image:
    return face(card).resize((width, round(width * TALL)), Image.Resampling.LANCZOS)


MAX_PLAYERS: Final = 5

_RESULT_MARGIN: Final = 70
_RESULT_ROW: Final = 214
_ROW: Final = 52
_BELT: Final = 470
_CARD: Final = 84
_COLUMNS: Final = (680, 760, 840, 990, 1130)
"""Right edges of the columns: the points for each of three rounds, the points for puddings, and the total."""


Chances = tuple[tuple[float, ...], ...]
"""Each seat's chance of winning before each turn and at the end, from 0 to 1."""

_GRAPH: Final = (680, 56, 1130, 160)
"""Left, top, right and bottom."""


def picture(film: Film, title: str, chances: Chances | None = None) -> bytes:
    """Return a game's picture as PNG; ``chances`` is None if the game hasn't been analysed."""
    sheet = Sheet()
    sheet.mark(_RESULT_MARGIN, 48)
    sheet.text((_RESULT_MARGIN + 84, 50), "Kaiten", 44)
    sheet.text((_RESULT_MARGIN, 118), title, 60)
    if chances is not None:
        _graph(sheet, chances, film.replay.places)
    _results(sheet, film, _RESULT_ROW + (MAX_PLAYERS - film.rules.players) * _ROW // 2)
    sheet.belt(0, _BELT, *SIZE)
    sheet.cards(_winners_table(film), _BELT, _CARD)
    return sheet.png()


def _graph(sheet: Sheet, chances: Chances, places: Sequence[int]) -> None:
    """Draw the chances by turn; the winners' lines come last, in vermilion."""
    left, top, right, bottom = _GRAPH
    sheet.text((right, top - 32), "chance of winning", 22, SOFT, align="right")
    for height in (top, (top + bottom) / 2, bottom):
        sheet.line([(left, height), (right, height)], WOOD, 1)
    for seat in sorted(range(len(chances)), key=lambda seat: -places[seat]):
        step = (right - left) / (len(chances[seat]) - 1)
        points = [
            (left + number * step, bottom - chance * (bottom - top))
            for number, chance in enumerate(chances[seat])
        ]
        won = places[seat] == 1
        sheet.line(points, VERMILION if won else SOFT, 4 if won else 2)


def _results(sheet: Sheet, film: Film, first_row: int) -> None:
    replay = film.replay
    for right, head in zip(_COLUMNS, ("1", "2", "3", "puddings", "points"), strict=True):
        sheet.text((right, first_row - 34), head, 22, SOFT, align="right")
    order = sorted(range(film.rules.players), key=lambda seat: (replay.places[seat], seat))
    for row, seat in enumerate(order):
        top = first_row + row * _ROW
        place = replay.places[seat]
        colour = VERMILION if place == 1 else INK
        sheet.plate(_RESULT_MARGIN + 20, top + 19, str(place), colour)
        name = sheet.cut(film.names[seat], 34, _COLUMNS[0] - _RESULT_MARGIN - 150)
        sheet.text((_RESULT_MARGIN + 62, top), name, 34, colour)
        points = [*(result.scores[seat] for result in replay.rounds), replay.puddings.scores[seat]]
        for right, score in zip(_COLUMNS, points, strict=False):
            sheet.text((right, top), str(score), 34, SOFT, align="right")
        sheet.text((_COLUMNS[-1], top), str(replay.totals[seat]), 34, colour, align="right")


def _winners_table(film: Film) -> Table:
    """Return the winner's table at the end of the winner's best round."""
    replay = film.replay
    winner = replay.places.index(1)
    best = max(range(ROUNDS), key=lambda number: replay.rounds[number].scores[winner])
    return film.steps[(best + 1) * film.rules.turns - 1].moment.tables[winner]


_MARGIN: Final = 50
_FIRST_ROW: Final = 124
_NAMES: Final = 300
"""Width of the names and points, to the left of the cards."""

_FEW: Final = 2
"""With at most this many seats, placed cards are drawn below the hand, otherwise next to it."""

_BETWEEN: Final = 14
_GAP: Final = 6
_LAP: Final = 0.45
"""Visible fraction of a card that the next card in its stack overlaps."""

_LIFT: Final = 7
_MAX_CARD_WIDTH: Final = 64


class _Box(NamedTuple):
    """An area for cards, in pixels."""

    left: float
    top: float
    width: float
    height: float


def turn_picture(film: Film, frame: Frame, viewpoint: Viewpoint, title: str) -> bytes:
    """Return a frame's picture as PNG, or the game's for the last frame. The viewpoint's seat must exist."""
    if frame.stage is FilmStage.END:
        return picture(film, title)
    shown = scene(film, frame, viewpoint)
    sheet = Sheet()
    _head(sheet, film, shown, viewpoint, title)
    boxes = [_boxes(row, len(shown.seats)) for row in range(len(shown.seats))]
    seats = list(zip(shown.seats, boxes, strict=True))
    # All hands share one card size, and all tables another: that of the fullest hand or table.
    held = min(_hand_width(seat.hand, hand) for seat, (hand, _) in seats)
    laid = min(_table_width(seat.stacks, table) for seat, (_, table) in seats)
    for number, (seat, (hand, table)) in enumerate(seats):
        _name(sheet, film, number, seat, hand.top)
        _hand(sheet, seat.hand, hand, held)
        _table(sheet, seat.stacks, table, laid)
    return sheet.png()


def _head(sheet: Sheet, film: Film, shown: Scene, viewpoint: Viewpoint, title: str) -> None:
    frame = shown.frame
    sheet.mark(_MARGIN, 30)
    sheet.text((_MARGIN + 84, 36), title, 40)
    right = SIZE[0] - _MARGIN
    stage_width = sheet.text((right, 36), STAGES[frame.stage], 40, VERMILION, align="right")
    sheet.text((right - stage_width - 16, 36), f"Round {frame.round}, turn {frame.turn}", 40, align="right")
    if viewpoint.seat is not None:
        whose = "as {} saw it" if viewpoint.visible is VisibleHands.SEAT else "what {} could infer"
        line = sheet.cut(whose.format(film.names[viewpoint.seat]), 22, SIZE[0] - 2 * _MARGIN)
        sheet.text((right, 86), line, 22, SOFT, align="right")


def _boxes(row: int, rows: int) -> tuple[_Box, _Box]:
    """Return the areas of a seat's hand and table."""
    height = (SIZE[1] - _FIRST_ROW - _MARGIN / 2) / rows
    left, top = _MARGIN + _NAMES, _FIRST_ROW + row * height
    width, height = SIZE[0] - _MARGIN - left, height - _BETWEEN
    if rows > _FEW:
        half = (width - 2 * _BETWEEN) / 2
        return _Box(left, top, half, height), _Box(left + half + 2 * _BETWEEN, top, half, height)
    half = (height - _BETWEEN) / 2
    return _Box(left, top, width, half), _Box(left, top + half + _BETWEEN, width, half)


def _hand_width(hand: Sequence[HandCard], box: _Box) -> float:
    """Return the card width at which a hand fits on its piece of the belt."""
    count = max(1, len(hand))
    across = (box.width - 3 * _GAP) / count - _GAP
    return min(_MAX_CARD_WIDTH, across, (box.height - 2 * _LIFT - 2 * _GAP) / TALL)


def _table_width(stacks: Sequence[Stack], box: _Box) -> float:
    count = max(1, len(stacks))
    across = sum(1 + _LAP * (len(stack.cards) - 1) for stack in stacks) or 1
    return min(_MAX_CARD_WIDTH, (box.width - 3 * _GAP * count) / across, (box.height - 2 * _GAP) / TALL)


def _name(sheet: Sheet, film: Film, number: int, seat: SeatScene, top: float) -> None:
    colour = VERMILION if seat.leads else INK
    if number < film.rules.players:
        sheet.plate(_MARGIN + 21, top + 21, str(number), INK)
    sheet.text((_MARGIN + 56, top + 2), sheet.cut(film.names[number], 28, _NAMES - 80), 28)
    used = sheet.text((_MARGIN + 56, top + 40), str(seat.score), 34, colour) + _GAP * 2
    if seat.gain:
        used += sheet.text((_MARGIN + 56 + used, top + 46), f"{seat.gain:+}", 26, VERMILION) + _GAP * 2
    if seat.place:
        won = VERMILION if seat.place == 1 else INK
        used += sheet.text((_MARGIN + 56 + used, top + 50), f"place {seat.place}", 20, won) + _GAP * 2
    tags = sheet.cut(", ".join(seat.tags), 20, _NAMES - 80 - used)
    sheet.text((_MARGIN + 56 + used, top + 50), tags, 20, VERMILION)


def _hand(sheet: Sheet, hand: Sequence[HandCard], box: _Box, width: float) -> None:
    sheet.belt(box.left, box.top, box.left + box.width, box.top + box.height)
    left = box.left + (box.width - len(hand) * (width + _GAP) + _GAP) / 2
    top = box.top + (box.height - width * TALL) / 2
    for number, held in enumerate(hand):
        lift = _LIFT if held.mark in {Mark.PICKED, Mark.GIVEN} else 0
        x = left + number * (width + _GAP)
        sheet.card(held.card, x, top - lift, width, framed=held.mark is not Mark.NONE)


def _table(sheet: Sheet, stacks: Sequence[Stack], box: _Box, width: float) -> None:
    x, y = box.left + _GAP, box.top + (box.height - width * TALL) / 2
    for stack in stacks:
        for card, new in zip(stack.cards, stack.new, strict=True):
            sheet.card(card, x, y, width, framed=new)
            x += width * _LAP
        x += width * (1 - _LAP)
        if stack.points:
            sheet.badge(x - 6, y + width * TALL - 6, str(stack.points), VERMILION)
        x += 3 * _GAP
