"""Statistics of cards: all of them, one of them turn by turn, and what each number means."""

from typing import Annotated, Final

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request, Response
from fastapi.responses import HTMLResponse

from arena.cardstats import FEW
from arena.rules import DECK_COUNTS, Card
from arena.store import Reads
from web import cards
from web.caller import Callers
from web.cards import ORDER_PATTERN, Order, axis_of, read_cards
from web.reading import Players
from web.rendering import page

_METHODS: Final = ["GET", "HEAD"]

Sort = Annotated[str, Query(pattern=ORDER_PATTERN)]
Kind = Annotated[str, Path(pattern=r"^[a-z0-9_]{1,20}$")]


def card_pages(reads: Reads, callers: Callers) -> APIRouter:
    """Return the routes of the statistics of cards, which everybody may see."""
    router = APIRouter(default_response_class=HTMLResponse, dependencies=[Depends(callers.note)])

    @router.api_route("/cards", methods=_METHODS)
    def all_cards(request: Request, players: Players = None, sort: Sort = "card") -> Response:
        table, order = read_cards(reads, players), Order.read(sort)
        return page(
            request,
            "cards.html",
            table=table,
            order=order,
            lines=order.of(table.cards),
            axis=axis_of(line.total for line in table.cards),
            top=cards.top_of(table),
            words=cards,
            FEW=FEW,
        )

    @router.api_route("/cards/definitions", methods=_METHODS)
    def definitions(request: Request) -> Response:
        return page(request, "card_definitions.html", FEW=FEW)

    @router.api_route("/cards/{card}", methods=_METHODS)
    def one_card(request: Request, card: Kind, players: Players = None) -> Response:
        kind = _kind(card)
        table = read_cards(reads, players)
        line = next((line for line in table.cards if line.card == kind.label), None)
        return page(
            request,
            "card.html",
            table=table,
            card=kind.label,
            copies=DECK_COUNTS[kind],
            line=line,
            axis=axis_of(line.turns if line else ()),
            beside=cards.beside(kind.label, table),
            words=cards,
            FEW=FEW,
        )

    return router


def _kind(label: str) -> Card:
    try:
        return Card.from_label(label)
    except ValueError as error:
        raise HTTPException(404, "There is no such card.") from error
