"""Tries its best moves out: deals the unseen cards at random and plays the round to its end, many times.

What it knows, it uses: hands that it has passed on are dealt as they are. The
playouts are quick and simple-minded, all players follow the same short rules;
the strength comes from trying every candidate on the same deals.
"""

from math import tanh
from random import random
from typing import NamedTuple

from arena.sdk import (
    Card,
    Hand,
    Move,
    View,
    direction,
    known_hands,
    run,
    score_puddings,
    score_round,
    unseen_cards,
)

PLAYOUTS = 360
"""For one decision, shared among the candidates."""
CANDIDATES = 8
STICKS = 0.2
"""What chopsticks promise for every turn in which they could be used."""
SECOND = 2.5
"""In playouts chopsticks are used for a second card that is worth this."""
SCALE = (14.0, 11.0, 7.0)
"""By round: a lead of so many points is as good as three quarters of a sure win."""
PUDDINGS = (0.5, 0.7, 1.0)
"""By round: how far the race for the puddings is believed to stay as it is."""

NIGIRI = {Card.SALMON_NIGIRI: 2, Card.SQUID_NIGIRI: 3, Card.EGG_NIGIRI: 1}
DUMPLING = (1.4, 2.6, 3.6, 4.4, 5.0, 0.0)
STEADY = {Card.MAKI_1: 0.7, Card.MAKI_2: 1.4, Card.MAKI_3: 2.1, Card.PUDDING: 2.2}


def estimate(card: Card, have: int, free_wasabi: int, left: int) -> float:
    """Return a rough worth of a card, in points, for the players of the playouts.

    Args:
        card: The card.
        have: How many of the kind lie on the table.
        free_wasabi: How many wasabi wait for a nigiri.
        left: How many turns of the round come after this one.
    """
    match card:
        case Card.SALMON_NIGIRI | Card.SQUID_NIGIRI | Card.EGG_NIGIRI:
            worth = NIGIRI[card] * (3.0 if free_wasabi else 1.0)
        case Card.TEMPURA:
            worth = 5.0 if have % 2 else min(2.2, left * 0.35)
        case Card.SASHIMI:
            worth = (min(2.6, left * 0.35) if left > 1 else 0.0, min(4.0, left * 0.7), 10.0)[have % 3]
        case Card.DUMPLING:
            worth = DUMPLING[min(have, 5)]
        case Card.WASABI:
            worth = min(3.2, left * 0.4) / (1 + free_wasabi)
        case Card.CHOPSTICKS:
            worth = 0.0 if have else left * STICKS
        case Card.SOY_SAUCE:
            worth = 0.0 if have else 1.5
        case _:
            worth = STEADY[card]
    return worth


def column(left: int, free_wasabi: int) -> list[list[float]]:
    """Return the worth of every card, ``[card][have]``. Number 0 is no card."""
    return [[], *([estimate(card, have, free_wasabi, left) for have in range(15)] for card in Card)]


# Looked up some hundred thousand times a decision: WORTH[left][free wasabi].
WORTH = [[column(left, free) for free in range(7)] for left in range(10)]


class World(NamedTuple):
    """One way in which the unseen cards may lie."""

    hands: list[list[Card]]
    pile: list[Card]


