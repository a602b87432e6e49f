"""``arena referee``."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.ports import free_port

from .command import COMMAND, arena, environment

BOT = "from arena.sdk import run\ndef choose(view): return view.legal_moves()[0]\nrun(choose)\n"
CRASH = BOT.replace("def choose(view): return", "def choose(view): 1 / (view.turn - 2); return")


@contextmanager
def waiting(folder: Path, *args: str) -> Iterator["tuple[subprocess.Popen[str], str]"]:
    """Start a referee, and yield it with the address that it prints."""
    with subprocess.Popen(  # noqa: S603 - the command under test
        [*COMMAND, "referee", *args],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            yield process, process.stderr.readline().split("ARENA_REFEREE=")[1].strip()
        finally:
            process.kill()


def dial(address: str, source: str) -> int:
    """Run a bot there, and return its exit code."""
    done = subprocess.run(  # noqa: S603 - our own bot
        [sys.executable, "-c", source],
        env={**environment(), "ARENA_REFEREE": address},
        stderr=subprocess.DEVNULL,
        check=False,
        timeout=60,
    )
    return done.returncode


def test_a_game_in_words(tmp_path: Path) -> None:
    """Each request, answer and reveal, and the result; the address is free again afterwards."""
    with waiting(tmp_path, "greedy", "random", "--listen", "unix:s", "--seat", "1") as (referee, address):
        assert address == f"unix://{tmp_path}/s"
        assert dial(address, BOT) == 0
        out, _ = referee.communicate(timeout=60)
    assert referee.returncode == 0
    assert out.startswith("hello from kaiten-python/")
    assert "game 0 begins: seat 1 of 3\n  round 1, turn 1, seat 1 (3 players)\n  hand " in out
    assert out.count("  plays    ") == 24
    assert out.count("  revealed greedy: ") == 27
    assert "game 0 ends: greedy " in out
    assert not (tmp_path / "s").exists()


def test_a_game_as_messages_over_tcp(tmp_path: Path) -> None:
    """Those of the bridge, one per line; a bot that crashes is told of."""
    args = ("random", "--listen", f"tcp:{free_port()}", "--dummy", "--json")
    with waiting(tmp_path, *args) as (referee, address):
        assert dial(address, CRASH) == 1
        out, _ = referee.communicate(timeout=60)
    assert referee.returncode == 1
    hello, first, answer, *_ = lines = [json.loads(line) for line in out.splitlines()]
    assert hello["from"]["hello"]["protocol"] == 1
    *_, asked = first["to"]["events"]
    (move,) = answer["from"]["moves"]
    assert move["cards"] == asked["turnRequest"]["hand"][:1]
    assert move["nonce"] == asked["turnRequest"]["nonce"]
    assert any("left" in line for line in lines)


def test_ctrl_c_ends_it(tmp_path: Path) -> None:
    """While it waits, without a traceback, and the socket is gone."""
    with waiting(tmp_path, "--listen", "unix:s") as (referee, _):
        os.kill(referee.pid, signal.SIGINT)
        _, errors = referee.communicate(timeout=60)
    assert referee.returncode == 130
    assert errors.startswith("arena: stopped, --seed ")
    assert errors.count("\n") == 1
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--listen", "here"), "here is not an address: give unix:PATH or tcp:PORT"),
        (("--listen", "tcp:99999"), "tcp:99999 is not an address"),
        (("--listen", "unix:no/where"), "can't listen on unix:no/where: No such file or directory"),
        (("gredy", "--listen", "unix:s"), "no bot is called 'gredy'. Did you mean greedy?"),
        (("greedy", "--listen", "unix:s", "--seat", "3"), "--seat 3 is not at this table: choose 0 to 1"),
        (("greedy", "greedy", "--listen", "unix:s", "--dummy"), "3 players with a dummy: "),
    ],
    ids=range(6),
)
def test_rubbish_is_refused_in_a_sentence(tmp_path: Path, args: tuple[str, ...], said: str) -> None:
    """Without a traceback."""
    done = arena("referee", *args, folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.decode().startswith(f"arena: {said}")
    assert done.stderr.count(b"\n") == 1
