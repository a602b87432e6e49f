"""The course of a replay: its game played again, turn by turn."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.play.replay.document import InvalidReplay, PublicReplay, parse
from arena.play.replay.verify import course, decisions
from arena.protocol.faults import Fault
from arena.rules import Rules, score_round
from tests.play.replay.games import faulty, replay_of

GOLDEN = sorted((Path(__file__).parents[2] / "golden").glob("*.jsonl"))


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
