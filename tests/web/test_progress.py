"""A submission's progress by step."""

from dataclasses import replace
from datetime import timedelta

import pytest

from arena.db.submissions import KnownSubmission
from arena.languages.registry import UploadKind
from arena.protocol.submissions import Stage
from tests.db.builders import START
from web.submissions.pages import StepState, steps

SENT = KnownSubmission(
    number=1,
    id="5ca1ab1e",
    bot="mine",
    author="ann",
    account=1,
    kind=UploadKind.PYTHON,
    note="",
    size=1,
    sha256="ab" * 32,
    stage=Stage.RECEIVED,
    source=None,
    version=None,
    received=START,
    inspected=None,
    qualifying=None,
    ended=None,
    waiting=None,
    cause=None,
    check_only=False,
)
LATER = [START + timedelta(seconds=seconds) for seconds in (3, 4, 64)]


@pytest.mark.parametrize(
    ("stage", "reached", "states"),
    [
        (Stage.RECEIVED, 0, "now ahead ahead ahead"),
        (Stage.INSPECTED, 1, "done now ahead ahead"),
        (Stage.QUALIFYING, 2, "done done now ahead"),
        (Stage.ACTIVE, 3, "done done done done"),
        (Stage.REJECTED, 3, "done done done failed"),
    ],
)
def test_each_step_has_a_state_and_a_time(stage: Stage, reached: int, states: str) -> None:
    """Completed steps have their time and duration. The last step is the outcome."""
    inspected, qualifying, ended = [at if number < reached else None for number, at in enumerate(LATER)]
    sent = replace(SENT, stage=stage, inspected=inspected, qualifying=qualifying, ended=ended)
    made = steps(sent)
    assert " ".join(step.state for step in made) == states
    assert [step.at for step in made if step.at is not None] == [START, *LATER[:reached]]
    assert [step.took and step.took.seconds for step in made][: reached + 1] == [None, 3, 1, 60][
        : reached + 1
    ]
    assert made[-1].stage is (Stage.REJECTED if stage is Stage.REJECTED else Stage.ACTIVE)
    assert steps(replace(sent, check_only=True))[-1].stage is (
        Stage.REJECTED if stage is Stage.REJECTED else Stage.PASSED
    )


def test_an_early_rejection_skips_the_other_steps() -> None:
    """The duration of the last step is measured from the previous completed step."""
    made = steps(replace(SENT, stage=Stage.REJECTED, ended=LATER[0]))
    assert [step.state for step in made] == [
        StepState.DONE,
        StepState.NEVER,
        StepState.NEVER,
        StepState.FAILED,
    ]
    assert made[-1].took == timedelta(seconds=3)
