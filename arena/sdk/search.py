"""Look-ahead search for bots: deal the hidden cards, then play out the round as often as you like.

    deal = worlds(view)
    world = deal(rng)                    # one possible deal of the hidden cards
    world.moves(seat)                    # what a seat may play, as integers
    world.step([move, ...])              # one move for each seat; then the hands are passed
    playout(world, rng)                  # simple players finish the round
    values(world)                        # value of the final position for each seat

A step changes the world in place without keeping a history, and cards and moves are integers. A step
therefore takes only a fraction of the time that :func:`arena.rules.apply` takes. Tests check that the two
agree in every variant.
"""

from collections.abc import Callable, Sequence
from math import tanh
from random import Random
from typing import Final

from arena.rules import Card, Move, View, knowledge, score_puddings
from arena.rules.cards import NIGIRI_POINTS
from arena.rules.scoring import DUMPLING_POINTS, score_maki, score_soy_sauce

_TEMPURA: Final = int(Card.TEMPURA)
_SASHIMI: Final = int(Card.SASHIMI)
_DUMPLING: Final = int(Card.DUMPLING)
_MAKI: Final = int(Card.MAKI_1)
_PUDDING: Final = int(Card.PUDDING)
_WASABI: Final = int(Card.WASABI)
_CHOPSTICKS: Final = int(Card.CHOPSTICKS)

FREE_WASABI: Final = len(Card) + 1
NIGIRI: Final = len(Card) + 2
TABLE_SIZE: Final = len(Card) + 3
"""Number of entries for a player's table: see :attr:`World.tables`."""

_POINTS: Final = [0] * TABLE_SIZE
for _card, _points in NIGIRI_POINTS.items():
    _POINTS[_card] = _points

COMBINED: Final = 16
"""Moves below this number are a single card, with no card for the dummy."""

_FIRST: Final = 15
_SECOND: Final = 4
_DUMMY: Final = 8


def encode(move: Move) -> int:
    """Return a move as an integer: first card + 16 * second card + 256 * dummy's card, with 0 for no card."""
    first, *second = move.cards
    return first | (second[0] if second else 0) << _SECOND | (move.dummy or 0) << _DUMMY


def decode(code: int) -> Move:
    """Return the move that :func:`encode` encoded as this integer."""
    second, dummy = code >> _SECOND & _FIRST, code >> _DUMMY
    first = Card(code & _FIRST)
    return Move((first, Card(second)) if second else (first,), Card(dummy) if dummy else None)


