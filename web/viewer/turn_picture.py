"""The picture of one frame for those who share a link to it (Open Graph): hands, tables and points."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from web.viewer.address import Eyes, Frame, Sight, Stage
from web.viewer.film import Film
from web.viewer.hands import HandCard, Mark
from web.viewer.picture import picture
from web.viewer.scene import Scene, SeatScene, scene
from web.viewer.sheet import INK, SIZE, SOFT, TALL, VERMILION, Sheet
from web.viewer.stacks import Stack
from web.viewer.words import STAGES

_MARGIN: Final = 50
_FIRST_ROW: Final = 124
_NAMES: Final = 300
"""How wide the names and points are, to the left of the cards."""

_FEW: Final = 2
"""Where no more are at the table, what a seat has placed lies below its hand, and otherwise beside it."""

_BETWEEN: Final = 14
_GAP: Final = 6
_LAP: Final = 0.45
"""How much of a card is seen below the next one of its stack."""

_LIFT: Final = 7
_WIDEST: Final = 64


class _Box(NamedTuple):
    """Where cards have room, in pixels."""

    left: float
    top: float
    width: float
    height: float


def turn_picture(film: Film, frame: Frame, eyes: Eyes, title: str) -> bytes:
    """Return the picture of a frame as PNG; that of the whole game where it is the end.

    Args:
        film: The game.
        frame: One of its frames.
        eyes: Who looks; a seat that there is.
        title: What the game is called.
    """
    if frame.stage is Stage.END:
        return picture(film, title)
    shown = scene(film, frame, eyes)
    sheet = Sheet()
    _head(sheet, film, shown, eyes, title)
    boxes = [_boxes(row, len(shown.seats)) for row in range(len(shown.seats))]
    seats = list(zip(shown.seats, boxes, strict=True))
    # All cards of a kind of place have one size, whoever has most of them.
    held = min(_hand_width(seat.hand, hand) for seat, (hand, _) in seats)
    laid = min(_table_width(seat.stacks, table) for seat, (_, table) in seats)
    for number, (seat, (hand, table)) in enumerate(seats):
        _name(sheet, film, number, seat, hand.top)
        _hand(sheet, seat.hand, hand, held)
        _table(sheet, seat.stacks, table, laid)
    return sheet.png()


def _head(sheet: Sheet, film: Film, shown: Scene, eyes: Eyes, title: str) -> None:
    frame = shown.frame
    sheet.mark(_MARGIN, 30)
    sheet.text((_MARGIN + 84, 36), title, 40)
    right = SIZE[0] - _MARGIN
    wide = sheet.text((right, 36), STAGES[frame.stage], 40, VERMILION, align="right")
    sheet.text((right - wide - 16, 36), f"Round {frame.round}, turn {frame.turn}", 40, align="right")
    if eyes.seat is not None:
        whose = "as {} saw it" if eyes.sight is Sight.SEAT else "what {} could infer"
        line = sheet.cut(whose.format(film.names[eyes.seat]), 22, SIZE[0] - 2 * _MARGIN)
        sheet.text((right, 86), line, 22, SOFT, align="right")


def _boxes(row: int, rows: int) -> tuple[_Box, _Box]:
    """Return the places of a seat's hand and of what it has placed."""
    height = (SIZE[1] - _FIRST_ROW - _MARGIN / 2) / rows
    left, top = _MARGIN + _NAMES, _FIRST_ROW + row * height
    width, height = SIZE[0] - _MARGIN - left, height - _BETWEEN
    if rows > _FEW:
        half = (width - 2 * _BETWEEN) / 2
        return _Box(left, top, half, height), _Box(left + half + 2 * _BETWEEN, top, half, height)
    half = (height - _BETWEEN) / 2
    return _Box(left, top, width, half), _Box(left, top + half + _BETWEEN, width, half)


def _hand_width(hand: Sequence[HandCard], box: _Box) -> float:
    """Return how wide cards may be so that a hand has room on its piece of the belt."""
    count = max(1, len(hand))
    across = (box.width - 3 * _GAP) / count - _GAP
    return min(_WIDEST, across, (box.height - 2 * _LIFT - 2 * _GAP) / TALL)


def _table_width(stacks: Sequence[Stack], box: _Box) -> float:
    count = max(1, len(stacks))
    across = sum(1 + _LAP * (len(stack.cards) - 1) for stack in stacks) or 1
    return min(_WIDEST, (box.width - 3 * _GAP * count) / across, (box.height - 2 * _GAP) / TALL)


def _name(sheet: Sheet, film: Film, number: int, seat: SeatScene, top: float) -> None:
    colour = VERMILION if seat.leads else INK
    if number < film.rules.players:
        sheet.plate(_MARGIN + 21, top + 21, str(number), INK)
    sheet.text((_MARGIN + 56, top + 2), sheet.cut(film.names[number], 28, _NAMES - 80), 28)
    gone = sheet.text((_MARGIN + 56, top + 40), str(seat.score), 34, colour) + _GAP * 2
    if seat.gain:
        gone += sheet.text((_MARGIN + 56 + gone, top + 46), f"{seat.gain:+}", 26, VERMILION) + _GAP * 2
    if seat.place:
        won = VERMILION if seat.place == 1 else INK
        gone += sheet.text((_MARGIN + 56 + gone, top + 50), f"place {seat.place}", 20, won) + _GAP * 2
    tags = sheet.cut(", ".join(seat.tags), 20, _NAMES - 80 - gone)
    sheet.text((_MARGIN + 56 + gone, top + 50), tags, 20, VERMILION)


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
