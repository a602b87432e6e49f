"""Searches a tree of joint moves, with a new deal of the hidden cards per iteration.

This is decoupled UCT: at every node each seat picks its move by its own upper confidence bounds, because all
seats choose at the same time. A node contains only public information, so all deals that can reach it share
it.
"""

from math import log, sqrt
from random import Random, random

from arena.sdk import Move, View, run
from arena.sdk.search import COMBINED, World, decode, playout, promise, values, worlds

ITERATIONS = 1000
"""Iterations per decision."""
EXPLORATION = 0.7
NOISE = 0.15
"""Probability that a playout's simple player takes a random card."""
PAIRS = 5
"""Number of moves with two cards to search, starting with the most promising."""
DUMMY_PAIRS = 10
"""The same limit for moves with a card for the dummy."""


class Node:
    """A node of the tree."""

    __slots__ = ("children", "tried", "visits")

    def __init__(self, players: int) -> None:
        self.visits = 0
        # Per seat, by move: number of tries and sum of values.
        self.tried: list[dict[int, list[float]]] = [{} for _ in range(players)]
        self.children: dict[tuple[int, ...], Node] = {}


class Bot:
    """Plays one game. Because the bot is a class, its slow decisions are requested one game at a time."""

    def choose(self, view: View) -> Move:
        """Return the move that was tried most."""
        deal, rng = worlds(view), Random(random())
        root = Node(view.rules.players)
        for _ in range(ITERATIONS):
            search(root, deal(rng), rng)
        tried = root.tried[view.seat]
        return decode(max(tried, key=lambda move: tried[move][0]))


def search(root: Node, world: World, rng: Random) -> None:
    """Descend the tree to a new node, finish the round, and record the result at every node on the path."""
    node, path = root, []
    seats = range(len(world.hands))
    while world.turns:
        moves = tuple([pick(node, world, seat) for seat in seats])
        path.append((node, moves))
        world.step(moves)
        if moves not in node.children:
            node.children[moves] = Node(len(seats))
            break
        node = node.children[moves]
    playout(world, rng, NOISE)
    ends = values(world)
    for node, moves in path:
        node.visits += 1
        for tried, move, value in zip(node.tried, moves, ends, strict=True):
            counted = tried[move]
            counted[0] += 1
            counted[1] += value


def pick(node: Node, world: World, seat: int) -> int:
    """Return the move with the highest upper confidence bound. Untried moves come first, by estimate."""
    tried = node.tried[seat]
    moves = promising(world, seat)
    new = [move for move in moves if move not in tried]
    if new:
        move = max(new, key=lambda move: promise(world, seat, move))
        tried[move] = [0, 0.0]
        return move
    reach = EXPLORATION * sqrt(log(node.visits + 1))

    def bound(move: int) -> float:
        times, value = tried[move]
        return (value + reach * sqrt(times)) / times

    return max(moves, key=bound)


def promising(world: World, seat: int) -> list[int]:
    """Return a seat's moves with a single card, and the best of the others."""
    moves = world.moves(seat)
    single = [move for move in moves if move < COMBINED]
    if len(single) == len(moves):
        return moves
    combined = [move for move in moves if move >= COMBINED]
    combined.sort(key=lambda move: promise(world, seat, move), reverse=True)
    return single + combined[: PAIRS if single else DUMMY_PAIRS]


if __name__ == "__main__":
    run(Bot)
