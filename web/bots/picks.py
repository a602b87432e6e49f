"""A bot's first picks: what it takes from the first hand of a round."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import APIRouter, HTTPException, Query, Request, Response

from arena.db.histories import RecordedGame
from arena.db.store import Store
from arena.protocol.match import played_again
from arena.rules import Card
from web.http.parameters import BotName, read_bot
from web.http.rendering import PageRouter, page

GAMES: Final = 100
"""Number of a bot's latest games to read. Reading them takes about 0.1 s."""

_SHOWN: Final = 20

HeldCards = Annotated[
    list[str],
    Query(alias="with", max_length=len(Card), description="Kinds of cards that the hand must contain."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstPick:
    """A bot's pick from the first hand of a round."""

    game: RecordedGame
    round: int  # from 1
    hand: tuple[Card, ...]  # sorted by kind
    taken: Card


@dataclass(frozen=True, slots=True, kw_only=True)
class PickLine:
    """How many hands contained a kind of card, and in how many of these the bot took it."""

    card: Card
    hands: int
    taken: int
    fair: float  # expected value of `taken` if each card in a hand were equally likely to be picked


def first_picks(game: RecordedGame) -> Iterator[FirstPick]:
    """Yield the bot's own picks from first hands, but not those of the stand-in."""
    played = played_again(game.rules, game.record)
    for before, after, step in zip(played.states, played.states[1:], game.record.steps, strict=False):
        decision = step[game.seat]
        if before.turn == 1 and decision is not None and not decision.standin:
            (taken, *_) = after.turns[-1].plays[game.seat]
            yield FirstPick(
                game=game,
                round=before.round,
                hand=tuple(sorted(before.hands[game.seat])),
                taken=taken,
            )


def pick_lines(picks: list[FirstPick]) -> tuple[PickLine, ...]:
    """Count hands and picks by kind of card.

    The lines are sorted by the share of hands in which the bot took the card, largest first.
    """
    hands = Counter(card for pick in picks for card in set(pick.hand))
    taken = Counter(pick.taken for pick in picks)
    fair: defaultdict[Card, float] = defaultdict(float)
    for pick in picks:
        for card in pick.hand:
            fair[card] += 1 / len(pick.hand)
    lines = [PickLine(card=card, hands=hands[card], taken=taken[card], fair=fair[card]) for card in hands]
    return tuple(sorted(lines, key=lambda line: (-line.taken / line.hands, line.card)))


def pick_pages(store: Store) -> APIRouter:
    """Return the route."""
    router = PageRouter()

    @router.get("/bots/{bot}/picks")
    def picks(request: Request, bot: BotName, held: HeldCards = []) -> Response:  # noqa: B006 - FastAPI copies defaults
        known = read_bot(store.bots, bot)
        try:
            wanted = {Card.from_label(label) for label in held}
        except ValueError as error:
            raise HTTPException(422, f"{error}.") from error
        games = store.histories.records(bot, GAMES)
        found = [pick for game in games for pick in first_picks(game) if wanted <= set(pick.hand)]
        return page(
            request,
            "picks.html",
            bot=known,
            games=len(games),
            hands=len(found),
            lines=pick_lines(found),
            newest=found[:_SHOWN],
            wanted=wanted,
            cards=tuple(Card),
        )

    return router
