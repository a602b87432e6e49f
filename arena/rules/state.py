"""The state of a game. Everything is frozen: a step returns a new state.

Named tuples, not dataclasses: a game makes some hundred of them, and a frozen
dataclass takes several times as long to make.
"""

from typing import NamedTuple

from arena.rules.cards import Card, Hand, Rules, Table
from arena.rules.scoring import RoundScore

Play = tuple[Card, ...]
"""What one player placed in one turn, in the order of placing."""


class Move(NamedTuple):
    """A choice: the cards in the order of placing, and the dummy's card in control of it."""

    cards: Play
    dummy: Card | None = None


class Turn(NamedTuple):
    """A revealed turn.

    Attributes:
        round: From 1.
        turn: In its round, from 1.
        plays: One a participant; with a dummy its play comes last.
    """

    round: int
    turn: int
    plays: tuple[Play, ...]


class Result(NamedTuple):
    """The end of a game. Lists have one entry a participant, ``places`` one a player."""

    puddings: tuple[int, ...]
    pudding_scores: tuple[int, ...]
    totals: tuple[int, ...]
    places: tuple[int, ...]


class State(NamedTuple):
    """A game between two decisions, or at its end.

    Attributes:
        rules: What is played.
        deck: All cards in deal order.
        round: From 1; the last one when the game is over.
        turn: In the round, from 1.
        hands: One a player. The one in control of the dummy holds the drawn card.
        tables: One a participant, cards of this round only.
        pile: The dummy's face-down pile, top card first.
        drawn: The card that the seat in control drew this turn.
        puddings: One a participant, kept from the rounds before.
        scores: One a participant, points of the rounds before.
        rounds: Scores of the finished rounds, one a participant each.
        turns: Everything revealed in this game.
        past_hands: One a player: the hands held in this round before this turn.
        result: Set when the game is over.
    """

    rules: Rules
    deck: tuple[Card, ...]
    round: int
    turn: int
    hands: tuple[Hand, ...]
    tables: tuple[Table, ...]
    pile: tuple[Card, ...]
    drawn: Card | None
    puddings: tuple[int, ...]
    scores: tuple[int, ...]
    rounds: tuple[tuple[RoundScore, ...], ...]
    turns: tuple[Turn, ...]
    past_hands: tuple[tuple[Hand, ...], ...]
    result: Result | None

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.result is not None

    @property
    def controller(self) -> int | None:
        """The seat in control of the dummy, or None without one."""
        if not self.rules.dummy:
            return None
        return in_control(self.rules, self.round, self.turn)


def in_control(rules: Rules, round_number: int, turn: int) -> int:
    """Return which seat is in control of the dummy in that turn; it alternates through the whole game."""
    return ((round_number - 1) * rules.turns + turn - 1) % 2  # 9 turns a round, so seat 1 begins round 2


class Moment(NamedTuple):
    """A turn in slow motion: between the reveal and the pass.

    Attributes:
        state: Before the choices. Where the last cards are played by themselves, each
            hand in it holds that one card.
        plays: What was placed, one a participant.
        hands: What is left of the hands, one a player: chopsticks have gone back,
            nothing has been passed.
        tables: One a participant, with the cards placed.
    """

    state: State
    plays: tuple[Play, ...]
    hands: tuple[Hand, ...]
    tables: tuple[Table, ...]
