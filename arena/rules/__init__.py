"""The game of Sushi Go!, pure: 2 to 5 players and three variants.

    state = new_game(rules, shuffled_deck(rules, seed))
    while not state.over:
        moves = [choose(view(state, seat)) if seat in asked(state) else None for seat in ...]
        state = apply(state, moves)

Nothing here knows of clocks, faults, files or networks. docs/rules.md is the
text that this package implements.
"""

from arena.rules.cards import DECK_COUNTS, ROUNDS, Card, Hand, Rules, Table, unshuffled_deck
from arena.rules.errors import IllegalMove, InvalidRecord, InvalidRules, RulesError
from arena.rules.moves import check_move, legal_moves
from arena.rules.play import apply, asked, deals, new_game
from arena.rules.record import GameLog, Replay, replay
from arena.rules.scoring import RoundScore, places, score_nigiri, score_puddings, score_round
from arena.rules.shuffle import SEED_BYTES, SHUFFLE, shuffled_deck, simulation_seed
from arena.rules.state import Move, Play, Result, State, Turn
from arena.rules.view import View, view

__all__ = [
    "DECK_COUNTS",
    "ROUNDS",
    "SEED_BYTES",
    "SHUFFLE",
    "Card",
    "GameLog",
    "Hand",
    "IllegalMove",
    "InvalidRecord",
    "InvalidRules",
    "Move",
    "Play",
    "Replay",
    "Result",
    "RoundScore",
    "Rules",
    "RulesError",
    "State",
    "Table",
    "Turn",
    "View",
    "apply",
    "asked",
    "check_move",
    "deals",
    "legal_moves",
    "new_game",
    "places",
    "replay",
    "score_nigiri",
    "score_puddings",
    "score_round",
    "shuffled_deck",
    "simulation_seed",
    "unshuffled_deck",
    "view",
]
