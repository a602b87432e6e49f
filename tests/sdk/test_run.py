"""Behaviour specific to the Python library, in a bot's process against a scripted referee."""

import ctypes
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.ladder.diagnosis import where_choose_is, where_it_failed, where_it_was
from arena.rules import Rules
from arena.wire.v1 import referee_pb2 as pb
from tests.folders import short_folder
from tests.sdk.libraries import FIRST_CARD, run_alone
from tests.sdk.referee import ROOT, Talk, first_state, play

RULES = Rules(players=2)


async def one_request(talk: Talk) -> None:
    """Request a decision from a bot that then ends."""
    await talk.ask(RULES)
    await talk.closed()


async def illegal_move(talk: Talk) -> None:
    """Tell a bot that its move was illegal, then end the match."""
    await talk.welcome(RULES)
    await talk.send(pb.Event(notice=pb.Notice(fault=pb.FAULT_KIND_ILLEGAL, text="no such card")))
    await talk.send(pb.Event(match_end=pb.MatchEnd()))


def read_to_end(connection: socket.socket) -> None:
    """Read until the other side closes a connection."""
    while connection.recv(4096):
        pass


def test_a_slow_referee_is_given_time_to_connect() -> None:
    """The client keeps its first attempt open for over a second, because a seat's connections are limited."""
    with short_folder() as folder, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{folder}/referee.sock")
        listener.listen()
        env = {"PYTHONPATH": str(ROOT), "ARENA_REFEREE": f"unix://{folder}/referee.sock"}
        with subprocess.Popen([sys.executable, "-c", FIRST_CARD], env=env) as bot:  # noqa: S603 - our own
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(1)
                with pytest.raises(TimeoutError):
                    read_to_end(connection)
            bot.kill()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return 1 / 0", "ZeroDivisionError: division by zero"),
        (
            "return 'tempura'",
            "TypeError: round 1, turn 1: choose() returned 'tempura'; it must return a Card",
        ),
        ("raise SystemExit('enough')", "SystemExit: enough"),
    ],
)
def test_an_error_of_the_bot_is_shown_to_its_author(body: str, words: str) -> None:
    """The bot prints the traceback, without asyncio's frames, and the position. The exit code is 1.

    The verdict quotes a line of the author's file.
    """
    code, stderr = play(FIRST_CARD.replace("return view.hand[0]", body), one_request)
    assert code == 1
    assert words in stderr
    assert "the bot failed when it was asked for a move in game 0, round 1, turn 1, seat 0" in stderr
    assert first_state(RULES).hands[0][0].label in stderr.split("hand ")[-1]
    assert "asyncio" not in stderr
    found = where_it_failed(stderr)
    assert found is not None
    assert found.startswith(words)
    assert re.search(r"(?:; choose\(\) is in |\()<string>, line [34]", found), found


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (FIRST_CARD.replace("(view)", "()"), "takes 0 positional arguments but 1 was given; choose() is in"),
        (
            "from functools import partial\n"
            + FIRST_CARD.replace("view.hand[0]", "None").replace("run(choose)", "run(partial(choose))"),
            "or an Answer; choose() is in",
        ),
    ],
)
def test_a_bot_without_a_frame_of_its_own_is_found(source: str, words: str) -> None:
    """If only the library's code is in the traceback, the verdict names the place of ``choose``."""
    code, stderr = play(source, one_request)
    assert code == 1
    assert words in (where_it_failed(stderr) or ""), stderr


ODD = """
from arena.sdk import run
class Odd:
    def __call__(self, view):
        return view.hand[0]
    def __getattr__(self, name):
        return Odd()
run(Odd())
"""


def test_an_odd_bot_survives_its_illegal_move() -> None:
    """Finding out where ``choose`` is may call the bot's own code, which must not end the bot."""
    assert play(ODD, illegal_move).code == 0


def test_a_segmentation_fault_shows_where_the_bot_was() -> None:
    """The library prints the stack, which ends in the author's file."""
    body = "import faulthandler\n    faulthandler._sigsegv()"
    code, stderr = play(FIRST_CARD.replace("return view.hand[0]", body), one_request)
    assert code == -signal.SIGSEGV
    assert "Fatal Python error: Segmentation fault" in stderr
    assert re.fullmatch(r"<string>, line 5, in choose", where_it_was(stderr) or "")


def test_an_illegal_move_shows_where_it_was_chosen() -> None:
    """After the referee's notice, the library prints where ``choose`` is."""
    code, stderr = play(FIRST_CARD, illegal_move)
    assert code == 0
    assert re.fullmatch(r"choose\(\) is in <string>, line 3", where_choose_is(stderr) or ""), stderr


LATE = """
import signal, time
from arena.sdk import run
def think():
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        pass
def choose(view):
    think()
    return view.hand[0]
run(choose)
"""


def test_a_late_bot_shows_where_it_is() -> None:
    """When the move time and the bank are used up, the stack is printed once, with the bot's current line."""

    async def script(talk: Talk) -> None:
        await talk.asked(RULES)

    code, said = play(LATE.replace("SECONDS", "2.5"), script)
    assert code == 0
    first, think, *_ = said.splitlines()
    assert first == "Stack (most recent call first):"
    assert re.fullmatch(r'  File "[^"]+", line [67] in think', think)
    assert said.count("Stack") == 1


