"""The game of Sushi Go! for 2 to 5 players, with three variants.

    state = new_game(rules, shuffled_deck(rules, seed))
    while not state.over:
        moves = [choose(view(state, seat)) if seat in seats_to_move(state) else None for seat in ...]
        state = apply(state, moves)

This package implements docs/rules.md. Clocks, faults, files and networks are outside its scope.
"""

from arena.rules.cards import (
    DECK_COUNTS,
    PLAYER_COUNTS,
    ROUNDS,
    SEED_BYTES,
    SHUFFLE,
    VARIANTS,
    Card,
    Hand,
    IllegalMove,
    InvalidRules,
    Rules,
    Table,
    shuffled_deck,
    simulation_seed,
    unshuffled_deck,
)
from arena.rules.play import GameLog, Replay, apply, deals, moments, new_game, replay, seats_to_move
from arena.rules.scoring import RoundScore, colours, places, score_nigiri, score_puddings, score_round
from arena.rules.state import Moment, Move, Play, Result, State, Turn, check_move, legal_moves
from arena.rules.view import HeldCards, Knowledge, Memory, View, knowledge, seat_view, unplayed_cards, view

__all__ = [
    "DECK_COUNTS",
    "PLAYER_COUNTS",
    "ROUNDS",
    "SEED_BYTES",
    "SHUFFLE",
    "VARIANTS",
    "Card",
    "GameLog",
    "Hand",
    "HeldCards",
    "IllegalMove",
    "InvalidRules",
    "Knowledge",
    "Memory",
    "Moment",
    "Move",
    "Play",
    "Replay",
    "Result",
    "RoundScore",
    "Rules",
    "State",
    "Table",
    "Turn",
    "View",
    "apply",
    "check_move",
    "colours",
    "deals",
    "knowledge",
    "legal_moves",
    "moments",
    "new_game",
    "places",
    "replay",
    "score_nigiri",
    "score_puddings",
    "score_round",
    "seat_view",
    "seats_to_move",
    "shuffled_deck",
    "simulation_seed",
    "unplayed_cards",
    "unshuffled_deck",
    "view",
]
