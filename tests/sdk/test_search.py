"""The search kit plays by the rules and deals only possible hands."""

from collections import Counter
from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rules import (
    Card,
    Move,
    Rules,
    State,
    apply,
    knowledge,
    new_game,
    seats_to_move,
    shuffled_deck,
    view,
)
from arena.sdk.search import World, decode, encode, playout, promise, simple_move, values, worlds
from tests.rules.helpers import VARIANTS
from tests.sdk.test_helpers import states


def dice(seed: int) -> Random:
    """Return a separate random generator."""
    return Random(seed)  # noqa: S311 - for a game


def face_up(state: State) -> World:
    """Return the world with the hands and the pile of a state."""
    world = worlds(view(state, seats_to_move(state)[0]))(dice(0))
    world.hands = [[int(card) for card in hand] for hand in state.hands]
    world.pile = [int(card) for card in reversed(state.pile)]
    return world


@given(state=states(), seed=st.integers(0, 2**32))
def test_a_round_follows_the_rules(state: State, seed: int) -> None:
    """Hands, tables, points and puddings equal those of the rules up to the end of the round."""
    rng, world, round_number = dice(seed), face_up(state), state.round
    while state.round == round_number and not state.over:
        moves = [
            decode(rng.choice(world.moves(seat))) if seat in seats_to_move(state) else None
            for seat in range(state.rules.players)
        ]
        world.step([encode(move) if move else world.hands[seat][0] for seat, move in enumerate(moves)])
        state = apply(state, moves)
        if state.round == round_number and not state.over:
            assert [sorted(hand) for hand in world.hands] == [list(hand) for hand in state.hands]
            assert [table[1:14] for table in world.tables] == [
                [table.count(card) for card in Card] for table in state.tables
            ]
            assert world.controller == (-1 if state.controller is None else state.controller)
    if world.turns:
        # The rules have played the last cards automatically.
        world.step([hand[0] for hand in world.hands])
    assert world.turns == 0
    assert world.totals() == list(state.scores)
    assert world.puddings() == list(state.puddings)


@given(state=states(), seed=st.integers(0, 2**32))
def test_every_legal_move_has_an_equivalent(state: State, seed: int) -> None:
    """A legal move that isn't listed has a listed one with another order and at least as many points."""
    world = face_up(state)
    for seat in seats_to_move(state):
        legal = view(state, seat).legal_moves()
        offered = {decode(code) for code in world.moves(seat)}
        assert offered <= set(legal)
        rng = dice(seed)
        for move in rng.sample(legal, min(20, len(legal))):
            alike = [Move(cards, move.dummy) for cards in permutations(move.cards)]
            found = [other for other in alike if other in offered]
            assert found
            assert any(_nigiri(world, seat, other) >= _nigiri(world, seat, move) for other in found)
        assert all(decode(encode(move)) == move for move in legal)


def _nigiri(world: World, seat: int, move: Move) -> tuple[int, int]:
    """Return the points of the nigiri after a move, and the number of free wasabi."""
    after = world.copy()
    after.step(
        [encode(move) if other == seat else after.moves(other)[0] for other in range(len(world.hands))]
    )
    return after.tables[seat][15], after.tables[seat][14]


@given(state=states(), data=st.data())
def test_worlds_agree_with_what_is_known(state: State, data: st.DataObject) -> None:
    """Every hand has its size and its certain cards; its other cards are unseen ones."""
    seen = view(state, data.draw(st.sampled_from(seats_to_move(state))))
    known = knowledge(seen)
    world = worlds(seen)(dice(data.draw(st.integers(0, 2**32))))
    dealt = [*world.hands, world.pile] if seen.rules.dummy else world.hands
    assert tuple(map(len, dealt)) == seen.hand_sizes
    assert sorted(world.hands[seen.seat]) == list(seen.hand)
    hidden: Counter[int] = Counter()
    for hand, held in zip(dealt, known.hands, strict=True):
        assert not Counter(map(int, held.certain)) - Counter(hand)
        hidden += Counter(hand) - Counter[int](map(int, held.certain))
    assert not hidden - Counter(map(int, known.unseen))


def test_every_deal_is_equally_likely() -> None:
    """Each unseen card is in the neighbour's hand as often as expected, within four standard deviations."""
    rules = Rules(players=3)
    seen = view(new_game(rules, shuffled_deck(rules, bytes(16))), 0)
    unseen, rng, times = Counter(knowledge(seen).unseen), dice(4), 3000
    deal = worlds(seen)
    in_hand = Counter(card for _ in range(times) for card in deal(rng).hands[1])
    for card, count in unseen.items():
        expected = times * 9 * count / unseen.total()
        assert abs(in_hand[card] - expected) < 4 * (expected * (1 - count / unseen.total())) ** 0.5


@given(state=states(), seed=st.integers(0, 2**32), noise=st.sampled_from([0.0, 0.3]))
def test_simple_players_move_legally(state: State, seed: int, noise: float) -> None:
    """Simple players move legally in every world. A playout ends the round, and its values sum to zero."""
    world, rng = face_up(state), dice(seed)
    for seat in seats_to_move(state):
        move = simple_move(world, seat, rng, noise)
        assert decode(move) in view(state, seat).legal_moves()
        assert isinstance(promise(world, seat, move), float)
    untouched = world.copy()
    playout(world, rng, noise)
    assert world.turns == 0
    assert not any(world.hands)
    ends = values(world)
    assert sum(ends) == pytest.approx(0, abs=1e-9)
    assert all(-1 <= value <= 1 for value in ends)
    assert [sorted(hand) for hand in untouched.hands] == [list(hand) for hand in state.hands]


@pytest.mark.parametrize("rules", VARIANTS, ids=str)
def test_the_same_dice_deal_the_same_worlds(rules: Rules) -> None:
    """Only the generator that is passed affects the deal and the playout."""
    deal = worlds(view(new_game(rules, shuffled_deck(rules, bytes(16))), 0))

    def ends(seed: int) -> list[float]:
        rng = dice(seed)
        world = deal(rng)
        playout(world, rng, 0.2)
        return values(world)

    assert ends(3) == ends(3)
