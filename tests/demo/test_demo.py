"""Tests of the demo: run to its end, interrupted, and with invalid settings."""

import json
import re
import signal
import socket
import urllib.request
from contextlib import closing

import pytest

from arena.platform.settings import Address
from tests.demo.conftest import With
from tests.demo.running import Place, processes_of, program, started
from tests.folders import files_in
from tests.patience import WAIT_SECONDS, wait_until
from tests.ports import free_port
from tests.soak import SOAK

BOTS = {"expected", "greedy", "mcts", "random", "rollout", "spoiler"}
SLOW = {"expected", "mcts", "rollout"}
"""Bots that play only in `make soak`, since they think longer than all other bots together."""
PROCESS = {"ARENA_SANDBOX": "process"}


@pytest.mark.soak
@pytest.mark.docker
@pytest.mark.timeout(1200)
def test_all_sample_bots_play_in_containers(docker_place: Place) -> None:
    """No bot has a fault, not even those that think long."""
    demo = docker_place.run("demo", "--once")
    assert demo.returncode == 0, demo.stderr
    board = docker_place.board()
    assert {line["bot"] for line in board if line["games"]} == BOTS
    assert all(line["fault_share"] == 0 for line in board)


def test_a_round_is_interrupted(place: Place) -> None:
    """Ctrl-C during a match ends the demo, and leaves nothing running.

    Here, the demo is started by the script of `make demo`. It warns that plain processes isolate nothing.
    """
    with program(place, "scripts/demo", ONCE="1") as demo:
        wait_until(lambda: files_in(place.sockets), "a match")
        demo.send_signal(signal.SIGINT)
        _, said = demo.communicate(timeout=WAIT_SECONDS)
    assert demo.returncode == 130, said
    assert "NOTHING IS ISOLATED" in said
    assert "run the same command again to resume" in said
    assert processes_of(place) == []


def test_the_site_is_served_while_games_are_played(place_with: With) -> None:
    """After a round, the leaderboard is printed, and more games follow.

    After SIGTERM, no match starts, and running ones are finished. Every bot plays at every table size. A
    clear warning says that nothing is isolated.
    """
    bots = BOTS if SOAK else BOTS - SLOW
    place = place_with(*bots)
    port = free_port()
    with started(place, "demo", **PROCESS, ARENA_PORT=str(port)) as demo:
        board = f"http://127.0.0.1:{port}/api/v1/leaderboard"

        def games() -> int:
            try:
                with urllib.request.urlopen(board, timeout=5) as answer:  # noqa: S310 - our own
                    return sum(row["games"] for row in json.load(answer)["rows"])
            except OSError:
                return 0

        wait_until(lambda: games() > 0, "the site")
        first = games()
        wait_until(lambda: games() > first, "another game")
        wait_until(lambda: place.matches("state = 'running'") > 0, "a match")
        demo.send_signal(signal.SIGTERM)
        printed, said = demo.communicate(timeout=WAIT_SECONDS)
    assert demo.returncode == 0, said
    assert "NOTHING IS ISOLATED" in said
    assert "nothing is left running" in said
    # The output is for people, although stderr is not a terminal.
    round_, _, _ = said.partition("The site is at")
    assert {line.split()[0] for line in round_.splitlines()} == {"arena:"}, said
    assert all(re.search(rf"\b{bot}@1\b", printed) for bot in bots)
    for players in range(2, min(5, len(bots)) + 1):
        board = json.loads(place.run("leaderboard", "--json", "--players", str(players)).stdout)["rows"]
        assert {line["bot"] for line in board if line["games"]} == bots
    assert all(line["fault_share"] == 0 for line in place.board())
    assert processes_of(place) == []
    assert place.matches("state = 'running'") == place.matches("state = 'waiting' AND attempt > 0") == 0
    place.check_ratings()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_taken_port_is_reported_before_anything_is_done(place: Place, host: str) -> None:
    """A taken port is reported at once, not only when the site is to be served a minute later."""
    with closing(socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)) as taken:
        try:
            taken.bind((host, 0))
        except OSError:
            pytest.skip(f"this host doesn't have the address {host}")
        taken.listen()
        port = taken.getsockname()[1]
        demo = place.run("demo", **PROCESS, ARENA_HOST=host, ARENA_PORT=str(port))
    assert demo.returncode == 1
    assert f"{Address(host, port)} (Address already in use): stop the program" in demo.stderr
    assert "choose another port with ARENA_PORT" in demo.stderr
    assert not place.data.exists()


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"DOCKER_HOST": "unix:///nowhere.sock"}, "no Docker engine responds"),
        ({"ARENA_SANDBOX": "chroot"}, "ARENA_SANDBOX"),
        ({"ARENA_OPS_ADDRESS": f"{'a' * 64}:1"}, "ARENA_OPS_ADDRESS"),
        ({"ARENA_DATABASE_URL": "postgres://ann@nowhere/x"}, "postgresql+psycopg://HOST/NAME"),
    ],
)
def test_unusable_settings_are_named(place: Place, variables: dict[str, str], words: str) -> None:
    """The output says what is wrong, without a traceback."""
    demo = place.run("demo", "--once", **{**({} if "DOCKER_HOST" in variables else PROCESS), **variables})
    assert demo.returncode in {1, 2}
    assert words in demo.stderr
    assert "Traceback" not in demo.stderr


def test_a_leaderboard_without_an_arena(place: Place) -> None:
    """Without an arena, the command says what to do, and creates nothing."""
    board = place.run("leaderboard")
    assert board.returncode == 2
    assert "make demo" in board.stderr
    assert not place.data.exists()
