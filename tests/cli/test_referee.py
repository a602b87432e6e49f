"""Tests of ``arena referee``."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.forked import Started, started
from tests.patience import WAIT_SECONDS
from tests.ports import free_port

from .command import FIRST, LOOP, arena, environment

BOT = "from arena.sdk import run\ndef choose(view): return view.legal_moves()[0]\nrun(choose)\n"
CRASH = BOT.replace("def choose(view): return", "def choose(view): 1 / (view.turn - 2); return")


@contextmanager
def waiting(folder: Path, *args: str) -> Iterator[tuple[Started, str]]:
    """Start a referee, and yield it with the address that it prints."""
    with started(("referee", *args), folder, environment()) as command:
        yield command, command.readline().split("ARENA_REFEREE=")[1].strip()


@contextmanager
def dialled(address: str, source: str) -> "Iterator[subprocess.Popen[bytes]]":
    """Run a bot that connects to this address, and kill it after use if it is still running."""
    with subprocess.Popen(  # noqa: S603 - our own bot
        [sys.executable, "-c", source],
        env={**environment(), "ARENA_REFEREE": address},
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def dial(address: str, source: str) -> int:
    """Run a bot that connects to this address, and return the bot's exit code."""
    with dialled(address, source) as process:
        return process.wait(WAIT_SECONDS)


def test_a_game_in_words(tmp_path: Path) -> None:
    """The output has each request, answer and reveal, and the result. At the end, the socket is removed.

    Other bots' output is not included. There is one instance of a bot's class per game.
    """
    begin = "    def __init__(self):\n        print('a new game')\n"
    (tmp_path / "loud.py").write_text(FIRST.replace("Bot:\n", f"Bot:\n{begin}"))
    with waiting(tmp_path, "greedy", "loud.py", "--listen", "unix:s", "--seat", "1") as (referee, address):
        assert address == f"unix://{tmp_path}/s"
        assert dial(address, BOT) == 0
        code, out, errors = referee.wait()
    assert code == 0
    assert (errors.count("a new game"), errors.count("thinking")) == (1, 24)
    assert out.startswith("hello from kaiten-python/")
    assert "game 0 begins: seat 1 of 3\n  round 1, turn 1, seat 1 (3 players)\n  hand " in out
    assert out.count("  plays    ") == 24
    assert out.count("  revealed greedy: ") == 27
    assert "game 0 ends: greedy " in out
    assert "thinking" not in out
    assert not (tmp_path / "s").exists()


def test_a_game_as_messages_over_tcp(tmp_path: Path) -> None:
    """The output has the bridge's messages, one per line. A crash of the bot is reported."""
    args = ("random", "--listen", f"tcp:{free_port()}", "--dummy", "--json")
    with waiting(tmp_path, *args) as (referee, address):
        assert dial(address, CRASH) == 1
        code, out, _ = referee.wait()
    assert code == 1
    hello, first, answer, *_ = lines = [json.loads(line) for line in out.splitlines()]
    assert hello["from"]["hello"]["protocol"] == 1
    *_, asked = first["to"]["events"]
    (move,) = answer["from"]["moves"]
    assert move["cards"] == asked["turnRequest"]["hand"][:1]
    assert move["nonce"] == asked["turnRequest"]["nonce"]
    assert any("left" in line for line in lines)


def test_sigterm_ends_it_while_a_bot_thinks(tmp_path: Path) -> None:
    """SIGTERM interrupts a bot that never answers, and the socket is removed."""
    (tmp_path / "slow.py").write_text(LOOP.replace("    while", "    print('thinking')\n    while"))
    with waiting(tmp_path, "slow.py", "--listen", "unix:s") as (referee, address), dialled(address, BOT):
        assert referee.readline() == "thinking\n"
        referee.interrupt(signal.SIGTERM)
        code, _, errors = referee.wait()
    assert code == 130
    assert errors.startswith("arena: stopped, --seed ")
    assert errors.count("\n") == 1
    assert not (tmp_path / "s").exists()


def test_ctrl_c_ends_it(tmp_path: Path) -> None:
    """Ctrl-C ends a referee that is waiting for a bot, without a traceback, and removes the socket."""
    with waiting(tmp_path, "--listen", "unix:s") as (referee, _):
        referee.interrupt()
        code, _, errors = referee.wait()
    assert code == 130
    assert errors.startswith("arena: stopped, --seed ")
    assert errors.count("\n") == 1
    assert not any(tmp_path.iterdir())


def test_a_killed_referees_address_can_be_used_again(tmp_path: Path) -> None:
    """An address that is in use is refused, and the game there isn't disturbed."""
    args = ("greedy", "--listen", "unix:s")
    with waiting(tmp_path, *args) as (referee, _):
        referee.kill()
    assert (tmp_path / "s").is_socket()
    with waiting(tmp_path, *args) as (referee, address):
        refused = arena("referee", *args, folder=tmp_path)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert "can't listen on unix:s: Address already in use" in refused.stderr
        assert dial(address, BOT) == 0
        assert referee.wait().code == 0
    (tmp_path / "s").write_text("a file")
    assert arena("referee", *args, folder=tmp_path).returncode == 2
    assert (tmp_path / "s").read_text() == "a file"
