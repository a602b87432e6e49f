"""The picture of a game for those who share a link to it (Open Graph): who played, who won, with what."""

from typing import Final

from arena.rules import ROUNDS, Table
from web.viewer.film import Film
from web.viewer.sheet import INK, SIZE, SOFT, VERMILION, Sheet

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
    sheet = Sheet()
    sheet.mark(_MARGIN, 48)
    sheet.text((_MARGIN + 84, 50), "Kaiten", 44)
    sheet.text((_MARGIN, 118), title, 60)
    _results(sheet, film, _FIRST_ROW + (MOST_PLAYERS - film.rules.players) * _ROW // 2)
    sheet.belt(0, _BELT, *SIZE)
    sheet.cards(_winners_table(film), _BELT, _CARD)
    return sheet.png()


def _results(sheet: Sheet, film: Film, first_row: int) -> None:
    replay = film.replay
    for right, head in zip(_COLUMNS, ("1", "2", "3", "puddings", "points"), strict=True):
        sheet.text((right, first_row - 34), head, 22, SOFT, align="right")
    order = sorted(range(film.rules.players), key=lambda seat: (replay.places[seat], seat))
    for row, seat in enumerate(order):
        top = first_row + row * _ROW
        place = replay.places[seat]
        colour = VERMILION if place == 1 else INK
        sheet.plate(_MARGIN + 20, top + 19, str(place), colour)
        name = sheet.cut(film.names[seat], 34, _COLUMNS[0] - _MARGIN - 150)
        sheet.text((_MARGIN + 62, top), name, 34, colour)
        points = [*(result.scores[seat] for result in replay.rounds), replay.puddings.scores[seat]]
        for right, score in zip(_COLUMNS, points, strict=False):
            sheet.text((right, top), str(score), 34, SOFT, align="right")
        sheet.text((_COLUMNS[-1], top), str(replay.totals[seat]), 34, colour, align="right")


def _winners_table(film: Film) -> Table:
    """Return what lay in front of the winner at the end of the winner's best round."""
    replay = film.replay
    winner = replay.places.index(1)
    best = max(range(ROUNDS), key=lambda number: replay.rounds[number].scores[winner])
    return film.steps[(best + 1) * film.rules.turns - 1].moment.tables[winner]
