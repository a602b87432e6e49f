"""Card statistics, as pages, CSV and JSON."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import ceil
from typing import Annotated, Final, Self

from fastapi import APIRouter, HTTPException, Path, Query, Request, Response

from arena.db.card_counts import CardRepository
from arena.ladder.card_table import FEW, CardFigures, CardLine, CardTable, Estimate, table_of
from arena.rules import DECK_COUNTS, Card
from web.http.api import DataRouter
from web.http.caching import tagged
from web.http.parameters import Players, query_string
from web.http.rendering import PageRouter, fixed, page, signed

_PERCENT: Final = 100
_STEP: Final = 5
"""An axis of differences ends at a multiple of this many percentage points."""


def _comparable_value(figures: CardFigures, estimate: Estimate | None) -> float | None:
    """Return an estimate's value if the sample is large enough for comparisons, else None."""
    return None if figures.few or estimate is None else estimate.value


COLUMNS: Final[dict[str, Callable[[CardLine], float | None]]] = {
    "card": lambda line: Card.from_label(line.card),
    "seen": lambda line: line.total.seen,
    "rate": lambda line: line.total.take_rate,
    "turn": lambda line: line.mean_turn_taken,
    "taken": lambda line: _comparable_value(line.total, line.total.won_taken),
    "passed": lambda line: _comparable_value(line.total, line.total.won_passed),
    "difference": lambda line: _comparable_value(line.total, line.total.difference),
    "points": lambda line: line.total.mean_points,
}
"""Values to sort the cards by, keyed by their names in addresses."""

ORDER_PATTERN: Final = f"^-?({'|'.join(COLUMNS)})$"


@dataclass(frozen=True, slots=True)
class Order:
    """A sort order: a key of ``COLUMNS``, and whether the largest comes first."""

    column: str = "card"
    down: bool = False

    @classmethod
    def read(cls, text: str) -> Self:
        """Read an order from an address; the text must match ``ORDER_PATTERN``."""
        return cls(text.removeprefix("-"), text.startswith("-"))

    def __str__(self) -> str:
        return f"{'-' if self.down else ''}{self.column}"

    def by(self, column: str) -> "Order":
        """Return the order that a column's header links to: reversed if it is the current column."""
        return Order(column, not self.down if column == self.column else column != "card")

    def of(self, lines: Iterable[CardLine]) -> tuple[CardLine, ...]:
        """Sort lines. Those without a meaningful value come last."""
        value = COLUMNS[self.column]
        found = [(value(line), line) for line in lines]
        known = [(each, line) for each, line in found if each is not None]
        known.sort(key=lambda pair: pair[0], reverse=self.down)
        return (*(line for _, line in known), *(line for each, line in found if each is None))


@dataclass(frozen=True, slots=True)
class Axis:
    """The shared axis of differences, from ``-end`` to ``end``. Differences range from -1 to 1."""

    end: float

    def at(self, value: float) -> float:
        """Return a difference's position, clamped to the range from 0 to 1000."""
        return round(500 + 500 * max(-1, min(1, value / self.end)), 1)


def axis_of(figures: Iterable[CardFigures]) -> Axis:
    """Return the axis that fits all meaningful intervals."""
    ends = [
        max(-each.difference.low, each.difference.high)
        for each in figures
        if each.difference is not None and not each.few
    ]
    return Axis(max(1, ceil(_PERCENT * max(ends, default=0) / _STEP)) * _STEP / _PERCENT)


def top_of(table: CardTable) -> float:
    """Return the take rate where bars end: the highest rate with enough decisions, rounded up to a tenth."""
    rates = [it.take_rate or 0 for line in table.cards for it in line.turns if it.seen >= FEW]
    return max(1, ceil(10 * max(rates, default=1))) / 10


def read_cards(cards: CardRepository, players: int | None) -> CardTable:
    """Read the statistics for a number of players, or for all games."""
    return table_of(cards.find(players), players)


def address(path: str, players: int | None, order: Order | None = None) -> str:
    """Return the address of a statistics page, omitting defaults."""
    return path + query_string({"players": players, "sort": order}, {"sort": Order()})


def share(value: float | None) -> str:
    """Format a share from 0 to 1 as a percentage with one decimal."""
    return fixed(None) if value is None else f"{fixed(value * _PERCENT, 1)}%"


