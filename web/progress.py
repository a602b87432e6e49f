"""How far a submission is, as its page draws it: one step after the other, each with its time. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from arena.store import KnownSubmission
from arena.submitting.stages import Stage


class StepState(StrEnum):
    """Where a submission is, seen from a step."""

    DONE = "done"
    NOW = "now"
    AHEAD = "ahead"
    NEVER = "never"
    """It ended before."""
    FAILED = "failed"
    """It ended here, and was not taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A stage on the way.

    Attributes:
        stage: Which.
        state: Where the submission is, seen from it.
        at: UTC, when it was reached; None where it was not.
        took: From the step before that was reached; None as above, and for the first.
    """

    stage: Stage
    state: StepState
    at: datetime | None
    took: timedelta | None


def steps(submission: KnownSubmission) -> tuple[Step, ...]:
    """Return the four steps of a submission; the last is active, unless it was rejected."""
    end = Stage.REJECTED if submission.stage is Stage.REJECTED else Stage.ACTIVE
    moments = {
        Stage.RECEIVED: submission.received,
        Stage.INSPECTED: submission.inspected,
        Stage.QUALIFYING: submission.qualifying,
        end: submission.ended,
    }
    made: list[Step] = []
    before: datetime | None = None
    for stage, at in moments.items():
        took = None if at is None or before is None else at - before
        made.append(Step(stage=stage, state=_state(submission.stage, stage, at), at=at, took=took))
        before = at or before
    return tuple(made)


def _state(reached: Stage, stage: Stage, at: datetime | None) -> StepState:
    if at is None:
        return StepState.NEVER if reached.over else StepState.AHEAD
    if stage is Stage.REJECTED:
        return StepState.FAILED
    return StepState.NOW if stage is reached and not reached.over else StepState.DONE
