"""Plays the card with the highest expected value, according to hand-tuned estimates.

Every estimate is in points, and consists of a card's value now, its value in the
remaining turns, and the next player's loss.
"""

from typing import NamedTuple

from arena.sdk import Card, Move, Table, View, direction, known_hands, run

NIGIRI = {Card.SALMON_NIGIRI: 2, Card.SQUID_NIGIRI: 3, Card.EGG_NIGIRI: 1}
MAKI = {Card.MAKI_1: 1, Card.MAKI_2: 2, Card.MAKI_3: 3}
DUMPLING = (1, 2, 3, 4, 5, 0)

# Values in points, tuned by hand in games against the greedy bot and against this bot itself.
ICON = 1.0  # a maki icon in a race that is still open
PUDDING = 3.4
WASABI = 3.6
SOY_SAUCE = 1.5
STICKS = 0.35  # chopsticks, per turn in which they could be used
DUMPLING_HOPE = 0.2  # expected gain of a dumpling per remaining turn, for up to four turns
SPOILED = 0.25  # value of a point that the next player loses


class Prospect(NamedTuple):
    """The part of the position that determines a card's value to a player.

    Attributes:
        seat: The player's seat.
        table: The player's placed cards.
        left: Number of turns in the round after the one in which the card is played.
        coming: Known cards in hands that the player will get later.
    """

    seat: int
    table: Table
    left: int
    coming: tuple[Card, ...] = ()


def choose(view: View) -> Move:
    """Return the legal move with the highest estimate."""
    after = (view.seat + direction(view)) % view.rules.players
    left = view.rules.turns - view.turn
    hands = known_hands(view)
    coming = tuple(card for seat, hand in enumerate(hands) if seat != view.seat for card in hand)
    mine = Prospect(view.seat, view.table, left, coming)
    theirs = Prospect(after, view.tables[after], left - 1)
    own = {card: worth(card, view, mine) for card in set(view.hand)}
    loss = {card: SPOILED * worth(card, view, theirs) for card in set(view.hand)}

    def value(move: Move) -> float:
        points = own[move.cards[0]]
        if len(move.cards) > 1:
            placed = mine._replace(table=view.table + move.cards[:1])
            points += worth(move.cards[1], view, placed) - STICKS * (left + 1)
        gone = move.cards if move.dummy is None else (*move.cards, move.dummy)
        return points + sum(loss[card] for card in gone)

    return max(view.legal_moves(), key=value)


def worth(card: Card, view: View, player: Prospect) -> float:
    """Estimate the points that a card adds to a player's table."""
    have, left, coming = player.table.count(card), player.left, player.coming.count(card)
    match card:
        case Card.SALMON_NIGIRI | Card.SQUID_NIGIRI | Card.EGG_NIGIRI:
            points = nigiri(NIGIRI[card], player)
        case Card.MAKI_1 | Card.MAKI_2 | Card.MAKI_3:
            points = maki(MAKI[card], view, player)
        case Card.TEMPURA:
            points = 5.0 if have % 2 else 2.5 * chance(1, left, coming)
        case Card.SASHIMI:
            missing = 2 - have % 3
            points = 10 / (missing + 1) * chance(missing, left, coming)
        case Card.DUMPLING:
            points = DUMPLING[min(have, 5)] + (DUMPLING_HOPE * min(left, 4) if have < 4 else 0)  # noqa: PLR2004 - only five dumplings score
        case Card.WASABI:
            points = WASABI * min(1.0, left / 4) / (1 + free_wasabi(player.table))
        case Card.PUDDING:
            points = pudding(view, player)
        case Card.CHOPSTICKS:
            points = 0.0 if have else STICKS * left
        case _:
            points = 0.0 if have else SOY_SAUCE
    return points


def nigiri(points: int, player: Prospect) -> float:
    """Estimate the value of a nigiri. An egg wastes a wasabi while turns are left for better nigiri."""
    if free_wasabi(player.table):
        return points * 3 - (3 - points) * min(player.left, 3) * 0.5
    return points


def free_wasabi(table: Table) -> int:
    """Return the number of wasabi without a nigiri."""
    free = 0
    for card in table:
        if card is Card.WASABI:
            free += 1
        elif free and card in NIGIRI:
            free -= 1
    return free


def chance(missing: int, left: int, coming: int) -> float:
    """Estimate the chance of getting ``missing`` more cards of one of the common kinds."""
    if missing > left:
        return 0.0
    return min(1.0, (0.13 * left + 0.25 * min(coming, missing))) ** missing


def maki(icons: int, view: View, player: Prospect) -> float:
    """Estimate the value of icons in the race for the most."""
    counts = [sum(MAKI.get(card, 0) for card in table) for table in view.tables]
    own = counts.pop(player.seat)
    behind = max(counts) - own
    if player.left <= 1:  # the race is about to end, so only the lead counts
        return 4.0 if -icons <= behind <= icons else 0.5
    return ICON * icons * max(0.2, 1 - abs(behind) / 8)


def pudding(view: View, player: Prospect) -> float:
    """Estimate the value of a pudding in the race over the whole game."""
    counts = [
        kept + table.count(Card.PUDDING) for kept, table in zip(view.puddings, view.tables, strict=True)
    ]
    own = counts.pop(player.seat)
    for_most = abs(max(counts) - own) <= 1
    for_fewest = 0 <= min(counts) - own <= 1 and view.rules.participants > 2  # noqa: PLR2004 - the rule's own number
    return PUDDING * (0.4 + 0.3 * (for_most + for_fewest) + 0.1 * view.round)


if __name__ == "__main__":
    run(choose)