def points(value: float) -> str:
    """Format a difference between shares in percentage points."""
    return signed(value * _PERCENT, 1)


def neighbours_of(card: str, table: CardTable) -> tuple[str | None, str | None]:
    """Return the kinds before and after a card, among those with statistics."""
    kinds = [line.card for line in table.cards]
    place = kinds.index(card) if card in kinds else len(kinds)
    return kinds[place - 1] if place else None, kinds[place + 1] if place + 1 < len(kinds) else None


def by_turn(line: CardLine) -> str:
    """Describe a card's take rates turn by turn."""
    rates = [f"{it.turn}: {share(it.take_rate)}" for it in line.turns if it.seen]
    return f"Taken by turn. {', '.join(rates)}" if rates else "Never seen"


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
    """Return CSV: one line per card for all turns, and one per card and turn. Unknown values are empty."""
    text = io.StringIO()
    lines = csv.writer(text)
    lines.writerow(HEAD)
    for line in table.cards:
        for figures in (line.total, *line.turns):
            lines.writerow([table.players or "all", line.card, figures.turn or "all", *_cells(figures)])
    return text.getvalue()


def _cells(figures: CardFigures) -> Iterator[Cell]:
    yield from (figures.seen, figures.taken, figures.copies, figures.take_rate)
    for rate in (figures.won_taken, figures.won_passed):
        yield from _interval(rate)
        yield rate.effective if rate else None
    yield from _interval(figures.difference)
    yield figures.mean_points
    yield "yes" if figures.few else "no"


def _interval(estimate: Estimate | None) -> tuple[Cell, Cell, Cell]:
    return (estimate.value, estimate.low, estimate.high) if estimate else (None, None, None)


Sort = Annotated[str, Query(pattern=ORDER_PATTERN)]
Kind = Annotated[str, Path(pattern=r"^[a-z0-9_]{1,20}$")]


def card_pages(cards: CardRepository) -> APIRouter:
    """Return the routes for card statistics, as pages and as CSV. They are public."""
    router, sheets = PageRouter(), PageRouter(anonymous=True)

    @router.get("/cards")
    def all_cards(request: Request, players: Players = None, sort: Sort = "card") -> Response:
        table, order = read_cards(cards, players), Order.read(sort)
        return page(
            request,
            "cards.html",
            table=table,
            order=order,
            lines=order.of(table.cards),
            axis=axis_of(line.total for line in table.cards),
            top=top_of(table),
            words=_WORDS,
            FEW=FEW,
        )

    @router.get("/cards/definitions")
    def definitions(request: Request) -> Response:
        return page(request, "card_definitions.html", FEW=FEW)

    @router.get("/cards/{card}")
    def one_card(request: Request, card: Kind, players: Players = None) -> Response:
        try:
            kind = Card.from_label(card)
        except ValueError as error:
            raise HTTPException(404, "There is no such card.") from error
        table = read_cards(cards, players)
        line = next((line for line in table.cards if line.card == kind.label), None)
        return page(
            request,
            "card.html",
            table=table,
            card=kind.label,
            copies=DECK_COUNTS[kind],
            line=line,
            axis=axis_of(line.turns if line else ()),
            neighbours=neighbours_of(kind.label, table),
            words=_WORDS,
            FEW=FEW,
        )

    @sheets.get("/cards.csv")
    def card_csv(request: Request, players: Players = None) -> Response:
        name = f"cards-{players}-players.csv" if players else "cards.csv"
        response = Response(
            sheet(read_cards(cards, players)),
            media_type="text/csv; charset=utf-8; header=present",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )
        return tagged(request, response)

    router.routes += sheets.routes
    return router


_WORDS: Final = {
    "address": address,
    "by_turn": by_turn,
    "points": points,
    "share": share,
}
"""Functions for the templates."""


def cards_api(repository: CardRepository) -> APIRouter:
    """Return the route for the card statistics API."""
    router = DataRouter("cards")

    @router.get("/cards")
    def cards(players: Players = None) -> CardTable:
        """Return statistics on the cards that bots take: how often, when, and how the games end.

        The statistics cover games with a given number of players, or all games. Shares and rates range from
        0 to 1; intervals are 95% confidence intervals.
        """
        return read_cards(repository, players)

    return router
