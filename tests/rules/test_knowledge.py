"""Section "Inference", compared with all deals that agree with what a seat has seen."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.rules import (
    Card,
    Hand,
    HeldCards,
    Knowledge,
    Memory,
    Rules,
    State,
    Turn,
    apply,
    knowledge,
    moments,
    new_game,
    seat_view,
    seats_to_move,
    view,
)

from .helpers import VARIANTS, name, random_game, random_moves, seeds, variants

CHOPSTICKS = Card.CHOPSTICKS
KINDS = (Card.TEMPURA, Card.SASHIMI, Card.DUMPLING, CHOPSTICKS)

Hands = tuple[Hand, ...]


class Small:
    """A small game of any size with any cards.

    If there is a pile, seats 0 and 1 draw from it in turn and give a second card away, as with a dummy.
    """

    def __init__(self, hands: Sequence[Hand], pile: Sequence[Card] = (), step: int = 1) -> None:
        self.hands = [sorted(hand) for hand in hands]
        self.pile = list(pile)
        self.step = step
        self.turn = 0
        self.controller = self._draw()

    def _draw(self) -> int | None:
        if not self.pile:
            return None
        controller = self.turn % len(self.hands)
        self.hands[controller] = sorted([*self.hands[controller], self.pile.pop(0)])
        return controller

    def play(self, taken: Sequence[Sequence[Card]], sticks: Sequence[bool]) -> bool:
        """Take these cards from each hand, put chopsticks back and pass; False if a card is missing."""
        for hand, cards, back in zip(self.hands, taken, sticks, strict=True):
            for card in cards:
                if card not in hand:
                    return False
                hand.remove(card)
            hand.extend([CHOPSTICKS] * back)
            hand.sort()
        players = len(self.hands)
        self.hands = [self.hands[(seat - self.step) % players] for seat in range(players)]
        self.turn += 1
        self.controller = self._draw()
        return True


def worlds(deck: Sequence[Card], sizes: Sequence[int], pile: int) -> Iterator[tuple[list[Hand], list[Card]]]:
    """Yield all deals of these cards that differ in a hand or in the order of the pile."""
    if sizes:
        for chosen in set(combinations(range(len(deck)), sizes[0])):
            rest = [card for number, card in enumerate(deck) if number not in chosen]
            for hands, stack in worlds(rest, sizes[1:], pile):
                yield [tuple(deck[number] for number in chosen), *hands], stack
    elif pile:
        for number, card in enumerate(deck):
            for _, stack in worlds([*deck[:number], *deck[number + 1 :]], (), pile - 1):
                yield [], [card, *stack]
    else:
        yield [], []


def claimed(known: Knowledge) -> set[Hands]:
    """Return all combinations of hands, including the pile, that the definition of Knowledge allows."""

    def fill(places: Sequence[HeldCards], unseen: "Counter[Card]") -> Iterator[Hands]:
        if not places:
            yield ()
            return
        for hidden in set(combinations(sorted(unseen.elements()), places[0].hidden)):
            hand = tuple(sorted((*places[0].certain, *hidden)))
            for others in fill(places[1:], unseen - Counter(hidden)):
                yield (hand, *others)

    return set(fill(known.hands, Counter(known.unseen)))


class Deal(NamedTuple):
    """A small game before it is played: the sizes of the hands and the pile, and the number of turns."""

    deck: list[Card]
    players: int
    size: int
    pile: int
    step: int
    turns: int
    dice: Random


@st.composite
def small_deals(draw: st.DrawFn) -> Deal:
    """Return a game of two or three players with up to nine cards of four kinds. Up to two are undealt."""
    players = draw(st.integers(2, 3))
    size = draw(st.integers(1, 3 if players == 2 else 2))
    pile = draw(st.integers(0, 2)) if players == 2 else 0
    count = players * size + pile + draw(st.integers(0, 9 - players * size - pile).filter(lambda n: n < 3))
    return Deal(
        deck=draw(st.lists(st.sampled_from(KINDS), min_size=count, max_size=count)),
        players=players,
        size=size,
        pile=pile,
        step=draw(st.sampled_from((1, -1))),
        turns=draw(st.integers(0, size - 1)),
        dice=draw(st.randoms(use_true_random=False)),
    )


def plays(game: Small, dice: Random) -> tuple[list[list[Card]], list[bool]]:
    """Choose random cards from every hand, two of them if the seat returns chopsticks."""
    taken, sticks = [], []
    for seat, hand in enumerate(game.hands):
        own = 2 if len(hand) > 2 and dice.random() < 0.5 else 1
        number = own + (seat == game.controller)
        taken.append(dice.sample(hand, min(number, len(hand))))
        sticks.append(own == 2)
    return taken, sticks


@given(small_deals())
def test_exactly_the_possible_hands_are_allowed(deal: Deal) -> None:
    """The deals that agree with what seat 0 has seen lead to exactly the hands that its knowledge allows."""
    deck, players, size, pile, step, turns, dice = deal
    hands = [tuple(deck[start : start + size]) for start in range(0, players * size, size)]
    stack = deck[players * size : players * size + pile]

    game = Small(hands, stack, step)
    memory = Memory(deck, [size] * players, pile or None)
    looks: list[Hand] = []
    history: list[tuple[list[list[Card]], list[bool]]] = []
    for turn in range(turns + 1):
        if game.controller is not None:
            memory.draw(game.controller)
        looks.append(tuple(game.hands[0]))
        memory.look(0, looks[-1])
        if turn == turns or any(not hand for hand in game.hands):
            break
        taken, sticks = plays(game, dice)
        history.append((taken, sticks))
        for seat in range(players):
            memory.reveal(seat, tuple(taken[seat]), chopsticks=sticks[seat])
        assert game.play(taken, sticks)
        memory.pass_on(step)

    possible = set()
    for other, other_stack in worlds(deck, [size] * players, pile):
        world = Small(other, other_stack, step)
        if tuple(world.hands[0]) != looks[0]:
            continue
        for number, (taken, sticks) in enumerate(history, start=1):
            if not world.play(taken, sticks) or tuple(world.hands[0]) != looks[number]:
                break
        else:
            left = (tuple(sorted(world.pile)),) if pile else ()
            possible.add((*map(tuple, world.hands), *left))
    known = memory.knowledge()
    assert possible == claimed(known)
    # The certain cards are those that all these hands have in common.
    for number, held in enumerate(known.hands):
        options = [Counter(found[number]) for found in possible]
        common = {card: min(option[card] for option in options) for card in Card}
        assert Counter(held.certain) == +Counter(common)


@given(seed=seeds, both=st.booleans(), seat=st.integers(0, 4))
@example(seed=bytes(16), both=True, seat=3)
def test_the_end_of_a_real_game_against_all_its_deals(*, seed: bytes, both: bool, seat: int) -> None:
    """With five players three cards are undealt. Every exchange of them with the unseen hand is played."""
    rules = Rules(players=5, pass_both_ways=both)
    game = [(state, moves) for state, moves in random_game(rules, seed) if moves is not None]
    game = [(state, moves) for state, moves in game if (state.round, state.turn) <= (3, 4)]
    state = game[-1][0]
    known = knowledge(view(state, seat))
    # Hands go to the next seat. In turn 4 the only unseen hand is the one that was dealt to the next seat.
    start, size = 2 * 35, 7
    origin = (seat + 1) % 5
    places = [*range(start + origin * size, start + (origin + 1) * size), *range(105, 108)]
    possible = set()
    for chosen in combinations(places, size):
        deck = list(state.deck)
        order = [*chosen, *(place for place in places if place not in chosen)]
        for place, source in zip(places, order, strict=True):
            deck[place] = state.deck[source]
        if (again := followed(new_game(rules, deck), game, seat)) is not None:
            possible.add(tuple(again.hands))
    assert state.hands in possible
    assert possible == claimed(known)


def followed(state: State, game: Sequence[tuple[State, Sequence[object]]], seat: int) -> State | None:
    """Play a game's moves from another deal. Return None if the seat would have seen a difference."""
    for before, moves in game:
        if view(state, seat) != view(before, seat):
            return None
        if before is game[-1][0]:
            return state
        try:
            state = apply(state, moves)  # type: ignore[arg-type]
        except ValueError:
            return None
    return None


