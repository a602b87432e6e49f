"""A seat's view of a game, the only way from a state to a bot.

Source: the section "A bot's view" of docs/rules.md.
"""

from typing import NamedTuple

from arena.rules.cards import Card, Hand, Rules, Table
from arena.rules.play import asked
from arena.rules.state import Move, State, Turn, legal_moves


class View(NamedTuple):
    """A decision as its seat sees it.

    Lists have one entry a participant: the seats in order, then the dummy where there is one.
    """

    rules: Rules  # what is played
    seat: int  # whose decision it is, from 0; hands go to the next seat
    round: int  # from 1
    turn: int  # in the round, from 1
    hand: Hand  # in the order of the table of kinds; in control of the dummy with the drawn card in it
    tables: tuple[Table, ...]  # cards in front of every participant in this round, in the order of placing
    puddings: tuple[int, ...]  # from earlier rounds; puddings of this round are on the tables
    scores: tuple[int, ...]  # points of the rounds before
    hand_sizes: tuple[int, ...]  # cards in every hand; for the dummy, cards left in its pile
    control: bool  # whether this seat names the dummy's card too
    drawn: Card | None  # the card drawn from the dummy's pile, when in control
    turns: tuple[Turn, ...]  # everything revealed in this game
    past_hands: tuple[Hand, ...]  # the hands that this seat held in this round before this turn

    @property
    def table(self) -> Table:
        """The cards in front of this seat."""
        return self.tables[self.seat]

    def legal_moves(self) -> tuple[Move, ...]:
        """Return every legal choice once."""
        return legal_moves(self.hand, self.tables[self.seat], control=self.control)


def view(state: State, seat: int) -> View:
    """Return what a seat that is asked may see. Raises ValueError if the seat is not asked now."""
    if seat not in asked(state):
        message = f"seat {seat} is not asked now"
        raise ValueError(message)
    return seen(state, seat)


def seen(state: State, seat: int) -> View:
    """Return what any seat sees, asked or not, to display a game. A bot gets its :func:`view`."""
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
