"""At its start an arena tries what its host can hold, keeps and logs it, and lets strangers play or not."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from arena.app.arena import open_arena
from arena.platform.settings import Settings
from arena.protocol.controls import CONTROL_NAMES, missing, unaccepted
from arena.protocol.match import RuntimeName


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    """Give the settings of an arena of its own, in a short folder."""
    run_dir = Path(tempfile.mkdtemp(prefix="kaiten-h-"))
    yield Settings(data_dir=tmp_path, run_dir=run_dir, accept_missing=frozenset())
    shutil.rmtree(run_dir)


def silent(_words: str) -> None:
    """Say nothing."""


@pytest.mark.docker
def test_the_report_is_kept_and_decides(base_image: str, settings: Settings) -> None:
    """What is missing is logged by name; strangers play if nothing is, and the store knows."""
    assert base_image
    with open_arena(settings) as arena, structlog.testing.capture_logs() as logs:
        assert arena.ladder.gate.house_only
        report = arena.check_host(silent)
        assert arena.ladder.gate.house_only == bool(unaccepted(report, ()))
        assert [(status.report, status.accepted) for status in arena.store.activity.hosts()] == [
            (report, frozenset())
        ]
    named = [entry["control"] for entry in logs if entry["event"] == "sandbox control failed"]
    assert tuple(named) == missing(report)
    assert len(report.findings) == len(CONTROL_NAMES)
    assert arena.slots is not None
    assert report.slots == arena.slots.size


@pytest.mark.docker
def test_what_is_accepted_by_name_opens_the_gate(base_image: str, settings: Settings) -> None:
    """Whatever this host lacks, and the store says what was accepted."""
    assert base_image
    everything = settings.model_copy(update={"accept_missing": frozenset(CONTROL_NAMES)})
    with open_arena(everything) as arena:
        arena.check_host(silent)
        assert not arena.ladder.gate.house_only
        (status,) = arena.store.activity.hosts()
    assert status.accepted == frozenset(CONTROL_NAMES)
    assert status.unaccepted == ()


def test_plain_processes_keep_strangers_out(settings: Settings) -> None:
    """Whatever is accepted; the report says that nothing isolates."""
    processes = settings.model_copy(
        update={"sandbox": RuntimeName.PROCESS, "accept_missing": frozenset(CONTROL_NAMES)}
    )
    with open_arena(processes) as arena:
        report = arena.check_host(silent)
        assert arena.ladder.gate.house_only
        (status,) = arena.store.activity.hosts()
    assert not report.isolates
    assert status.unaccepted == CONTROL_NAMES
    assert status.report == report
    assert arena.slots is not None
    assert report.slots == arena.slots.size
