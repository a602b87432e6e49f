"""Progress that a launcher reports during a match."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from arena.protocol.match import Clock, MatchRecord, Progress, decode, encode
from tests.patience import WAIT_SECONDS
from tests.play.launcher import programs
from tests.play.launcher.conftest import Hall

SLOW = Clock(move_millis=60_000)


def waiting(*files: Path) -> str:
    """Return a bot that waits, at the start of rounds 2 and 3, until the round's file exists."""
    return f"""
import time
from pathlib import Path
from arena.sdk import run

FILES = {[str(file) for file in files]}

def choose(view):
    if view.round > 1:
        while not Path(FILES[view.round - 2]).exists():
            time.sleep(0.01)
    return view.legal_moves()[-1]

run(choose)
"""


def test_rounds_are_reported_when_they_are_over_and_never_before(process_hall: Hall, tmp_path: Path) -> None:
    """Nothing is reported during a round, and the reported steps equal those in the match's record."""
    files = [tmp_path / f"round-{number}" for number in (2, 3)]
    spec = process_hall.spec(waiting(*files), programs.GOOD, clock=SLOW)
    told: list[Progress] = []
    more = threading.Condition()

    def hear(data: bytes) -> None:
        with more:
            told.append(decode(data, Progress))
            more.notify_all()

    with ThreadPoolExecutor(1) as pool:
        match = pool.submit(process_hall.launcher.play, encode(spec), (0, 1), hear)
        asked = spec.rules.turns - 1
        try:
            for rounds in (1, 2):
                with more:
                    assert more.wait_for(lambda: len(told) >= rounds, WAIT_SECONDS), match  # noqa: B023 - called here
                assert [len(each.steps) for each in told] == [asked, 2 * asked][:rounds]
                files[rounds - 1].touch()
        finally:
            for file in files:
                file.touch()
        record = decode(match.result(WAIT_SECONDS), MatchRecord)
    assert {(each.match, each.attempt, each.game) for each in told} == {("m", 1, 0)}
    for each in told:
        assert each.steps == record.games[0].steps[: len(each.steps)]


def test_a_quick_match_reports_little(process_hall: Hall) -> None:
    """Most games that take milliseconds aren't reported, so that spectators don't slow down the ladder."""
    spec = process_hall.spec(programs.GOOD, programs.GOOD, games=32)
    told: list[bytes] = []
    began = time.monotonic()
    process_hall.launcher.play(encode(spec), (0, 1), told.append)
    assert len(told) <= 3 * ((time.monotonic() - began) / 0.5 + 1)
