"""Tests that games in NumPy agree with the rules."""

import numpy as np
import pytest

from arena.env import Batch, shuffled
from arena.rules import Card, Move, Rules, State, apply, new_game, seat_view, seats_to_move
from arena.sdk.spaces import Mask, Whole, action_of, legal_actions, move_of, observe
from tests.rules.helpers import VARIANTS
from tests.soak import many

_GAMES = many(10, 10_000)


def drawn(mask: Mask, rng: np.random.Generator) -> Whole:
    """Draw a random legal action for every seat."""
    actions: Whole = (mask * rng.random(mask.shape)).argmax(axis=-1)
    return actions


@pytest.mark.parametrize("rules", VARIANTS, ids=str)
def test_games_follow_the_rules(rules: Rules) -> None:
    """Observations, legal actions and asked seats agree in every turn, points and places at the end."""
    rng = np.random.default_rng(7)
    decks = shuffled(rules, _GAMES, rng)
    batch = Batch(rules, decks)
    states = [new_game(rules, [Card(card) for card in deck]) for deck in decks]
    while not batch.over:
        mask, observed = batch.legal_actions(), batch.observe()
        for game, state in enumerate(states):
            assert seats_to_move(state) == batch.seats_to_move
            for seat in batch.seats_to_move:
                shown = seat_view(state, seat)
                assert (mask[game, seat] == legal_actions(shown)).all()
                assert (observed[game, seat] == observe(shown)).all()
        actions = drawn(mask, rng)
        batch.step(actions)
        states = [_applied(state, actions[game]) for game, state in enumerate(states)]
    for game, state in enumerate(states):
        assert state.result is not None
        assert tuple(batch.scores[game]) == state.result.totals
        assert tuple(batch.puddings[game]) == state.result.puddings
        assert tuple(batch.places[game]) == state.result.places
    assert batch.seats_to_move == ()
    assert np.allclose(batch.rewards.sum(axis=1), 0)
    assert (batch.rewards[batch.places == 1] >= 0).all()


def _applied(state: State, actions: Whole) -> State:
    moves: list[Move | None] = [None] * state.rules.players
    for seat in seats_to_move(state):
        moves[seat] = move_of(int(actions[seat]))
    return apply(state, moves)


def test_actions_and_moves_correspond() -> None:
    """Each action number gives a different move, which is converted back to the same number."""
    moves = [move_of(action) for action in range(13 * 14 * 14)]
    assert [action_of(move) for move in moves] == list(range(len(moves)))
    with pytest.raises(ValueError, match="2548 is not an action"):
        move_of(2548)


@pytest.mark.parametrize("rules", [Rules(players=3), Rules(players=2, dummy=True)], ids=str)
def test_an_illegal_action_is_refused_and_changes_nothing(rules: Rules) -> None:
    """Actions outside the mask are refused, and change nothing."""
    rng = np.random.default_rng(3)
    batch = Batch(rules, shuffled(rules, 1, rng))
    # Play some turns first, so that chopsticks may be on a table.
    for _ in range(4):
        batch.step(drawn(batch.legal_actions(), rng))
    mask, before = batch.legal_actions(), batch.observe()
    legal = mask.argmax(axis=-1)
    for seat in range(rules.players):
        for action in np.flatnonzero(~mask[0, seat]):
            tried = legal.copy()
            tried[0, seat] = action
            with pytest.raises(ValueError, match=f"game 0, seat {seat}: action {action} is not legal"):
                batch.step(tried)
    for wrong in (-1, mask.shape[-1]):
        with pytest.raises(ValueError, match=f"actions must be from 0 to {mask.shape[-1] - 1}"):
            batch.step(np.full_like(legal, wrong))
    with pytest.raises(ValueError, match="shape"):
        batch.step(legal[:, :1])
    assert (batch.observe() == before).all()


def test_a_finished_batch_refuses_steps() -> None:
    """No steps are accepted after the end, and there are no rewards before it."""
    rules, rng = Rules(players=2), np.random.default_rng(1)
    batch = Batch(rules, shuffled(rules, 5, rng))
    with pytest.raises(ValueError, match="not over"):
        _ = batch.rewards
    while not batch.over:
        batch.step(drawn(batch.legal_actions(), rng))
    with pytest.raises(ValueError, match="games are over"):
        batch.step(np.zeros((5, 2), dtype=int))
