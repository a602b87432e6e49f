"""Statistics of cards, for everybody."""

from fastapi import APIRouter, Response

from arena.cardstats import CardTable
from arena.store import Reads
from web.api.routes import DataRouter
from web.cards import read_cards
from web.cardsheet import sheet
from web.reading import Players


def cards_api(reads: Reads) -> APIRouter:
    """Return the route of the statistics of cards."""
    router = DataRouter("cards")

    @router.get("/cards")
    def cards(players: Players = None) -> CardTable:
        """Say what cards are taken, when, and how the games of those who take them end.

        In games of so many players, or in all. Shares and rates are from 0 to 1, intervals at 95 %.
        """
        return read_cards(reads, players)

    return router


def card_sheet(reads: Reads) -> APIRouter:
    """Return the route of the same numbers as a sheet, which stands beside the pages."""
    router = APIRouter()

    @router.api_route("/cards.csv", methods=["GET", "HEAD"])
    def card_csv(players: Players = None) -> Response:
        name = f"cards-{players}-players.csv" if players else "cards.csv"
        return Response(
            sheet(read_cards(reads, players)),
            media_type="text/csv; charset=utf-8; header=present",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )

    return router
