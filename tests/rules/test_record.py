"""The log of a game, and its replay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rules import GameLog, IllegalMove, InvalidRules, Rules, State, replay

from .helpers import cards, move, random_game, seeds, variants


def log_of(rules: Rules, seed: bytes) -> tuple[GameLog, list[State]]:
    """Play a game at random; return its log and its states."""
    game = list(random_game(rules, seed))
    moves = tuple(moves for _, moves in game if moves is not None)
    return GameLog(rules, game[0][0].deck, moves), [state for state, _ in game]


@given(variants, seeds)
def test_playing_a_log_again_gives_the_same_game(rules: Rules, seed: bytes) -> None:
    """Playing a log again gives the same states."""
    log, states = log_of(rules, seed)
    again = replay(log)
    assert again.state == states[-1]
    assert (again.states, again.stopped) == (tuple(states), None)


@given(variants, seeds, st.integers(0, 26))
def test_a_log_that_breaks_a_rule_is_played_up_to_there(rules: Rules, seed: bytes, at: int) -> None:
    """The replay has the states before the wrong step, and the error."""
    log, states = log_of(rules, seed)
    at %= len(log.moves)
    wrong = tuple(move("tp tp tp") if choice else None for choice in log.moves[at])
    again = replay(log._replace(moves=(*log.moves[:at], wrong, *log.moves[at + 1 :])))
    assert again.state == states[at]
    assert again.states == tuple(states[: at + 1])
    assert isinstance(again.stopped, IllegalMove)


@pytest.mark.parametrize("entries", [(None,), (None, None), (None, None, None)])
def test_a_log_without_a_move_of_an_asked_seat_stops_there(entries: tuple[None, ...]) -> None:
    """A wrong number of entries also stops the replay."""
    log, states = log_of(Rules(players=2), bytes(16))
    again = replay(log._replace(moves=(log.moves[0], entries)))
    assert again.states == tuple(states[:2])
    assert again.stopped is not None


def test_a_log_that_is_too_long_is_an_error() -> None:
    """The replay reports the steps after the end of the game."""
    log, states = log_of(Rules(players=2), bytes(16))
    again = replay(log._replace(moves=(*log.moves, log.moves[-1])))
    assert again.state == states[-1]
    assert str(again.stopped) == "1 step after the end of the game"


def test_a_log_that_is_too_short_is_a_game_in_progress() -> None:
    """The moves in the log are played without an error."""
    log, states = log_of(Rules(players=3), bytes(16))
    again = replay(log._replace(moves=log.moves[:5]))
    assert (again.states, again.stopped) == (tuple(states[:6]), None)


def test_a_log_with_another_deck_is_refused() -> None:
    """The deck must have the cards of the rules."""
    log, _ = log_of(Rules(players=2), bytes(16))
    with pytest.raises(InvalidRules):
        replay(log._replace(deck=cards("tp tp tp")))
