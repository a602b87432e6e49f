"""Plays the move that scores most now, and ignores later turns."""

from arena.sdk import Move, View, run, score_round


def choose(view: View) -> Move:
    """Return the best move by the scores that the round would have if it ended after this turn.

    Of equal moves, the one that leaves the others fewer points wins, then the
    first in the order of ``legal_moves()``: one card before two, so chopsticks
    are used only if the pair scores more, then by kind, tempura first.
    """
    return max(view.legal_moves(), key=lambda move: gain(view, move))


def gain(view: View, move: Move) -> tuple[int, int]:
    """Return this seat's points after a move, and the others' points as a loss."""
    tables = list(view.tables)
    tables[view.seat] += move.cards
    if move.dummy:
        tables[-1] += (move.dummy,)
    scores = [sum(score) for score in score_round(view.rules, tables)]
    own = scores.pop(view.seat)
    return own, -sum(scores)


if __name__ == "__main__":
    run(choose)
