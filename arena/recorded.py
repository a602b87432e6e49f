"""A recorded game, played again by the rules. Pure."""

from arena.match import Decision, GameRecord
from arena.rules import Card, GameLog, Move, Replay, Rules, replay, shuffled_deck


def played_again(rules: Rules, game: GameRecord) -> Replay:
    """Play a record again, as far as the rules allow.

    Returns:
        The states of the game: each step of the record begins in the one of the same index.

    Raises:
        ValueError: The record names a card that there is not.
    """
    moves = tuple(
        tuple([None if decision is None else move_of(decision) for decision in step]) for step in game.steps
    )
    return replay(GameLog(rules, shuffled_deck(rules, bytes.fromhex(game.seed)), moves))


def move_of(decision: Decision) -> Move:
    """Return the move of a decision.

    Raises:
        ValueError: It names a card that there is not.
    """
    cards = tuple([Card.from_label(label) for label in decision.cards])
    return Move(cards, None if decision.dummy is None else Card.from_label(decision.dummy))
