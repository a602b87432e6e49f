"""The decisions of a recorded game, with the view and the move of each."""

import pytest

from arena.play.replay.document import labels
from arena.play.replay.verify import decisions, log_of
from arena.protocol.faults import Fault
from arena.rules import Rules, replay, seats_to_move, view
from tests.play.replay.games import SEED, faulty, replay_of

VARIANTS = (
    Rules(players=2),
    Rules(players=2, dummy=True),
    Rules(players=3, pass_both_ways=True),
    Rules(players=5, soy_sauce=True),
)


@pytest.mark.parametrize("rules", VARIANTS, ids=str)
def test_decisions_are_the_views_and_the_moves_placed(rules: Rules) -> None:
    """Each decision has the seat's view and the legal move that the document shows."""
    recorded = replay_of(rules)
    states = replay(log_of(recorded)).states
    placed = {(turn.round, turn.turn): turn.plays for turn in recorded.turns}
    found = decisions(recorded)
    for each in found:
        assert each.view == view(states[each.step], each.view.seat)
        assert each.move in each.view.legal_moves()
        assert labels(each.move.cards) == placed[each.view.round, each.view.turn][each.view.seat]
        if each.view.control:
            assert each.move.dummy is not None
            assert labels([each.move.dummy]) == placed[each.view.round, each.view.turn][-1]
    asked = {(each.step, each.view.seat) for each in found}
    assert asked == {(step, seat) for step, state in enumerate(states) for seat in seats_to_move(state)}


def test_decisions_show_who_chose() -> None:
    """The stand-in's decisions are marked: single ones, and all after a takeover."""
    recorded = faulty(Rules(players=3), {(2, 1): Fault.TIMEOUT, (5, 0): Fault.CRASH}, SEED)
    found = {(each.step, each.view.seat): each for each in decisions(recorded)}
    assert found[2, 1].standin
    assert not found[3, 1].standin
    assert all(found[step, 0].standin for step in range(5, 24))
