"""Up to four bots side by side: figures, rating curves, head to head, and the cards that they take."""

from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request, Response

from arena.db.histories import Meeting
from arena.db.store import Store
from arena.ladder.card_table import CardHabit
from arena.protocol.documents import Row
from arena.rules import Card
from web.bots.curve import SharedPlot, draw_together
from web.bots.history import Habits, read_habits
from web.cards import card_name
from web.http.rendering import PageRouter, page
from web.leaderboard.standings import Boards, Wanted

MOST_COMPARED: Final = 4
_SUGGESTED: Final = 50

Names = Annotated[
    list[str], Query(max_length=MOST_COMPARED, description="Names of bots, together or separated by commas.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedBot:
    """A bot of the comparison; ``row`` is None if it isn't on the leaderboard."""

    name: str
    row: Row | None
    habits: Habits

    def habit(self, card: str) -> CardHabit | None:
        """Return how often the bot takes a kind of card, or None if it never had one."""
        return next((each for each in self.habits.cards if each.card == card), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """The contents of the page. ``missing`` are names that no bot has."""

    bots: tuple[ComparedBot, ...]
    missing: tuple[str, ...]
    plot: SharedPlot | None
    meetings: dict[tuple[str, str], Meeting]  # by names; pairs that never met are missing


def read_comparison(store: Store, boards: Boards, names: list[str]) -> SideBySide:
    """Read the page of these bots, at most ``MOST_COMPARED`` of them."""
    known = [name for name in names if store.bots.find(name) is not None]
    return SideBySide(
        bots=tuple(
            ComparedBot(name=name, row=boards.find(name)[0], habits=read_habits(store, name))
            for name in known
        ),
        missing=tuple(name for name in names if name not in known),
        plot=draw_together([store.histories.curve(name) for name in known]),
        meetings={pair: met for pair, met in store.histories.meetings(known).items() if met.games},
    )


def typed_names(texts: list[str]) -> list[str]:
    """Return the names in fields or lists with commas, each once, at most ``MOST_COMPARED``."""
    names = [name.strip() for text in texts for name in text.split(",")]
    return list(dict.fromkeys(name for name in names if name))[:MOST_COMPARED]


def compare_pages(store: Store, boards: Boards) -> APIRouter:
    """Return the route of the comparison."""
    router = PageRouter()

    @router.get("/compare")
    def compare(request: Request, bots: Names = []) -> Response:  # noqa: B006 - FastAPI copies defaults
        names = typed_names(bots)
        return page(
            request,
            "compare.html",
            names=names,
            most=MOST_COMPARED,
            shown=read_comparison(store, boards, names),
            suggested=[row.bot for row in boards.board(Wanted(limit=_SUGGESTED)).rows],
            cards=[card.label for card in Card],
            card_name=card_name,
        )

    return router