@given(variants, seeds)
def test_knowledge_agrees_with_the_true_hands(rules: Rules, seed: bytes) -> None:
    """Before every decision and after every reveal, the seats' knowledge allows the true hands."""
    for state, moves in random_game(rules, seed):
        if moves is None:
            break
        for moment in moments(state, moves):
            turn = Turn(moment.state.round, moment.state.turn, moment.plays)
            for seat in range(rules.players):
                seen = seat_view(moment.state, seat)
                before, after = knowledge(seen), knowledge(seen, turn)
                fits(before, [*moment.state.hands, *piles(moment.state)])
                fits(after, [*moment.hands, *piles(moment.state)])
                assert before.hands[seat] == HeldCards(moment.state.hands[seat], 0)
                assert after.hands[seat] == HeldCards(moment.hands[seat], 0)


def piles(state: State) -> list[Hand]:
    """Return a list with the dummy's pile, empty without a dummy."""
    return [state.pile] if state.rules.dummy else []


def fits(known: Knowledge, hands: Sequence[Hand]) -> None:
    """Check that the knowledge allows the true hands."""
    unseen = Counter(known.unseen)
    for held, hand in zip(known.hands, hands, strict=True):
        hidden = Counter(hand)
        hidden.subtract(held.certain)
        assert min(hidden.values(), default=0) >= 0
        assert hidden.total() == held.hidden
        unseen.subtract(hidden)
    assert min(unseen.values(), default=0) >= 0


