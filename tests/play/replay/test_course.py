"""The course of a replay (its game, played again turn by turn), and the decisions in it."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.play.replay.document import InvalidReplay, PublicReplay, labels, parse
from arena.play.replay.verify import course, decisions, log_of
from arena.protocol.faults import Fault
from arena.rules import Rules, replay, score_round, seats_to_move, view
from tests.play.replay.games import SEED, faulty, replay_of

GOLDEN = sorted((Path(__file__).parents[2] / "golden").glob("*.jsonl"))
VARIANTS = (
    Rules(players=2),
    Rules(players=2, dummy=True),
    Rules(players=3, pass_both_ways=True),
    Rules(players=5, soy_sauce=True),
)


@pytest.mark.parametrize("file", GOLDEN, ids=lambda path: path.stem)
def test_golden_games_have_the_recorded_course(file: Path) -> None:
    """Every turn has the recorded cards, and the tables at a round's end score its points."""
    for line in file.read_text().splitlines():
        replay = parse(line)
        steps = course(replay)
        assert [step.noted for step in steps] == list(replay.turns)
        for step in steps:
            moment, noted = step.moment, step.noted
            assert (moment.state.round, moment.state.turn) == (noted.round, noted.turn)
            assert tuple(tuple(card.label for card in play) for play in moment.plays) == noted.plays
            assert not any(step.gone)
        for number, points in enumerate(replay.rounds, start=1):
            last = [step for step in steps if step.noted.round == number][-1]
            scores = score_round(replay.rules.as_rules, last.moment.tables)
            assert tuple(map(sum, scores)) == points.scores


def test_a_seat_is_gone_from_the_decision_that_counted() -> None:
    """A seat is gone from the decision with its third fault or first final fault on."""
    faults = {(0, 1): Fault.TIMEOUT, (2, 1): Fault.ILLEGAL, (5, 1): Fault.TIMEOUT, (7, 0): Fault.CRASH}
    steps = course(faulty(Rules(players=3), faults))
    # Step 7 is turn 8 of round 1, the last one with decisions.
    assert [step.gone for step in steps[4:9]] == [
        (False, False, False),
        (False, True, False),
        (False, True, False),
        (True, True, False),
        (True, True, False),
    ]


@pytest.mark.parametrize("read", [course, decisions])
def test_a_wrong_replay_is_refused(read: Callable[[PublicReplay], object]) -> None:
    """The error for a replay that breaks the rules has the first difference."""
    replay: PublicReplay = replay_of(Rules(players=2))
    with pytest.raises(InvalidReplay, match=r"totals\[0\]: is 1"):
        read(dataclasses.replace(replay, totals=(1, 2)))


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
