"""A seat's view of a game, and what the seat can infer from it. Bots learn about a game only through views.

Source: the sections "A bot's view" and "Inference" of docs/rules.md.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from arena.rules.cards import Card, Hand, Rules, Table, unshuffled_deck
from arena.rules.play import seats_to_move
from arena.rules.state import Move, Play, State, Turn, legal_moves, seat_in_control


class View(NamedTuple):
    """A decision as its seat sees it.

    Lists have one entry per participant: the seats in order, then the dummy, if any.
    """

    rules: Rules
    seat: int  # the seat that decides, from 0
    round: int  # from 1
    turn: int  # in the round, from 1
    hand: Hand  # in the order of the table of cards; includes the drawn card if in control of the dummy
    tables: tuple[Table, ...]  # cards in front of each participant in this round, in the order placed
    puddings: tuple[int, ...]  # from earlier rounds; puddings of this round are on the tables
    scores: tuple[int, ...]  # points in earlier rounds
    hand_sizes: tuple[int, ...]  # number of cards in each hand; for the dummy, in its pile
    control: bool  # whether this seat chooses the dummy's card too
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
    """Return what a seat that has to move may see. Raises ValueError if the seat has no move to make now."""
    if seat not in seats_to_move(state):
        raise ValueError(f"seat {seat} has no move to make now")
    return seat_view(state, seat)


def seat_view(state: State, seat: int) -> View:
    """Return what a seat sees, even if it has no move to make. Bots get only :func:`view`."""
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


class HeldCards(NamedTuple):
    """The known cards of one hand, or of the dummy's pile."""

    certain: Hand  # cards that it contains whatever the deal was
    hidden: int  # number of further cards in it


class Knowledge(NamedTuple):
    """Exactly what a seat can know about where cards are.

    Each hand has its certain cards and ``hidden`` of the unseen cards. Every such deal is possible.
    """

    hands: tuple[HeldCards, ...]  # one per player; the dummy's pile, if any, comes last
    # Cards in unknown places, in the order of the table of cards. Those not hidden in a hand are undealt.
    unseen: Hand


class Memory:
    """One seat's memory of a round, from the deal on.

    ``unplayed`` are the cards from which this round was dealt. ``pile`` is the size of the dummy's pile, or
    None without a dummy.
    """

    def __init__(self, unplayed: Iterable[Card], sizes: Sequence[int], pile: int | None = None) -> None:
        self._unseen = Counter(unplayed)
        self._certain: list[Counter[Card]] = [Counter() for _ in sizes]
        self._hidden = list(sizes)
        self._pile = pile

    def draw(self, seat: int) -> None:
        """Record that a seat drew a card from the dummy's pile. Only that seat sees the card."""
        assert self._pile  # noqa: S101 - seats draw only in games with a dummy
        self._pile -= 1
        self._hidden[seat] += 1

    def look(self, seat: int, hand: Hand) -> None:
        """Record the seat's own hand."""
        held = Counter(hand)
        self._unseen -= held - self._certain[seat]
        self._certain[seat] = held
        self._hidden[seat] = 0

    def reveal(self, seat: int, cards: Play, *, chopsticks: bool) -> None:
        """Record that ``cards`` left a hand. With ``chopsticks``, chopsticks then went back into it."""
        for card in cards:
            if self._certain[seat][card]:
                self._certain[seat][card] -= 1
            else:
                self._unseen[card] -= 1
                self._hidden[seat] -= 1
        self._certain[seat][Card.CHOPSTICKS] += chopsticks

    def pass_on(self, step: int) -> None:
        """Pass every hand on by ``step`` seats."""
        players = range(len(self._hidden))
        self._certain = [self._certain[(seat - step) % len(players)] for seat in players]
        self._hidden = [self._hidden[(seat - step) % len(players)] for seat in players]

    def knowledge(self) -> Knowledge:
        """Return what follows from everything that the seat has seen."""
        unseen, hands = self._unseen.copy(), []
        places = list(zip(self._certain, self._hidden, strict=True))
        for certain, hidden in places if self._pile is None else (*places, (Counter[Card](), self._pile)):
            # Cards that can't be elsewhere must be here.
            elsewhere = unseen.total() - hidden
            forced = Counter({card: count - elsewhere for card, count in unseen.items() if count > elsewhere})
            unseen -= forced
            hands.append(HeldCards(_sorted(certain + forced), hidden - forced.total()))
        return Knowledge(tuple(hands), _sorted(unseen))


def knowledge(view: View, revealed: Turn | None = None) -> Knowledge:
    """Return what a seat knows from its view, without guesses based on the other players' habits.

    ``view`` is from before the choice. If ``revealed``, the turn that followed, is given, the result is what
    the seat knows after the reveal and before the hands are passed.
    """
    rules = view.rules
    turns = [turn for turn in view.turns if turn.round == view.round]
    # All cards that were dealt in earlier rounds have been seen.
    earlier = [turn for turn in view.turns if turn.round < view.round]
    memory = Memory(
        unplayed_cards(rules, earlier).elements(),
        [rules.hand_size] * rules.players,
        rules.hand_size if rules.dummy else None,
    )
    for number, hand in enumerate((*view.past_hands, view.hand), start=1):
        controller = seat_in_control(rules, view.round, number) if rules.dummy else None
        if controller is not None:
            memory.draw(controller)
        memory.look(view.seat, hand)
        if number <= len(turns):
            _reveal(memory, turns[number - 1], controller)
            memory.pass_on(rules.direction(view.round))
        elif revealed is not None:
            _reveal(memory, revealed, controller)
    return memory.knowledge()


def _reveal(memory: Memory, turn: Turn, controller: int | None) -> None:
    players = turn.plays if controller is None else turn.plays[:-1]
    for seat, play in enumerate(players):
        taken = (*play, *turn.plays[-1]) if seat == controller else play
        memory.reveal(seat, taken, chopsticks=len(play) > 1)


def unplayed_cards(rules: Rules, turns: Iterable[Turn]) -> "Counter[Card]":
    """Return the game's cards that were not placed in these turns, in the order of the table of cards."""
    cards = Counter(unshuffled_deck(rules))
    for turn in turns:
        for play in turn.plays:
            cards.subtract(play)
            # The chopsticks that went back into the hand were placed twice, so count them once.
            cards[Card.CHOPSTICKS] += len(play) > 1
    return cards


def _sorted(cards: "Counter[Card]") -> Hand:
    return tuple(sorted(cards.elements()))
