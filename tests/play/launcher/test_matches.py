"""Complete matches with real processes and containers: good bots, and every way to fail."""

import os
import signal
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from arena.play.launcher import LauncherStopped, MatchVoid
from arena.protocol.faults import Fault
from arena.protocol.match import Clock, MatchRecord, decode, encode
from arena.rules import Rules
from arena.scheduler.check import check_record
from tests.patience import WAIT_SECONDS, wait_until
from tests.play.launcher import programs
from tests.play.launcher.conftest import Hall, faults, referees

PATIENT = Clock(start_millis=60_000, move_millis=20_000, bank_millis=20_000)
"""Enough time for the good bots, however busy this machine is. The failing bots end at once."""


@pytest.mark.parametrize("players", [2, pytest.param(5, marks=pytest.mark.soak)])
def test_good_bots_play_every_game(hall: Hall, players: int) -> None:
    """The record has all games, no faults, each bot's runtime and limits, and its output to the last line."""
    record = hall.play(*[programs.TALKS] * players, games=3)
    assert len(record.games) == 3
    assert len(record.seats) == players
    assert not any(faults(record, seat) for seat in range(players))
    assert all(seat.trouble is None and seat.sdk.startswith("kaiten-python/") for seat in record.seats)
    assert all(seat.runtime == hall.stage.runtime.describe and seat.limits for seat in record.seats)
    asked = [(number, turn) for number in (1, 2, 3) for turn in range(1, Rules(players=players).turns)]
    lines = [f"round {number}, turn {turn}" for number, turn in asked]
    assert [seat.stderr.splitlines() for seat in record.seats] == [lines * 3] * players
    assert all(seat.exit_code in {None, 0} for seat in record.seats)  # None if it was ended first


def test_illegal_answers_take_the_seat_over_in_every_game(process_hall: Hall) -> None:
    """After three illegal moves the stand-in finishes the game; the next game starts without faults."""
    spec = process_hall.spec(programs.GOOD, programs.ANSWERS_RUBBISH, programs.GOOD, games=2)
    record = decode(process_hall.launcher.play(encode(spec), (0, 1, 2)), MatchRecord)
    assert [faults(record, 1, game) for game in (0, 1)] == [[Fault.ILLEGAL] * 3] * 2
    assert record.seats[1].trouble is None
    games = check_record(spec, record)
    assert [game.places[1] for game in games] == [3, 3]
    assert [game.taken_over for game in games] == [(False, True, False)] * 2


def test_a_bot_that_ends_before_it_greets_loses_one_game(process_hall: Hall) -> None:
    """It has a fault and a reason. Its stderr has what it printed, without a traceback from the library."""
    record = process_hall.play(programs.GOOD, programs.DIES_AT_START, games=3, clock=PATIENT)
    assert len(record.games) == 1
    assert faults(record, 0) == []
    assert record.seats[0].trouble is None
    assert faults(record, 1) == [Fault.CRASH]
    assert "exited with code 3" in (record.seats[1].trouble or "")
    assert record.seats[1].stderr.strip() == "no model file found"
    assert record.seats[1].exit_code == 3


@pytest.mark.usefixtures("awaited_exits")
def test_a_bot_that_raises_is_a_crash_with_its_traceback(process_hall: Hall) -> None:
    """The rest of the game and the next one are played without it, and its owner can read why."""
    record = process_hall.play(programs.GOOD, programs.RAISES_IN_ROUND_2, games=3)
    assert [faults(record, 1, game) for game in range(len(record.games))] == [[Fault.CRASH]] * 2
    assert "division of sushi by zero" in record.seats[1].stderr
    assert record.seats[1].exit_code == 1
    assert "exited with code 1" in (record.seats[1].trouble or "")


