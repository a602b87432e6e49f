"""The referee's process, as its launcher sees it."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.launcher.referee import RefereeProcess
from arena.match import Clock
from arena.referee.spec import Listening, RefereeSpec
from arena.rules import Rules


@pytest.fixture
def spec() -> Iterator[RefereeSpec]:
    """Give a match to which nobody ever comes."""
    with tempfile.TemporaryDirectory(prefix="kaiten-r-") as name:  # short: an address holds 107 bytes
        folder = Path(name)
        inner = folder / "referee"
        inner.mkdir()
        yield RefereeSpec(
            rules=Rules(players=2),
            seeds=("1" * 32,),
            clock=Clock(),
            sockets=tuple(str(folder / f"{seat}.sock") for seat in range(2)),
            folder=str(inner),
            uid=None,
            memory_mib=512,
        )


def test_a_match_that_takes_too_long_says_so(spec: RefereeSpec) -> None:
    """Whoever looks after the arena reads why the referee was ended, and not only that it was."""
    with RefereeProcess(spec) as referee:
        timer = None
        for message in referee.messages():
            assert isinstance(message, Listening)
            timer = referee.kill_after(0.2)
        assert timer is not None
        assert referee.last_words() == "the match was not over after 0 s, the most that its clocks allow"


def test_a_referee_that_is_ended_says_how(spec: RefereeSpec) -> None:
    """Its exit code is told where it was ended by something else."""
    with RefereeProcess(spec) as referee:
        for _ in referee.messages():
            referee.kill()
        assert referee.last_words().startswith("the referee ended with exit code -9")
