"""The page that compares bots."""

from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request, Response

from arena.db.store import Store
from arena.ladder.card_table import CardHabit
from arena.ladder.standings import BoardQuery
from arena.protocol.leaderboard import Row
from arena.rules import Card
from web.bots.curve import draw_together
from web.bots.history import Habits, read_habits
from web.http.rendering import PageRouter, page, visible
from web.leaderboard.cache import Boards

MAX_COMPARED: Final = 4
_SUGGESTED: Final = 50

Names = Annotated[
    list[str],
    Query(max_length=MAX_COMPARED, description="Names of bots, one per parameter or comma-separated."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedBot:
    """A bot in the comparison; ``row`` is None if it isn't on the leaderboard."""

    name: str
    row: Row | None
    habits: Habits

    def habit(self, card: str) -> CardHabit | None:
        """Return how often the bot takes a kind of card, or None if it never had one in hand."""
        return next((each for each in self.habits.cards if each.card == card), None)


def comparison_page(store: Store, boards: Boards) -> APIRouter:
    """Return the route for the comparison."""
    router = PageRouter()

    @router.get("/compare")
    def compare(request: Request, bots: Names = []) -> Response:  # noqa: B006 - FastAPI copies defaults
        typed = _parse_names(bots)
        found = {name: store.bots.find_in_any_case(name) for name in typed[:MAX_COMPARED]}
        known = list(dict.fromkeys(bot.name for bot in found.values() if bot is not None))
        compared = [
            ComparedBot(name=name, row=boards.find(name)[0], habits=read_habits(store, name))
            for name in known
        ]
        had = {habit.card for each in compared for habit in each.habits.cards}
        return page(
            request,
            "compare.html",
            names=[name if bot is None else bot.name for name, bot in found.items()],
            left_out=typed[MAX_COMPARED:],
            max_bots=MAX_COMPARED,
            bots=compared,
            missing=[name for name, bot in found.items() if bot is None],
            plot=draw_together([store.histories.curve(name) for name in known]),
            meetings={pair: met for pair, met in store.histories.meetings(known).items() if met.games},
            suggested=[row.bot for row in boards.board(BoardQuery(limit=_SUGGESTED)).rows],
            cards=[card.label for card in Card if card.label in had],
        )

    return router


def _parse_names(texts: list[str]) -> list[str]:
    """Return the distinct names in comma-separated lists; unprintable characters are escaped."""
    # Escaped, because PostgreSQL rejects NUL.
    names = [visible(name.strip()) for text in texts for name in text.split(",")]
    return list(dict.fromkeys(name for name in names if name))
