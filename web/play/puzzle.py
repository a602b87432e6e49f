"""The puzzle of the day: a real decision to make, and the analyst's answer."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Final

from fastapi import APIRouter, HTTPException, Query, Request, Response

from arena.db.analyses import KnownPuzzle, Puzzles
from arena.play.replay.document import PublicReplay, parse
from arena.play.replay.verify import decisions
from arena.rules import View
from web.http.rendering import PageRouter, page
from web.play.table import TableView, seated, table_view

_EARLIER: Final = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPuzzle:
    """A puzzle, laid out."""

    known: KnownPuzzle
    player: tuple[str, int]  # name and version of the bot that had to choose
    table: TableView


def lay_out_puzzle(known: KnownPuzzle) -> ShownPuzzle:
    """Lay out a puzzle."""
    decision, replay = known.decision, parse(known.replay)
    player = replay.seats[decision.seat]
    view = _view(replay, decision.round, decision.turn, decision.seat)
    bots = [(seat.bot, seat.version) if seat is not player else None for seat in replay.seats]
    return ShownPuzzle(
        known=known,
        player=(player.bot, player.version),
        table=table_view(seated(tuple(bots), dummy=replay.rules.dummy), view),
    )


def _view(replay: PublicReplay, round_number: int, turn: int, seat: int) -> View:
    views = (each.view for each in decisions(replay))
    return next(view for view in views if (view.round, view.turn, view.seat) == (round_number, turn, seat))


def newest_puzzle(puzzles: Puzzles, today: date) -> KnownPuzzle | None:
    """Return today's puzzle or the latest earlier one; None if there are no puzzles."""
    days = puzzles.newest(today, 1)
    return puzzles.find(days[0]) if days else None


def puzzle_pages(puzzles: Puzzles, now: Callable[[], datetime]) -> APIRouter:
    """Return the routes."""
    router = PageRouter(prefix="/puzzle")

    @router.get("")
    def newest(request: Request) -> Response:
        known = newest_puzzle(puzzles, now().date())
        return page(request, "puzzle_none.html") if known is None else answer(request, known, None)

    @router.get("/{day}")
    def of_day(
        request: Request, day: date, card: Annotated[str | None, Query(max_length=20)] = None
    ) -> Response:
        """Show a puzzle, with the answer if a card was chosen.

        ``day`` is in UTC; ``card`` is the kind that the visitor would take.
        """
        known = puzzles.find(day) if day <= now().date() else None
        if known is None:
            raise HTTPException(404, "There is no puzzle for this day. The latest is at /puzzle.")
        return answer(request, known, card)

    def answer(request: Request, known: KnownPuzzle, card: str | None) -> Response:
        shown = lay_out_puzzle(known)
        chosen = None
        if card is not None:
            options = [option.cards for option in known.decision.options]
            if (card,) not in options:
                raise HTTPException(422, "This card isn't in the hand. Go back and choose another.")
            chosen = options.index((card,))
        return page(
            request,
            "puzzle.html",
            puzzle=shown,
            chosen=chosen,
            title=f"Puzzle of {known.day.isoformat()}",
            earlier=[day for day in puzzles.newest(now().date(), _EARLIER) if day != known.day],
        )

    return router