class World:
    """The rest of a round, with all cards known."""

    __slots__ = ("_step", "controller", "hands", "pile", "tables", "turns", "view")

    def __init__(self, view: View, hands: list[list[int]], tables: list[list[int]], pile: list[int]) -> None:
        self.view = view  # the decision that the world continues from
        self._step = view.rules.direction(view.round)
        self.pile = pile  # the cards of the dummy's pile, the next one last
        # A list of cards for each player. The hand of the player in control of the dummy includes the drawn
        # card.
        self.hands = hands
        # A list for each participant. The entry at a kind's index is the number of cards of that kind. The
        # entry at `FREE_WASABI` is the number of wasabi without a nigiri, and at `NIGIRI` the points of all
        # nigiri.
        self.tables = tables
        # Number of turns left, including the automatic last one.
        self.turns = view.rules.turns - view.turn + 1
        self.controller = -1  # the seat in control of the dummy; -1 without a dummy
        if view.rules.dummy:
            self.controller = view.seat if view.control else 1 - view.seat

    def copy(self) -> "World":
        """Return an independent copy."""
        other: World = object.__new__(World)
        other.view = self.view
        other._step = self._step
        other.pile = self.pile[:]
        other.hands = [hand[:] for hand in self.hands]
        other.tables = [table[:] for table in self.tables]
        other.turns = self.turns
        other.controller = self.controller
        return other

    def moves(self, seat: int) -> list[int]:
        """Return a seat's legal moves, with only one order of two cards if the order can't matter."""
        hand = self.hands[seat]
        control = seat == self.controller
        kinds = list(dict.fromkeys(hand))
        table = self.tables[seat]
        moves = kinds
        if table[_CHOPSTICKS] and len(hand) >= 2 + control:
            moves = kinds + [
                first | second << _SECOND
                for first in kinds
                for second in kinds
                if first < second
                or (first == second and hand.count(first) > 1)
                or (first > second and _order_matters(first, second, table))
            ]
        if not control:
            return moves
        return [
            move | card << _DUMMY
            for move in moves
            for card in kinds
            if hand.count(card) > (card == move & _FIRST) + (card == move >> _SECOND)
        ]

    def step(self, moves: Sequence[int]) -> None:
        """Play one move for each seat, pass the hands and, with a dummy, draw for the next turn.

        The moves must be legal. The last card of a hand is a move like any other.
        """
        hands, tables = self.hands, self.tables
        for seat, move in enumerate(moves):
            hand, table = hands[seat], tables[seat]
            if move > _FIRST:
                self._step_with_more(move, hand, table)
                continue
            hand.remove(move)
            _place(table, move)
        step = self._step
        self.hands = hands[-step:] + hands[:-step]
        self.turns -= 1
        if self.controller >= 0:
            self.controller = 1 - self.controller
            if self.pile:
                self.hands[self.controller].append(self.pile.pop())

    def _step_with_more(self, move: int, hand: list[int], table: list[int]) -> None:
        """Play a move with a second card or a card for the dummy."""
        first, second, dummy = move & _FIRST, move >> _SECOND & _FIRST, move >> _DUMMY
        hand.remove(first)
        _place(table, first)
        if second:
            hand.remove(second)
            _place(table, second)
            table[_CHOPSTICKS] -= 1
            hand.append(_CHOPSTICKS)
        if dummy:
            hand.remove(dummy)
            _place(self.tables[-1], dummy)

    def totals(self) -> list[int]:
        """Return every participant's points if the round ended now, without points for puddings."""
        tables = self.tables
        maki = score_maki([table[_MAKI] + 2 * table[_MAKI + 1] + 3 * table[_MAKI + 2] for table in tables])
        totals = [
            before
            + table[_TEMPURA] // 2 * 5
            + table[_SASHIMI] // 3 * 10
            + DUMPLING_POINTS[min(table[_DUMPLING], 5)]
            + icons
            + table[NIGIRI]
            for before, table, icons in zip(self.view.scores, tables, maki, strict=True)
        ]
        if not self.view.rules.soy_sauce:
            return totals
        soy_sauce = score_soy_sauce([tuple(card for card in Card if table[card]) for table in tables])
        return [points + more for points, more in zip(totals, soy_sauce, strict=True)]

    def puddings(self) -> list[int]:
        """Return every participant's puddings so far in the game."""
        return [kept + table[_PUDDING] for kept, table in zip(self.view.puddings, self.tables, strict=True)]


def _order_matters(first: int, second: int, table: list[int]) -> bool:
    """Return True if two cards may be worth more in this order than in the other."""
    return bool(_POINTS[second]) and (first == _WASABI or (bool(_POINTS[first]) and table[FREE_WASABI] == 1))


def _place(table: list[int], card: int) -> None:
    table[card] += 1
    if points := _POINTS[card]:
        if table[FREE_WASABI]:
            table[FREE_WASABI] -= 1
            points *= 3
        table[NIGIRI] += points
    elif card == _WASABI:
        table[FREE_WASABI] += 1


def worlds(view: View) -> Callable[[Random], World]:
    """Return a function that deals the cards that a seat doesn't see.

    Every call returns a new world. Cards whose place the seat can infer (:mod:`arena.rules.view`) are dealt
    there. For the others, every possible deal is equally likely.
    """
    known = knowledge(view)
    certain = [[int(card) for card in held.certain] for held in known.hands]
    hidden = [held.hidden for held in known.hands]
    wanted = sum(hidden)
    unseen = [int(card) for card in known.unseen]
    tables = [_table(cards) for cards in view.tables]
    dummy = view.rules.dummy

    def deal(rng: Random) -> World:
        hands = [cards[:] for cards in certain]
        if wanted:
            drawn = rng.sample(unseen, wanted)
            for hand, size in zip(hands, hidden, strict=True):
                hand.extend(drawn[:size])
                del drawn[:size]
        pile: list[int] = []
        if dummy:
            pile = hands.pop()
            rng.shuffle(pile)
        return World(view, hands, [table[:] for table in tables], pile)

    return deal


def _table(cards: Sequence[Card]) -> list[int]:
    table = [0] * TABLE_SIZE
    for card in cards:
        _place(table, int(card))
    return table


_USE_CHOPSTICKS: Final = 2.5
"""Simple players use chopsticks if the second card is worth at least this many points to them."""
_KEPT_CHOPSTICKS: Final = 0.2
"""Chopsticks are worth this many points for every turn in which they can still be used."""
_DENIED: Final = 0.3
"""A card given to the dummy counts for this share of its value to the opponent."""
_STEADY: Final = {Card.MAKI_1: 0.7, Card.MAKI_2: 1.4, Card.MAKI_3: 2.1, Card.PUDDING: 2.2}


