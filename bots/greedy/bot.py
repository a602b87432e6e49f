"""Plays the move that scores the most now, and ignores later turns."""

from arena.sdk import Card, Move, View, run, score_round


def choose(view: View) -> Move:
    """Return the move that would score the most if the round ended after this turn.

    Among equal moves, the one that leaves the other players fewer points wins,
    then the first in ``legal_moves()``. Moves with one card come first there, so
    chopsticks are used only if two cards score more. Otherwise, moves are in the
    order of kinds, tempura first.
    """
    return max(view.legal_moves(), key=lambda move: gain(view, move))


def gain(view: View, move: Move) -> tuple[int, int]:
    """Return this seat's points after a move, and the negated sum of the others' points."""
    table = list(view.table)
    if len(move.cards) > 1:
        table.remove(Card.CHOPSTICKS)  # they return to the hand
    tables = list(view.tables)
    tables[view.seat] = (*table, *move.cards)
    if move.dummy:
        tables[-1] += (move.dummy,)
    scores = [sum(score) for score in score_round(view.rules, tables)]
    own = scores.pop(view.seat)
    return own, -sum(scores)


if __name__ == "__main__":
    run(choose)
