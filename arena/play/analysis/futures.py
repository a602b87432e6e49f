"""Samples the rounds after the current one, to evaluate final positions of the current round."""

from collections.abc import Sequence
from random import Random
from typing import Final, NamedTuple

from arena.rules import ROUNDS, Rules, State, score_puddings, unplayed_cards
from arena.rules.state import seat_in_control
from arena.rules.view import seat_view
from arena.sdk.search import TABLE_SIZE, World, playout

NOISE: Final = 0.3
"""Probability of a random card in playouts. With 0.1, the chances in round 3 are too extreme."""
_FUTURES: Final = 400
_FUTURES_PER_POSITION: Final = 6
"""Number of futures combined with each final position of a round. They are cheaper than more playouts."""


class Future(NamedTuple):
    """Points and puddings from later rounds; one entry per participant."""

    points: tuple[int, ...]
    puddings: tuple[int, ...]


class Futures:
    """Samples of the rounds after a given round, in which all seats use the same strategy."""

    def __init__(self, state: State, rng: Random) -> None:
        """Deal and play samples of the rounds after the current round of ``state``.

        Cards placed in earlier rounds are not dealt again. Cards from the current round can be dealt again,
        because no seat sees all of them.
        """
        self._rules = state.rules
        self._samples = [_empty_future(state.rules)]
        if state.round < ROUNDS:
            earlier = [turn for turn in state.turns if turn.round < state.round]
            left = [int(card) for card in unplayed_cards(state.rules, earlier).elements()]
            self._samples = [_future(state, left, rng) for _ in range(_FUTURES)]

    def draw(self, rng: Random) -> Sequence[Future]:
        """Draw some of the samples for one final position of a round."""
        if len(self._samples) == 1:
            return self._samples
        return [self._samples[int(rng.random() * len(self._samples))] for _ in range(_FUTURES_PER_POSITION)]

    def outlooks(self, world: World, drawn: Sequence[Future]) -> tuple[list[float], list[float]]:
        """Return each player's chance and points in a round's final position, averaged over the futures."""
        totals, puddings, players = world.totals(), world.puddings(), self._rules.players
        chances, points = [0.0] * players, [0.0] * players
        for future in drawn:
            all_puddings = [a + b for a, b in zip(puddings, future.puddings, strict=True)]
            extra = score_puddings(self._rules, all_puddings)
            ends = [a + b + c for a, b, c in zip(totals, future.points, extra, strict=True)]
            ranks = [(ends[seat], all_puddings[seat]) for seat in range(players)]
            best = max(ranks)
            share = 1.0 / ranks.count(best)
            for seat in range(players):
                points[seat] += ends[seat]
                if ranks[seat] == best:
                    chances[seat] += share
        count = len(drawn)
        return [chance / count for chance in chances], [sum_ / count for sum_ in points]


def _empty_future(rules: Rules) -> Future:
    nothing = (0,) * rules.participants
    return Future(nothing, nothing)


def _future(state: State, left: list[int], rng: Random) -> Future:
    """Deal the rounds after a state's current round, and play them with simple players."""
    rules = state.rules
    size, count = rules.hand_size, rules.participants
    cards = iter(rng.sample(left, (ROUNDS - state.round) * size * count))
    total = _empty_future(rules)
    for number in range(state.round + 1, ROUNDS + 1):
        hands = [[next(cards) for _ in range(size)] for _ in range(count)]
        world = _new_round(state, number, hands)
        playout(world, rng, NOISE)
        total = Future(
            tuple([a + b for a, b in zip(total.points, world.totals(), strict=True)]),
            tuple([a + b for a, b in zip(total.puddings, world.puddings(), strict=True)]),
        )
    return total


def _new_round(state: State, number: int, hands: list[list[int]]) -> World:
    """Return a world at the start of a round, as if nothing had been played before."""
    rules = state.rules
    nothing = (0,) * rules.participants
    start = seat_view(state, 0)._replace(
        round=number,
        turn=1,
        control=rules.dummy and seat_in_control(rules, number, 1) == 0,
        scores=nothing,
        puddings=nothing,
    )
    pile = hands.pop() if rules.dummy else []
    world = World(start, hands, [[0] * TABLE_SIZE for _ in range(rules.participants)], pile)
    if pile:
        world.hands[world.controller].append(pile.pop())
    return world