@pytest.mark.parametrize("rules", VARIANTS, ids=name)
def test_unseen_cards_and_placed_ones_are_the_deck(rules: Rules) -> None:
    """No card is lost or counted twice."""
    for state, moves in random_game(rules, bytes(range(16))):
        if moves is None:
            break
        known = knowledge(view(state, seats_to_move(state)[0]))
        certain = Counter(card for held in known.hands for card in held.certain)
        placed = Counter(state.deck[: (state.round - 1) * rules.hand_size * rules.participants])
        placed.update(card for table in state.tables for card in table)
        assert Counter(known.unseen) + certain + placed == Counter(state.deck)


def test_cards_that_can_not_be_elsewhere_are_certain() -> None:
    """Only two of five tempura can be undealt, so three are in the unseen hand."""
    deck = [Card.TEMPURA] * 5 + [Card.PUDDING] * 2 + [Card.SASHIMI] * 5
    memory = Memory(deck, [5, 5])
    memory.look(0, (Card.SASHIMI,) * 5)
    known = memory.knowledge()
    assert known.hands == (
        HeldCards((Card.SASHIMI,) * 5, 0),
        HeldCards((Card.TEMPURA,) * 3, 2),
    )
    assert known.unseen == (Card.TEMPURA, Card.TEMPURA, Card.PUDDING, Card.PUDDING)


def test_chopsticks_that_went_back_are_certain_until_some_are_placed() -> None:
    """Even in a hand that the seat has never held, the chopsticks are certain."""
    memory = Memory([*KINDS * 4], [4, 4, 4])
    memory.look(0, KINDS)
    memory.reveal(0, (Card.TEMPURA,), chopsticks=False)
    memory.reveal(1, (Card.SASHIMI, Card.DUMPLING), chopsticks=True)
    memory.reveal(2, (Card.TEMPURA,), chopsticks=False)
    assert memory.knowledge().hands[1] == HeldCards((CHOPSTICKS,), 2)
    memory.pass_on(1)
    assert memory.knowledge().hands[2] == HeldCards((CHOPSTICKS,), 2)
    memory.reveal(2, (CHOPSTICKS,), chopsticks=False)
    assert memory.knowledge().hands[2] == HeldCards((), 2)


@given(variants, seeds)
def test_moments_are_what_apply_goes_through(rules: Rules, seed: bytes) -> None:
    """``moments`` has one moment per turn, with hands and tables that agree with the states of ``apply``."""
    for state, moves in random_game(rules, seed):
        if moves is None:
            break
        found = moments(state, moves)
        after = apply(state, moves)
        revealed = after.turns[len(state.turns) :]
        assert [moment.plays for moment in found] == [turn.plays for turn in revealed]
        assert found[0].state == state
        last = found[-1]
        if after.round == state.round and not after.over:
            assert len(found) == 1
            assert last.tables == after.tables
            step = rules.direction(state.round)
            for seat, hand in enumerate(last.hands):
                passed = Counter(after.hands[(seat + step) % rules.players])
                passed.subtract(hand)
                assert +passed == Counter([after.drawn] if passed.total() else [])
        else:
            assert len(found) == 1 + (not rules.dummy)
            assert last.hands == ((),) * rules.players


def test_moments_refuse_what_apply_refuses() -> None:
    """``moments`` and ``apply`` raise the same errors."""
    *_, (end, _) = random_game(Rules(players=2), bytes(16))
    with pytest.raises(ValueError, match="the game is over"):
        moments(end, (None, None))
    state, _ = next(random_game(Rules(players=3), bytes(16)))
    with pytest.raises(ValueError, match="2 entries for 3 seats"):
        moments(state, random_moves(state, Random(1))[:2])  # noqa: S311 - a test's dice