class Bot:
    """Plays one game. A class so that it is asked about one game at a time: it thinks long."""

    def choose(self, view: View) -> Move:
        """Return the move that did best in playouts."""
        moves = candidates(view)
        known, unseen = known_hands(view), unseen_cards(view)
        rounds = max(1, (len(moves) - 1).bit_length())
        totals = dict.fromkeys(moves, 0.0)
        for _ in range(rounds):
            # Halving: every round spends as much as the one before, on half as many moves.
            for _ in range(max(1, PLAYOUTS // rounds // len(moves))):
                world = deal(view, known, unseen)
                for move in moves:
                    totals[move] += playout(view, world, move)
            moves = sorted(moves, key=lambda move: -totals[move])[: (len(moves) + 1) // 2]
        return moves[0]


def candidates(view: View) -> list[Move]:
    """Return the moves that look best at first sight."""
    left = view.rules.turns - view.turn
    after = view.tables[(view.seat + direction(view)) % view.rules.players]

    def promise(move: Move) -> float:
        table = list(view.table)
        points = 0.0
        for card in move.cards:
            points += worths(table, left)[card][table.count(card)]
            table.append(card)
        if len(move.cards) > 1:
            points -= STICKS * (left + 1)
        if move.dummy:
            points += 0.3 * worths(after, left)[move.dummy][after.count(move.dummy)]
        return points

    return sorted(view.legal_moves(), key=promise, reverse=True)[:CANDIDATES]


def deal(view: View, known: tuple[Hand, ...], unseen: tuple[Card, ...]) -> World:
    """Deal the unseen cards at random to the places where they may be."""
    cards = list(unseen)
    hands = [list(hand) for hand in known]
    wanted = sum(view.hand_sizes) - sum(map(len, hands))
    for last in range(len(cards) - 1, len(cards) - 1 - wanted, -1):
        other = int(random() * (last + 1))
        cards[last], cards[other] = cards[other], cards[last]
    for hand, size in zip(hands, view.hand_sizes, strict=False):
        while len(hand) < size:
            hand.append(cards.pop())
    return World(hands, [cards.pop() for _ in range(view.hand_sizes[-1])] if view.rules.dummy else [])


def playout(view: View, world: World, move: Move) -> float:
    """Play the round to its end after a move, and return how good the end is."""
    rules, step = view.rules, direction(view)
    hands = [list(hand) for hand in world.hands]
    tables = [list(table) for table in view.tables]
    pile = list(world.pile)
    controller = view.seat if view.control else 1 - view.seat
    for left in range(rules.turns - view.turn, -1, -1):
        first = left == rules.turns - view.turn
        if rules.dummy and not first:
            controller = 1 - controller
            hands[controller].append(pile.pop())
        for seat, (hand, table) in enumerate(zip(hands, tables, strict=False)):
            control = rules.dummy and seat == controller
            if first and seat == view.seat:
                make(move, hand, table, tables[-1])
                continue
            take(hand, table, left, spare=control)
            if control:
                # To the dummy goes what the opponent, who gets the hand, would like best.
                gift = best(hand, tables[1 - seat], left)
                hand.remove(gift)
                tables[-1].append(gift)
        hands = hands[-step:] + hands[:-step]
    return judge(view, tables)


def make(move: Move, hand: list[Card], table: list[Card], dummy: list[Card]) -> None:
    """Carry a move out."""
    for card in move.cards:
        hand.remove(card)
    if len(move.cards) > 1:
        table.remove(Card.CHOPSTICKS)
        hand.append(Card.CHOPSTICKS)
    table.extend(move.cards)
    if move.dummy:
        hand.remove(move.dummy)
        dummy.append(move.dummy)


def take(hand: list[Card], table: list[Card], left: int, *, spare: bool) -> None:
    """Place the best card, and with chopsticks a second one if it is good."""
    sticks = Card.CHOPSTICKS in table and len(hand) > 1 + spare
    card = best(hand, table, left)
    hand.remove(card)
    table.append(card)
    if not sticks:
        return
    second = best(hand, table, left)
    if worths(table, left)[second][table.count(second)] >= SECOND:
        hand.remove(second)
        table.append(second)
        table.remove(Card.CHOPSTICKS)
        hand.append(Card.CHOPSTICKS)


def best(hand: list[Card], table: list[Card], left: int) -> Card:
    """Return the card that is worth the most on a table."""
    worth = worths(table, left)
    found, most = hand[0], -1.0
    for card in hand:
        value = worth[card][table.count(card)]
        if value > most:
            found, most = card, value
    return found


def worths(table: list[Card] | tuple[Card, ...], left: int) -> list[list[float]]:
    """Return the worth of every card on a table, ``[card][have]``."""
    free = 0
    if Card.WASABI in table:
        for card in table:
            if card is Card.WASABI:
                free += 1
            elif free and card in NIGIRI:
                free -= 1
    return WORTH[left][free]


def judge(view: View, tables: list[list[Card]]) -> float:
    """Return how good the end of a round is: the sum over the opponents, from -1 to 1 each."""
    ends = [tuple(table) for table in tables]
    puddings = [kept + end.count(Card.PUDDING) for kept, end in zip(view.puddings, ends, strict=True)]
    weight, scale = PUDDINGS[view.round - 1], SCALE[view.round - 1]
    points = [
        before + sum(score) + weight * pudding
        for before, score, pudding in zip(
            view.scores, score_round(view.rules, ends), score_puddings(view.rules, puddings), strict=True
        )
    ]
    own = points[view.seat]
    return sum(tanh((own - points[seat]) / scale) for seat in range(view.rules.players) if seat != view.seat)


if __name__ == "__main__":
    run(Bot)
