"""The referee's process, as seen by its launcher."""

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from arena.play.launcher import MatchVoid
from arena.play.launcher.launcher import RefereeProcess
from arena.play.referee.spec import Listening, RefereeSpec
from arena.protocol.match import Clock, MatchRecord
from tests.patience import wait_until
from tests.play.launcher import programs
from tests.play.launcher.conftest import Hall, referees
from tests.play.referee.lines import referee_spec, waits_in_splice
from tests.soak import many


@pytest.fixture
def spec() -> Iterator[RefereeSpec]:
    """Yield a match whose bots never connect."""
    with referee_spec() as spec:
        yield spec


def test_a_match_that_takes_too_long_says_so(spec: RefereeSpec) -> None:
    """The error that the operator reads says why the referee was ended."""
    with RefereeProcess(spec, lambda: None) as referee:
        timer = None
        for message in referee.messages():
            assert isinstance(message, Listening)
            timer = referee.kill_after(0.2)
        assert timer is not None
        assert referee.describe_end() == "the match did not end within 0 s, the limit derived from its clocks"


def test_a_killed_referee_is_described_by_its_exit_code(spec: RefereeSpec) -> None:
    """The text has the exit code if something other than the time limit ended the referee."""
    with RefereeProcess(spec, lambda: None) as referee:
        for _ in referee.messages():
            referee.kill()
        assert referee.describe_end().startswith("the referee exited with code -9")


def test_bots_are_removed_if_one_keeps_the_referee_from_ending(
    spec: RefereeSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bots are removed although the killed referee can't exit, since it waits for the lock of its pipe."""
    monkeypatch.setattr("arena.play.launcher.launcher._EXIT_SECONDS", 0.2)
    source, other = socket.socketpair()
    removed = threading.Event()

    def remove() -> None:
        removed.set()
        with suppress(OSError):  # the referee's exit is awaited twice, and the socket may be closed by now
            other.send(b"\n")

    with source, other:
        with RefereeProcess(spec, remove) as referee:
            stdin = referee._process.stdin  # noqa: SLF001 - a pipe that the test can lock
            assert stdin is not None
            # Holds the lock while it waits for something to copy.
            holder = threading.Thread(target=os.splice, args=(source.fileno(), stdin.fileno(), 1))
            holder.start()
            wait_until(partial(waits_in_splice, holder), "the lock")
            referee.kill()
        holder.join()
    assert removed.is_set()


STOPS_THE_REFEREE = """
import os, pathlib, signal, time
referee = pathlib.Path(REFEREE)
while not referee.exists():
    time.sleep(0.02)
os.kill(int(referee.read_text()), signal.SIGSTOP)
pathlib.Path(STOPPED).touch()
REST
"""
"""The bot itself stops the referee, since its time to greet runs until then."""

WAITS = f"import arena.sdk.stream\narena.sdk.stream._CONNECT_SECONDS = 0.3\n{programs.GOOD}"
"""A bot that reaches its library's limit for a missing socket while the referee is stopped."""

IMPATIENT = "raise SystemExit('nobody answers')"


def _stood_still(
    hall: Hall, folder: Path, rest: str, seconds: float, clock: Clock | None = None
) -> MatchRecord:
    """Play a match whose referee is stopped for ``seconds`` while the first bot continues with ``rest``."""
    found, stopped = folder / "referee", folder / "stopped"
    bot = STOPS_THE_REFEREE.replace("REFEREE", repr(str(found))).replace("STOPPED", repr(str(stopped)))

    def go_on() -> None:
        (referee,) = wait_until(referees, "the referee")
        written = folder / "written"
        written.write_text(str(referee))
        written.rename(found)
        try:
            wait_until(stopped.exists, "the bot")
            time.sleep(seconds)
        finally:
            os.kill(referee, signal.SIGCONT)

    with ThreadPoolExecutor(1) as pool:
        going_on = pool.submit(go_on)
        try:
            return hall.play(bot.replace("REST", rest), programs.GOOD, clock=clock)
        finally:
            going_on.result()


def test_bots_wait_for_a_referee_that_stands_still(process_hall: Hall, tmp_path: Path) -> None:
    """Even if a referee is stopped for longer than the time to greet, no bot gives up and none is blamed."""
    clock = Clock(start_millis=many(3_000, 10_000))
    record = _stood_still(process_hall, tmp_path, WAITS, many(4, 13), clock)
    assert not any(decision.fault for step in record.games[0].steps for decision in step if decision)
    assert [seat.trouble for seat in record.seats] == [None, None]


def test_a_bot_that_gives_up_on_a_referee_that_stands_still_is_not_blamed(
    process_hall: Hall, tmp_path: Path
) -> None:
    """If a bot without our library's patience exits while the referee is stopped, the match is void."""
    with pytest.raises(
        MatchVoid, match=r"the referee was not running for .* while the bot in seat 0 was starting"
    ):
        _stood_still(process_hall, tmp_path, IMPATIENT, 6)
