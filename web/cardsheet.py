"""Statistics of cards as a sheet: comma-separated values."""

import csv
import io
from collections.abc import Iterator
from typing import Final

from arena.cardstats import CardTable, Estimate, Figures

HEAD: Final = (
    "players",
    "card",
    "turn",
    "seen",
    "taken",
    "copies",
    "take_rate",
    "won_taken",
    "won_taken_low",
    "won_taken_high",
    "won_taken_effective",
    "won_passed",
    "won_passed_low",
    "won_passed_high",
    "won_passed_effective",
    "difference",
    "difference_low",
    "difference_high",
    "mean_points",
    "few",
)

Cell = str | int | float | None


def sheet(table: CardTable) -> str:
    """Return a line for each card over all turns, and one for each turn; what is not known is empty."""
    text = io.StringIO()
    lines = csv.writer(text)
    lines.writerow(HEAD)
    for line in table.cards:
        for figures in (line.total, *line.turns):
            lines.writerow([table.players or "all", line.card, figures.turn or "all", *_cells(figures)])
    return text.getvalue()


def _cells(figures: Figures) -> Iterator[Cell]:
    yield from (figures.seen, figures.taken, figures.copies, figures.take_rate)
    for rate in (figures.won_taken, figures.won_passed):
        yield from _interval(rate)
        yield rate.effective if rate else None
    yield from _interval(figures.difference)
    yield figures.mean_points
    yield "yes" if figures.few else "no"


def _interval(estimate: Estimate | None) -> tuple[Cell, Cell, Cell]:
    return (estimate.value, estimate.low, estimate.high) if estimate else (None, None, None)
