"""The log of a game: enough to play it again."""

from typing import NamedTuple

from arena.rules.cards import Card, Rules
from arena.rules.errors import InvalidRecord, RulesError
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
        state: After the last valid step.
        steps: How many steps were valid.
        stopped: Why the next step was not, or None at the end of the log.
    """

    state: State
    steps: int
    stopped: RulesError | None


def replay(log: GameLog) -> Replay:
    """Play a log again; stop before the first step that the rules forbid.

    Raises:
        InvalidRules: The deck is not that of the game.
    """
    state = new_game(log.rules, log.deck)
    for steps, moves in enumerate(log.moves):
        if state.over:
            return Replay(
                state, steps, InvalidRecord(f"{len(log.moves) - steps} steps after the end of the game")
            )
        try:
            state = apply(state, moves)
        except RulesError as error:
            return Replay(state, steps, error)
    return Replay(state, len(log.moves), None)
