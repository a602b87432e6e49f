"""The bot library.

A bot is a function that receives a :class:`View` and returns what to play::

    from arena.sdk import View, Card, run

    def choose(view: View) -> Card:
        return view.hand[0]

    if __name__ == "__main__":
        run(choose)

A bot with a memory is a class with a method ``choose``. Every game gets a new
instance. To try out bots, use :func:`play`: it plays a game in this process.
"""

from arena.rules import (
    DECK_COUNTS,
    ROUNDS,
    Card,
    Hand,
    Move,
    Play,
    Result,
    RoundScore,
    Rules,
    Table,
    Turn,
    View,
    score_nigiri,
    score_puddings,
    score_round,
)
from arena.sdk.bot import Answer, Choice, GameOver, Player
from arena.sdk.helpers import direction, known_hands, unseen_cards
from arena.sdk.main import play, run

__all__ = [
    "DECK_COUNTS",
    "ROUNDS",
    "Answer",
    "Card",
    "Choice",
    "GameOver",
    "Hand",
    "Move",
    "Play",
    "Player",
    "Result",
    "RoundScore",
    "Rules",
    "Table",
    "Turn",
    "View",
    "direction",
    "known_hands",
    "play",
    "run",
    "score_nigiri",
    "score_puddings",
    "score_round",
    "unseen_cards",
]
