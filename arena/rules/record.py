"""The log of a game: enough to play it again."""

from typing import NamedTuple

from arena.rules.cards import Card, Rules
from arena.rules.errors import InvalidRecord
from arena.rules.play import apply, new_game
from arena.rules.state import Move, State


class GameLog(NamedTuple):
    """A game as a function of its inputs.

    Attributes:
        rules: What was played.
        deck: All cards in deal order.
        moves: The joint decisions in order, each with one entry a seat, None
            for a seat that was not asked.
    """

    rules: Rules
    deck: tuple[Card, ...]
    moves: tuple[tuple[Move | None, ...], ...]


class Replay(NamedTuple):
    """A log played again, as far as the rules allow.

    Attributes:
        states: From the deal to after the last valid step.
        stopped: Why the next step was not valid, or None at the end of the log.
    """

    states: tuple[State, ...]
    stopped: ValueError | None

    @property
    def state(self) -> State:
        """After the last valid step."""
        return self.states[-1]


def replay(log: GameLog) -> Replay:
    """Play a log again; stop before the first step that the rules forbid.

    Raises:
        InvalidRules: The deck is not that of the game.
    """
    states = [new_game(log.rules, log.deck)]
    for moves in log.moves:
        if states[-1].over:
            extra = len(log.moves) - len(states) + 1
            return Replay(tuple(states), InvalidRecord(f"{extra} steps after the end of the game"))
        try:
            states.append(apply(states[-1], moves))
        except ValueError as error:
            return Replay(tuple(states), error)
    return Replay(tuple(states), None)
