"""The state of a game, and its legal moves. Everything is immutable: a step returns a new state.

The classes are named tuples, because a game creates about a hundred of them, and creating a frozen dataclass
takes several times as long.
"""

from typing import Final, NamedTuple

from arena.rules.cards import Card, Hand, IllegalMove, Rules, Table
from arena.rules.scoring import RoundScore

Play = tuple[Card, ...]
"""The cards that one player placed in one turn, in order."""


class Move(NamedTuple):
    """A choice: the cards in order, and the dummy's card if the seat is in control of the dummy."""

    cards: Play
    dummy: Card | None = None


class Turn(NamedTuple):
    """A revealed turn."""

    round: int  # from 1
    turn: int  # in its round, from 1
    plays: tuple[Play, ...]  # one per participant; the dummy's, if any, comes last


class Result(NamedTuple):
    """The end of a game. Tuples have one entry per participant; ``places`` has one per player."""

    puddings: tuple[int, ...]
    pudding_scores: tuple[int, ...]
    totals: tuple[int, ...]
    places: tuple[int, ...]


class State(NamedTuple):
    """A game between two decisions, or at its end."""

    rules: Rules
    deck: tuple[Card, ...]  # all cards in deal order
    round: int  # from 1; the last round when the game is over
    turn: int  # in the round, from 1
    # One per player; the hand of the seat in control of the dummy includes the drawn card.
    hands: tuple[Hand, ...]
    tables: tuple[Table, ...]  # one per participant, cards of this round only
    pile: tuple[Card, ...]  # the dummy's face-down pile, top card first
    drawn: Card | None  # the card that the seat in control drew this turn
    puddings: tuple[int, ...]  # one per participant, from earlier rounds
    scores: tuple[int, ...]  # one per participant, points in earlier rounds
    rounds: tuple[tuple[RoundScore, ...], ...]  # the finished rounds, each with one score per participant
    turns: tuple[Turn, ...]  # everything revealed in this game
    past_hands: tuple[tuple[Hand, ...], ...]  # one per player: the hands held in this round before this turn
    result: Result | None  # set when the game is over

    @property
    def over(self) -> bool:
        """True if the game has ended."""
        return self.result is not None

    def scores_after(self, rounds: int) -> tuple[int, ...]:
        """Return each participant's points in the first ``rounds`` rounds."""
        return tuple(sum(map(sum, scores)) for scores in zip(*self.rounds[:rounds], strict=True))

    @property
    def controller(self) -> int | None:
        """The seat in control of the dummy, or None without a dummy."""
        if not self.rules.dummy:
            return None
        return seat_in_control(self.rules, self.round, self.turn)


def seat_in_control(rules: Rules, round_number: int, turn: int) -> int:
    """Return which seat is in control of the dummy in a turn. Control alternates throughout the game."""
    return ((round_number - 1) * rules.turns + turn - 1) % 2  # 9 turns per round, so seat 1 begins round 2


class Moment(NamedTuple):
    """A turn between the reveal and the pass."""

    # The state before the choices. In an automatic turn, each hand has only its last card.
    state: State
    plays: tuple[Play, ...]  # what was placed, one per participant
    # What is left of the hands, one per player: chopsticks have gone back, but nothing has been passed.
    hands: tuple[Hand, ...]
    tables: tuple[Table, ...]  # one per participant, with the cards placed


_CHOPSTICKS: Final = Card.CHOPSTICKS

# Created only once: about a thousand moves are listed in a game, nearly all without a card for the dummy.
_ONE_CARD_MOVES: Final = {card: Move((card,)) for card in Card}
_TWO_CARD_MOVES: Final = {first: {second: Move((first, second)) for second in Card} for first in Card}


def legal_moves(hand: Hand, table: Table, *, control: bool) -> tuple[Move, ...]:
    """Return every legal choice once.

    With ``control`` of the dummy, the player also chooses the dummy's card, and the hand includes the drawn
    card. ``table`` has the player's cards from earlier turns.
    """
    kinds = dict.fromkeys(hand)
    moves = [_ONE_CARD_MOVES[card] for card in kinds]
    if _CHOPSTICKS in table and len(hand) >= 2 + control:
        moves += [
            _TWO_CARD_MOVES[first][second]
            for first in kinds
            for second in kinds
            if first is not second or hand.count(first) > 1
        ]
    if control:
        moves = [Move(cards, dummy) for cards, _ in moves for dummy in dict.fromkeys(_without(hand, *cards))]
    return tuple(moves)


def check_move(seat: int, hand: Hand, table: Table, move: Move, *, control: bool) -> None:
    """Check a choice. Raises IllegalMove, which names ``seat``, if a rule forbids it.

    The other arguments are as for :func:`legal_moves`.
    """
    cards, dummy = move
    if len(cards) == 2:  # noqa: PLR2004 - one, or two with chopsticks
        _check_chopsticks(seat, hand, table, control=control)
    elif len(cards) != 1:
        raise IllegalMove(
            "Course of a game", seat, f"{len(cards)} cards given: give one, or two with chopsticks"
        )
    if control is (dummy is None):
        what = "no card given for the dummy, which this seat controls"
        if not control:
            what = "a card given for the dummy, which this seat does not control"
        raise IllegalMove("Variants: two players with a dummy", seat, what)
    named = cards if dummy is None else (*cards, dummy)
    for card in named:
        if named.count(card) > hand.count(card):
            raise IllegalMove("Course of a game", seat, _missing_card_text(hand, card, named.count(card)))


def _check_chopsticks(seat: int, hand: Hand, table: Table, *, control: bool) -> None:
    if _CHOPSTICKS not in table:
        raise IllegalMove("Chopsticks", seat, "two cards given without chopsticks from an earlier turn")
    if len(hand) < 2 + control:
        raise IllegalMove(
            "Chopsticks", seat, f"two cards given, but a hand of {len(hand)} is too small for that"
        )


def _missing_card_text(hand: Hand, card: Card, times: int) -> str:
    what = f"{card.label} is" if times == 1 else f"{times} {card.label} are"
    return f"{what} not in the hand: {', '.join(held.label for held in hand)}"


def _without(hand: Hand, *cards: Card) -> list[Card]:
    rest = list(hand)
    for card in cards:
        rest.remove(card)
    return rest