def _worth(card: Card, have: int, left: int, free_wasabi: int) -> float:
    match card:
        case Card.SALMON_NIGIRI | Card.SQUID_NIGIRI | Card.EGG_NIGIRI:
            worth = NIGIRI_POINTS[card] * (3.0 if free_wasabi else 1.0)
        case Card.TEMPURA:
            worth = 5.0 if have % 2 else min(2.2, left * 0.35)
        case Card.SASHIMI:
            worth = (min(2.6, left * 0.35) if left > 1 else 0.0, min(4.0, left * 0.7), 10.0)[have % 3]
        case Card.DUMPLING:
            worth = (1.4, 2.6, 3.6, 4.4, 5.0, 0.0)[min(have, 5)]
        case Card.WASABI:
            worth = min(3.2, left * 0.4) / (1 + free_wasabi)
        case Card.CHOPSTICKS:
            worth = 0.0 if have else left * _KEPT_CHOPSTICKS
        case Card.SOY_SAUCE:
            worth = 0.0 if have else 1.5
        case _:
            worth = _STEADY[card]
    return worth


_WORTHS: Final = [
    [[[], *([_worth(card, have, left, free) for have in range(15)] for card in Card)] for free in range(7)]
    for left in range(10)
]
"""Values of cards: [turns left after this one][free wasabi][card][number of its kind on the table]."""


def _worths(world: World, player: int) -> list[list[float]]:
    return _WORTHS[world.turns - 1][world.tables[player][FREE_WASABI]]


def promise(world: World, seat: int, move: int) -> float:
    """Return a quick estimate of the points that a move adds."""
    worths, table = _worths(world, seat), world.tables[seat]
    first = move & _FIRST
    points = worths[first][table[first]]
    if second := move >> _SECOND & _FIRST:
        points += worths[second][table[second] + (first == second)] - _KEPT_CHOPSTICKS * world.turns
    if dummy := move >> _DUMMY:
        other = 1 - seat
        points += _DENIED * _worths(world, other)[dummy][world.tables[other][dummy]]
    return points


def simple_move(world: World, seat: int, rng: Random, noise: float = 0.0) -> int:
    """Return a move with the most valuable card or, with probability ``noise``, a random card from the hand.

    Chopsticks are used for a good second card. The dummy gets the card that the opponent would like best.
    """
    hand, table = world.hands[seat], world.tables[seat]
    if noise and rng.random() < noise:
        move = hand[int(rng.random() * len(hand))]
    else:
        move = _best(hand, table, _worths(world, seat))
    if seat != world.controller and not (table[_CHOPSTICKS] and len(hand) > 1):
        return move
    rest = hand[:]
    rest.remove(move)
    if table[_CHOPSTICKS] and len(rest) > (seat == world.controller):
        worths = _worths(world, seat)
        second = _best(rest, table, worths)
        if worths[second][table[second] + (second == move)] >= _USE_CHOPSTICKS:
            rest.remove(second)
            move |= second << _SECOND
    if seat == world.controller:
        move |= _best(rest, world.tables[1 - seat], _worths(world, 1 - seat)) << _DUMMY
    return move


def _best(hand: Sequence[int], table: list[int], worths: list[list[float]]) -> int:
    found, best_worth = 0, -1.0
    for card in hand:
        worth = worths[card][table[card]]
        if worth > best_worth:
            found, best_worth = card, worth
    return found


def playout(world: World, rng: Random, noise: float = 0.0) -> None:
    """Finish the round with simple moves by all seats."""
    seats = range(len(world.hands))
    while world.turns:
        world.step([simple_move(world, seat, rng, noise) for seat in seats])


_SCALES: Final = (14.0, 11.0, 7.0)
"""By round: the lead in points that is worth about three quarters as much as a sure win."""
_PUDDINGS: Final = (0.5, 0.7, 1.0)
"""By round: the weight of the points that puddings would score if their numbers stayed the same."""


def values(world: World) -> list[float]:
    """Return the value of a round's final position to each seat, from -1 (all others are far ahead) to 1."""
    view = world.view
    weight, scale = _PUDDINGS[view.round - 1], _SCALES[view.round - 1]
    puddings = score_puddings(view.rules, world.puddings())
    points = [total + weight * more for total, more in zip(world.totals(), puddings, strict=True)]
    players = view.rules.players
    sums = [0.0] * players
    for seat in range(1, players):
        for other in range(seat):
            lead = tanh((points[seat] - points[other]) / scale)
            sums[seat] += lead
            sums[other] -= lead
    return [value / (players - 1) for value in sums]
