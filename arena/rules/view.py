"""What a seat may see. The only way from a state to a bot.

Source: the section "What a bot may see" of docs/rules.md.
"""

from typing import NamedTuple

from arena.rules.cards import Card, Hand, Rules, Table
from arena.rules.moves import legal_moves
from arena.rules.play import asked
from arena.rules.state import Move, State, Turn


class View(NamedTuple):
    """A decision as its seat sees it.

    Lists have one entry a participant: the seats in order, then the dummy
    where there is one.

    Attributes:
        rules: What is played.
        seat: Whose decision it is, from 0. Hands go to the next seat.
        round: From 1.
        turn: In the round, from 1.
        hand: In the order of the table of kinds; in control of the dummy with
            the drawn card in it.
        tables: Cards in front of every participant in this round, in the order
            of placing.
        puddings: Kept from the rounds before; those of this round lie on the tables.
        scores: Points of the rounds before.
        hand_sizes: Cards in every hand; for the dummy, cards left in its pile.
        control: Whether this seat names the dummy's card too.
        drawn: The card drawn from the dummy's pile, when in control.
        turns: Everything revealed in this game.
        past_hands: The hands that this seat held in this round before this turn.
    """

    rules: Rules
    seat: int
    round: int
    turn: int
    hand: Hand
    tables: tuple[Table, ...]
    puddings: tuple[int, ...]
    scores: tuple[int, ...]
    hand_sizes: tuple[int, ...]
    control: bool
    drawn: Card | None
    turns: tuple[Turn, ...]
    past_hands: tuple[Hand, ...]

    @property
    def table(self) -> Table:
        """The cards in front of this seat."""
        return self.tables[self.seat]

    def legal_moves(self) -> tuple[Move, ...]:
        """Return every legal choice once."""
        return legal_moves(self.hand, self.tables[self.seat], control=self.control)


def view(state: State, seat: int) -> View:
    """Return what a seat that is asked may see.

    Raises:
        ValueError: The seat is not asked now.
    """
    if seat not in asked(state):
        message = f"seat {seat} is not asked now"
        raise ValueError(message)
    return seen(state, seat)


def seen(state: State, seat: int) -> View:
    """Return what any seat sees, asked or not: for those who show a game. A bot gets its :func:`view`."""
    control = seat == state.controller
    sizes = tuple(map(len, state.hands))
    return View(
        state.rules,
        seat,
        state.round,
        state.turn,
        state.hands[seat],
        state.tables,
        state.puddings,
        state.scores,
        (*sizes, len(state.pile)) if state.rules.dummy else sizes,
        control,
        state.drawn if control else None,
        state.turns,
        state.past_hands[seat],
    )
