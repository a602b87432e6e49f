"""Tests of the host check at an arena's start: it stores and logs the result, and opens the gate or not."""

from pathlib import Path

import pytest
import structlog

from arena.app.arena import open_arena
from arena.platform.settings import Settings
from arena.protocol.match import RuntimeName
from arena.protocol.sandbox_controls import CONTROL_NAMES, missing, unaccepted

ACCEPTED = frozenset({"swap"})


@pytest.fixture
def settings(tmp_path: Path, run_dir: Path) -> Settings:
    """Return the settings of a separate arena."""
    return Settings(data_dir=tmp_path, run_dir=run_dir, accept_missing=ACCEPTED)


def silent(_words: str) -> None:
    """Ignore the progress messages."""


@pytest.mark.docker
def test_the_report_is_stored_and_decides(base_image: str, settings: Settings) -> None:
    """Missing controls are logged by name. The gate opens if all of them are accepted."""
    assert base_image
    with open_arena(settings) as arena, structlog.testing.capture_logs() as logs:
        assert arena.ladder.gate.house_only
        report = arena.check_host(silent)
        assert arena.ladder.gate.house_only == bool(unaccepted(report, ACCEPTED))
        assert [(status.report, status.accepted) for status in arena.store.activity.hosts()] == [
            (report, ACCEPTED)
        ]
    named = [entry["control"] for entry in logs if entry["event"] == "sandbox control failed"]
    assert tuple(named) == missing(report)
    assert len(report.findings) == len(CONTROL_NAMES)
    assert arena.slots is not None
    assert report.slots == arena.slots.size


def test_plain_processes_keep_the_gate_closed(settings: Settings) -> None:
    """This is so even if all controls are accepted. The report says that nothing is isolated."""
    processes = settings.model_copy(
        update={"sandbox": RuntimeName.PROCESS, "accept_missing": frozenset(CONTROL_NAMES)}
    )
    with open_arena(processes) as arena:
        report = arena.check_host(silent)
        assert arena.ladder.gate.house_only
        (status,) = arena.store.activity.hosts()
    assert (report.isolates, report.runtime) == (False, "process (no isolation)")
    assert status.unaccepted == CONTROL_NAMES
    assert status.report == report
    assert arena.slots is not None
    assert report.slots == arena.slots.size
