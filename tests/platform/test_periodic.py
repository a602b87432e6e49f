"""Test of periodic actions that continue after errors."""

import threading

from structlog.testing import capture_logs

from arena.platform.periodic import PeriodicTask
from tests.patience import WAIT_SECONDS


def test_an_action_recurs_after_any_error_until_its_context_ends() -> None:
    """Expected errors are logged as one line, others with a traceback. Either way, the action is repeated."""
    done = threading.Event()
    times: list[int] = []

    def act() -> None:
        times.append(len(times))
        if len(times) == 1:
            raise OSError("the line is down")
        if len(times) == 2:
            raise ZeroDivisionError
        done.set()

    with capture_logs() as logs, PeriodicTask(act, name="test-recurring", seconds=0.001, expected=(OSError,)):
        assert done.wait(WAIT_SECONDS)
    assert [(line["log_level"], line.get("error"), line.get("exc_info")) for line in logs] == [
        ("warning", "the line is down", None),
        ("error", None, True),
    ]
    assert all(thread.name != "test-recurring" for thread in threading.enumerate())
