"""What is done again and again is never given up."""

import threading

from structlog.testing import capture_logs

from arena.platform.recurring import Recurring
from tests.patience import WAIT_SECONDS


def test_it_goes_on_after_any_failure_until_its_context_ends() -> None:
    """What was expected is a line, what was not has its trace; either way the next time comes."""
    done = threading.Event()
    times: list[int] = []

    def act() -> None:
        times.append(len(times))
        if len(times) == 1:
            raise OSError("the line is down")
        if len(times) == 2:
            raise ZeroDivisionError
        done.set()

    with capture_logs() as logs, Recurring(act, name="test-recurring", seconds=0.001, expected=(OSError,)):
        assert done.wait(WAIT_SECONDS)
    assert [(line["log_level"], line.get("error"), line.get("exc_info")) for line in logs] == [
        ("warning", "the line is down", None),
        ("error", None, True),
    ]
    assert all(thread.name != "test-recurring" for thread in threading.enumerate())
