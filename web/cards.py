"""Statistics of cards as they are shown: in order, in words, and drawn."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import ceil
from typing import Final, Self
from urllib.parse import urlencode

from arena.cardstats import FEW, CardLine, CardTable, Estimate, Figures, table_of
from arena.rules import Card
from arena.store import Reads
from web.text import fixed, signed

_PERCENT: Final = 100
_STEP: Final = 5
"""An axis of differences ends at a multiple of so many per cent."""


def _sure(figures: Figures, estimate: Estimate | None) -> float | None:
    """Return a value if enough is behind it to compare it with others."""
    return None if figures.few or estimate is None else estimate.value


COLUMNS: Final[dict[str, Callable[[CardLine], float | None]]] = {
    "card": lambda line: Card.from_label(line.card),
    "seen": lambda line: line.total.seen,
    "rate": lambda line: line.total.take_rate,
    "turn": lambda line: line.mean_turn_taken,
    "taken": lambda line: _sure(line.total, line.total.won_taken),
    "passed": lambda line: _sure(line.total, line.total.won_passed),
    "difference": lambda line: _sure(line.total, line.total.difference),
    "points": lambda line: line.total.mean_points,
}
"""By what the cards can be put in order, by the names of these orders in addresses."""

ORDER_PATTERN: Final = f"^-?({'|'.join(COLUMNS)})$"


@dataclass(frozen=True, slots=True)
class Order:
    """An order of the cards.

    Attributes:
        column: A name of ``COLUMNS``.
        down: Whether the largest comes first.
    """

    column: str = "card"
    down: bool = False

    @classmethod
    def read(cls, text: str) -> Self:
        """Read an order as it stands in an address; it has to match ``ORDER_PATTERN``."""
        return cls(text.removeprefix("-"), text.startswith("-"))

    def __str__(self) -> str:
        return f"{'-' if self.down else ''}{self.column}"

    def by(self, column: str) -> "Order":
        """Return the order that the head of a column leads to: the other way round where it is this one."""
        return Order(column, not self.down if column == self.column else column != "card")

    def of(self, lines: Iterable[CardLine]) -> tuple[CardLine, ...]:
        """Put lines in this order; what has no value, or one that says nothing, comes last."""
        value = COLUMNS[self.column]
        found = [(value(line), line) for line in lines]
        known = [(each, line) for each, line in found if each is not None]
        known.sort(key=lambda pair: pair[0], reverse=self.down)
        return (*(line for _, line in known), *(line for each, line in found if each is None))


@dataclass(frozen=True, slots=True)
class Axis:
    """The common axis of differences, from ``-end`` to ``end``, shares of one."""

    end: float

    def at(self, value: float) -> float:
        """Return where a difference lies, from 0 to 1000; what is beyond an end is put there."""
        return round(500 + 500 * max(-1, min(1, value / self.end)), 1)


def axis_of(figures: Iterable[Figures]) -> Axis:
    """Return the axis on which all intervals fit that say something."""
    ends = [
        max(-each.difference.low, each.difference.high)
        for each in figures
        if each.difference is not None and not each.few
    ]
    return Axis(max(1, ceil(_PERCENT * max(ends, default=0) / _STEP)) * _STEP / _PERCENT)


def top_of(table: CardTable) -> float:
    """Return the share at which bars of take rates end: tenths, above all that stand on enough decisions."""
    rates = [it.take_rate or 0 for line in table.cards for it in line.turns if it.seen >= FEW]
    return max(1, ceil(10 * max(rates, default=1))) / 10


def read_cards(reads: Reads, players: int | None) -> CardTable:
    """Read the statistics: of games of so many players, or of all."""
    counted = reads.cards(players)
    return table_of(counted.tally, players, first_game=counted.first)


def address(path: str, players: int | None, order: Order | None = None) -> str:
    """Return the address of a page of statistics, without what goes without saying."""
    asked: dict[str, str | int] = {"players": players} if players else {}
    if order not in {None, Order()}:
        asked["sort"] = str(order)
    return f"{path}?{urlencode(asked)}" if asked else path


def card_name(label: str) -> str:
    """Return what a kind of card is called."""
    return label.replace("_", " ").capitalize()


def number(value: int) -> str:
    """Write how many there are."""
    return f"{value:,}"


def share(value: float | None) -> str:
    """Write a share of one in tenths of per cents."""
    return fixed(None) if value is None else f"{fixed(value * _PERCENT, 1)}%"


def points(value: float) -> str:
    """Write a difference of shares in percentage points."""
    return signed(value * _PERCENT, 1)


def beside(card: str, table: CardTable) -> tuple[str | None, str | None]:
    """Return the kinds before and after a card, among those of which there is something to say."""
    kinds = [line.card for line in table.cards]
    place = kinds.index(card) if card in kinds else len(kinds)
    return kinds[place - 1] if place else None, kinds[place + 1] if place + 1 < len(kinds) else None


def by_turn(line: CardLine) -> str:
    """Say the take rates of a card, turn by turn."""
    rates = [f"{it.turn}: {share(it.take_rate)}" for it in line.turns if it.seen]
    return f"Taken by turn. {', '.join(rates)}" if rates else "Never seen"