async def alarm_after_answer(talk: Talk) -> None:
    """Request a decision from a bot whose alarm goes off afterwards."""
    await talk.asked(RULES)
    assert talk.process.stdout is not None
    assert await talk.process.stdout.readline() == b"alarm\n"


def test_a_bot_that_uses_the_timer_itself_keeps_it() -> None:
    """A bot's own alarm still goes off after its answer, and the library prints no stack."""
    alarm = "signal.signal(signal.SIGALRM, lambda *_: print('alarm', flush=True)); signal.setitimer(0, 0.5)"
    assert play(LATE.replace("    think()", f"    {alarm}"), alarm_after_answer) == (0, "")


def test_a_bot_that_used_the_timer_is_timed_afterwards() -> None:
    """If a bot restores the previous handler, a late decision prints the stack and doesn't end the bot."""

    async def script(talk: Talk) -> None:
        await talk.asked(RULES)

    alarm = "signal.signal(signal.SIGALRM, signal.signal(signal.SIGALRM, lambda *_: None))"
    late = LATE.replace("SECONDS", "2.5").replace("    think()", f"    {alarm}\n    think()")
    code, said = play(late, script)
    assert code == 0
    assert re.fullmatch("<string>, line [67], in think", where_it_was(said) or ""), said


def test_a_handler_from_before_the_match_stays() -> None:
    """A handler from before the library was imported is called, instead of the library's."""
    handler = "signal.signal(signal.SIGALRM, lambda *_: print('alarm', flush=True))"
    early = f"import signal\n{handler}\n{LATE}"
    early = early.replace("    think()", "    signal.setitimer(0, 0.5)")
    assert play(early, alarm_after_answer) == (0, "")


SILENT = """
import signal, sys, time
from arena.sdk import run
print(*signal.getitimer(signal.ITIMER_REAL), flush=True)
while True:
    time.sleep(9)
"""


def test_a_bot_that_never_calls_run_shows_where_it_is() -> None:
    """The stack is printed just before the time to greet is over. The test sends the timer's signal early."""
    bot = subprocess.Popen(  # noqa: S603 - our own bot
        [sys.executable, "-c", SILENT],
        env={**os.environ, "ARENA_REFEREE": "unix:///nowhere", "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with bot:
        assert bot.stdout is not None
        assert bot.stderr is not None
        try:
            left, again = map(float, bot.stdout.readline().split())
            bot.send_signal(signal.SIGALRM)
            said = [bot.stderr.readline(), bot.stderr.readline()]
        finally:
            bot.kill()
    assert 0 < left <= 8
    assert again == 0
    assert said[0] == "Stack (most recent call first):\n"
    assert re.fullmatch(r'  File "<string>", line [456] in <module>\n', said[1])


def send_to_grpcs_thread(process: int, number: signal.Signals) -> None:
    """Send a signal to one of gRPC's threads in a process, which the kernel may choose for any signal."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    thread = next(task for task in tasks if (task / "comm").read_text() == "event_engine\n")
    assert ctypes.CDLL(None).tgkill(process, int(thread.name), number) == 0


@pytest.mark.parametrize("send", [os.kill, send_to_grpcs_thread])
def test_sigterm_ends_a_thinking_bot(send: Callable[[int, signal.Signals], None]) -> None:
    """SIGTERM ends the process at once, even in ``choose``, without a traceback."""

    async def script(talk: Talk) -> None:
        await talk.ask(RULES)
        assert talk.process.stdout is not None
        assert await talk.process.stdout.readline() == b"thinking\n"
        send(talk.process.pid, signal.SIGTERM)
        await talk.closed()

    source = FIRST_CARD.replace("return view.hand[0]", "print('thinking', flush=True)\n    while True: pass")
    assert play(source, script) == (128 + signal.SIGTERM, "")


def test_a_bot_without_a_referee_exits() -> None:
    """If no referee answers in time, the bot gives up with one line."""
    source = f"import arena.sdk.stream as stream\nstream._CONNECT_SECONDS = 0.3\n{FIRST_CARD}"
    done = run_alone(source, "unix:///nowhere/referee.sock")
    assert done.returncode == 2
    assert done.stderr.startswith("kaiten: no referee answered at unix:///nowhere/referee.sock")
    assert done.stderr.count("\n") == 1


def test_the_library_imports_nothing_from_the_server() -> None:
    """The library imports only ``arena.rules``, ``arena.wire`` and packages in a bot's image."""
    source = "import sys; import arena.sdk, arena.sdk.match; print(*{m for m in sys.modules})"
    modules = run_alone(source).stdout.split()
    ours = {".".join(name.split(".")[:2]) for name in modules if name.split(".")[0] == "arena"}
    assert ours == {"arena", "arena.rules", "arena.sdk", "arena.wire"}
    others = {name.split(".")[0] for name in modules} - sys.stdlib_module_names - {"arena", "__main__"}
    # The last three are not packages of the image: Cython creates a module, grpc tries to import its tools,
    # and Debian's Python has a sitecustomize.
    assert {name for name in others if not name.startswith("_")} <= {
        "google",
        "grpc",
        "typing_extensions",
        "cython_runtime",
        "grpc_tools",
        "sitecustomize",
    }
