"""The coordinator without the site: it plays until it is told to end."""

import signal
from contextlib import closing

import pytest

from arena.db.store import open_store
from tests.demo.conftest import With
from tests.demo.running import Place, await_that, processes_of, started
from tests.patience import WAIT_SECONDS

PROCESS = {"ARENA_SANDBOX": "process"}


@pytest.mark.soak
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_plays_until_a_signal(place_with: With, number: signal.Signals) -> None:
    """Games are rated one after another; a signal ends it with exit code 0 and nothing is left running.

    In the short run tests/demo/test_monitoring.py has it.
    """
    place = place_with("greedy", "random")
    with started(place, "coordinator", **PROCESS) as arena:
        await_that(lambda: any(place.games().values()), "a rated game")
        first = sum(line["games"] for line in place.board())
        await_that(lambda: sum(place.games().values()) > first > 0, "another one")
        arena.send_signal(number)
        _, said = arena.communicate(timeout=WAIT_SECONDS)
    assert arena.returncode == 0, said
    assert "NOTHING IS ISOLATED" in said
    assert "SIGTERM or Ctrl-C ends it" in said
    assert "nothing is left running" in said
    assert processes_of(place) == []
    rebuilt = place.run("admin", "rebuild-ratings")
    assert rebuilt.stdout.endswith(", 0 ratings differed\n"), rebuilt.stderr


def test_what_stops_it_is_said_in_one_line(place: Place) -> None:
    """Without an engine it ends at once, with the reason and no traceback."""
    ended = place.run("coordinator", DOCKER_HOST="unix:///nowhere.sock")
    assert ended.code == 1
    assert "No Docker engine answers" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.docker
def test_a_second_one_with_another_data_directory_does_not_start(docker_place: Place) -> None:
    """What authors have sent lies with the first; tests/app shows that the second starts afterwards."""
    docker_place.data.mkdir()
    with closing(open_store(f"sqlite:///{docker_place.data / 'arena.sqlite3'}")) as store:
        assert store.coordinator_lock.take()
        ended = docker_place.run("coordinator")
        assert ended.code == 1
        assert "another coordinator uses this database: add this host to it as a worker" in ended.stderr
        store.coordinator_lock.release()
