"""Looks at the next player's table: takes good cards, and leaves bad ones for that player."""

from arena.sdk import Card, Move, Table, View, direction, run, score_nigiri

SPITE = 0.8
"""Value of a point that the next player can score, relative to a point for this bot."""

ICONS = {Card.MAKI_1: 1.0, Card.MAKI_2: 2.0, Card.MAKI_3: 3.0}
DUMPLINGS = (0, 1, 3, 6, 10, 15)


def choose(view: View) -> Move:
    """Return the move with the largest difference between this bot's gain and the next player's best gain."""
    after = view.tables[(view.seat + direction(view)) % view.rules.players]
    left = view.rules.turns - view.turn
    gains = {card: promise((*after, card), left) - promise(after, left) for card in set(view.hand)}

    def value(move: Move) -> float:
        table, rest = list(view.table), list(view.hand)
        for card in (*move.cards, *((move.dummy,) if move.dummy else ())):
            rest.remove(card)
        if len(move.cards) > 1:
            table.remove(Card.CHOPSTICKS)
        answer = max((gains[card] for card in rest), default=0.0)
        return promise((*table, *move.cards), left) - SPITE * answer

    return max(view.legal_moves(), key=value)


def promise(table: Table, left: int) -> float:
    """Return a table's value. While a set can be completed, its first cards count for a share of its points.

    Args:
        table: The cards, in the order in which they were placed.
        left: Number of turns in the round after this one.
    """
    tempura, sashimi = table.count(Card.TEMPURA), table.count(Card.SASHIMI)
    points = tempura // 2 * 5.0 + sashimi // 3 * 10.0
    if left:
        points += tempura % 2 * 2.0
    if left + sashimi % 3 >= 3:  # noqa: PLR2004 - a set of three
        points += sashimi % 3 * 2.5
    points += score_nigiri(table) + min(left, 3) * 0.8 * free_wasabi(table)
    points += DUMPLINGS[min(5, table.count(Card.DUMPLING))]
    points += sum(ICONS.get(card, 0.0) for card in table)
    points += 2.0 * table.count(Card.PUDDING) + 1.5 * (Card.SOY_SAUCE in table)
    return points + 0.3 * left * (Card.CHOPSTICKS in table)


def free_wasabi(table: Table) -> int:
    """Return 1 if the table has a wasabi without a nigiri, so that a salmon nigiri would score 6; else 0."""
    before, with_one = score_nigiri(table), score_nigiri((*table, Card.SALMON_NIGIRI))
    return int(with_one - before > 2)  # noqa: PLR2004 - a salmon nigiri without wasabi


if __name__ == "__main__":
    run(choose)
