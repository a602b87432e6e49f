"""The speed of the rules engine in random games, with all legal moves listed and every choice checked."""

import random
import time
from collections.abc import Sequence
from typing import NamedTuple

from arena.rules import (
    Card,
    GameLog,
    Move,
    Rules,
    apply,
    new_game,
    seats_to_move,
    shuffled_deck,
    view,
)


class Speed(NamedTuple):
    """Games per second on one core, without and with the shuffle."""

    without_shuffle: float
    with_shuffle: float


def measure_engine(players: int, games: int) -> Speed:
    """Play the same deals twice: from decks that were shuffled in advance, and from seeds."""
    rules = Rules(players=players)
    seeds = [number.to_bytes(16, "big") for number in range(games)]
    decks = [shuffled_deck(rules, seed) for seed in seeds]
    dice = random.Random(1)  # noqa: S311 - a benchmark's randomness is not secret
    begin = time.process_time()
    for deck in decks:
        play(rules, deck, dice)
    between = time.process_time()
    for seed in seeds:
        play(rules, shuffled_deck(rules, seed), dice)
    end = time.process_time()
    return Speed(games / (between - begin), games / (end - between))


def play(rules: Rules, deck: Sequence[Card], dice: random.Random) -> GameLog:
    """Play a game and return its log."""
    state = new_game(rules, deck)
    log: list[tuple[Move | None, ...]] = []
    while not state.over:
        moves: list[Move | None] = [None] * rules.players
        for seat in seats_to_move(state):
            legal = view(state, seat).legal_moves()
            moves[seat] = legal[int(dice.random() * len(legal))]
        log.append(tuple(moves))
        state = apply(state, moves)
    return GameLog(rules, state.deck, tuple(log))