def heard(hall: Hall, said: str, code: int, place: int = 0) -> list[str]:
    """Return the events that a bot gets while its neighbour says this and plays the cards at this place.

    These are the events up to its last request, since it may be killed before it prints later ones.
    """
    speaker = programs.SPEAKS
    for word, value in {"SAID": said, "CODE": code, "PLACE": place}.items():
        speaker = speaker.replace(word, str(value))
    record = hall.play(speaker, programs.LISTENS, clock=PATIENT)
    seat, listener = record.seats
    assert (seat.sdk, seat.exit_code, said in seat.stderr) == (said, code, True)
    first = record.games[0].steps[0][0]
    assert first is not None
    assert first.note == said
    assert faults(record, 1) == []
    events = listener.stderr.splitlines()
    return events[: 1 + max(n for n, event in enumerate(events) if event.startswith("turn_request"))]


@pytest.mark.usefixtures("awaited_exits")
def test_a_bot_learns_only_the_moves_of_another(process_hall: Hall) -> None:
    """Only another's cards change a bot's events; its note, stderr, exit code, library and files don't."""
    events = heard(process_hall, "salmon", 3)
    assert len(events) > 50
    assert heard(process_hall, "a whole plate of nigiri", 77) == events
    assert heard(process_hall, "salmon", 3, place=-1) != events


def test_stopping_leaves_nothing_behind(hall: Hall) -> None:
    """Stopping a match raises LauncherStopped and removes its sandboxes, sockets and processes."""
    spec = hall.spec(programs.NEVER_CONNECTS, programs.GOOD, clock=PATIENT)
    failure: list[BaseException] = []

    def play() -> None:
        try:
            hall.launcher.play(encode(spec), (0, 1))
        except LauncherStopped as error:
            failure.append(error)

    thread = threading.Thread(target=play)
    thread.start()
    wait_until(lambda: bool(hall.stage.leftovers()), "a sandbox")
    hall.launcher.stop()
    thread.join(WAIT_SECONDS)
    assert not thread.is_alive()
    assert len(failure) == 1


def test_a_referee_that_is_killed_leaves_nothing_and_blames_nobody(hall: Hall) -> None:
    """If a referee is killed, its match is void and the error gives the exit code. Nothing is left behind."""
    spec = hall.spec(programs.NEVER_CONNECTS, programs.GOOD, clock=PATIENT)
    with ThreadPoolExecutor(1) as pool:
        match = pool.submit(hall.launcher.play, encode(spec), (0, 1))
        wait_until(lambda: bool(hall.stage.leftovers() and referees()), "a sandbox and a referee")
        [referee] = referees()
        os.kill(referee, signal.SIGKILL)
        with pytest.raises(MatchVoid, match="the referee exited with code -9"):
            match.result(WAIT_SECONDS)
    assert hall.leftovers() == []


@pytest.mark.docker
def test_a_missing_image_voids_the_match(docker_hall: Hall) -> None:
    """An image that the engine does not have is an arena fault, not a bot's."""
    spec = docker_hall.spec(programs.GOOD, programs.GOOD)
    missing = replace(spec, seats=(spec.seats[0], "sha256:" + "0" * 64))
    with pytest.raises(MatchVoid, match=r"the image is missing.*sha256:0000"):
        docker_hall.launcher.play(encode(missing), (0, 1))


def test_an_error_of_the_host_voids_the_match(
    process_hall: Hall, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If bots' home folders can't be created, the match is void."""
    spec = process_hall.spec(programs.GOOD, programs.GOOD)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(MatchVoid, match=r"^the host couldn't play the match: .*No such file"):
        process_hall.launcher.play(encode(spec), (0, 1))
    assert not list(process_hall.folder.iterdir())


def test_a_folder_without_a_bot_is_its_owners_fault(process_hall: Hall) -> None:
    """A bot whose folder lacks a bot.py crashes; the game is still played."""
    spec = process_hall.spec(programs.GOOD, programs.GOOD)
    empty = replace(spec, seats=(spec.seats[0], process_hall.stage.empty_source()))
    record = decode(process_hall.launcher.play(encode(empty), (0, 1)), MatchRecord)
    assert faults(record, 1) == [Fault.CRASH]
    assert "bot.py" in (record.seats[1].trouble or "")
