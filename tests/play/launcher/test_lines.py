"""Every log line about a match has the match's IDs, whichever thread writes it."""

from contextlib import closing

from structlog.contextvars import get_contextvars

from arena.sandbox.process.runtime import ProcessRuntime
from arena.sandbox.runtime import Exit, Sandbox, SandboxSpec
from tests.play.launcher import programs
from tests.play.launcher.conftest import hall_over
from tests.sandbox.stage import ProcessStage

IDS = {"match": "m", "attempt": 1}


class _Heard:
    """A sandbox that records the IDs with which its caller would log."""

    def __init__(self, sandbox: Sandbox, heard: list[tuple[str, object]]) -> None:
        self._sandbox = sandbox
        self._heard = heard
        self.limits = sandbox.limits
        self.cpu = sandbox.cpu

    def wait(self) -> Exit:
        self._heard.append(("wait", get_contextvars()))
        return self._sandbox.wait()

    def check_untouched(self) -> None:
        self._sandbox.check_untouched()

    def remove(self) -> None:
        self._heard.append(("remove", get_contextvars()))
        self._sandbox.remove()

    def stderr(self) -> str:
        return self._sandbox.stderr()


class _Listening(ProcessRuntime):
    """A process runtime that records these IDs too."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[tuple[str, object]] = []

    def launch(self, spec: SandboxSpec) -> Sandbox:  # type: ignore[override] # a wrapped sandbox
        self.heard.append(("launch", get_contextvars()))
        return _Heard(super().launch(spec), self.heard)


def test_every_thread_of_a_match_logs_with_its_ids() -> None:
    """The threads that start, watch and remove sandboxes have the IDs; after the match they are gone."""
    with closing(ProcessStage()) as stage:
        stage.runtime = runtime = _Listening()
        with hall_over(stage) as hall:
            record = hall.play(programs.GOOD, programs.GOOD)
    assert {what for what, _ in runtime.heard} == {"launch", "wait", "remove"}
    assert all(ids == IDS for _, ids in runtime.heard)
    assert record.launch_seconds > 0
    assert get_contextvars() == {}
