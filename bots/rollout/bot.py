"""Simulates its best moves: many times, deals the unseen cards at random and finishes the round.

Cards known to be in a hand that it has passed on are always dealt to that hand. In its quick playouts, all
players follow the same simple rules. Its strength comes from trying all candidates with the same deals.
"""

from random import Random, random

from arena.sdk import Move, View, run
from arena.sdk.search import World, decode, playout, promise, simple_move, values, worlds

PLAYOUTS = 360
"""Playouts per decision, shared among the candidates."""
CANDIDATES = 8


class Bot:
    """Plays one game. Because the bot is a class, its slow decisions are requested one game at a time."""

    def choose(self, view: View) -> Move:
        """Return the move that did best in playouts."""
        deal, rng = worlds(view), Random(random())
        world = deal(rng)
        moves = sorted(
            world.moves(view.seat), key=lambda move: promise(world, view.seat, move), reverse=True
        )[:CANDIDATES]
        rounds = max(1, (len(moves) - 1).bit_length())
        totals = dict.fromkeys(moves, 0.0)
        for _ in range(rounds):
            # Halving: each round spends as many playouts as the previous one, but on half as many moves.
            for _ in range(max(1, PLAYOUTS // rounds // len(moves))):
                world = deal(rng)
                for move in moves:
                    totals[move] += value_of(move, view.seat, world.copy(), rng)
            moves = sorted(moves, key=lambda move: -totals[move])[: (len(moves) + 1) // 2]
        return decode(moves[0])


def value_of(move: int, seat: int, world: World, rng: Random) -> float:
    """Play a move, finish the round, and return its value for the seat."""
    others = range(len(world.hands))
    world.step([move if other == seat else simple_move(world, other, rng) for other in others])
    playout(world, rng)
    return values(world)[seat]


if __name__ == "__main__":
    run(Bot)
