"""A bot's process against a referee that follows a script, over real gRPC on a unix socket."""

import os
import re
import signal
import subprocess
import sys
import time
from hashlib import sha256

import grpc
import pytest

from arena.rules import Rules, asked, view
from arena.wire import convert
from arena.wire.v1 import referee_pb2 as pb
from tests.sdk.referee import ROOT, Talk, first_state, play, request, step

FIRST_CARD = """
from arena.sdk import run
def choose(view):
    return view.hand[0]
run(choose)
"""

REMEMBERS = """
from hashlib import sha256
from arena.sdk import Answer, run
def choose(view):
    move = view.legal_moves()[-1]
    return Answer(move.cards, move.dummy, sha256(repr(view).encode()).hexdigest())
run(choose)
"""

CLASS = """
import sys
from arena.sdk import run
class Bot:
    made = 0
    def __init__(self):
        Bot.made += 1
        self.asked = 0
    def choose(self, view):
        self.asked += 1
        return view.hand[0]
    def game_over(self, end):
        print("made", Bot.made, "asked", self.asked, "places", *end.result.places, file=sys.stderr)
run(Bot)
"""


@pytest.mark.parametrize(
    ("source", "games_at_once"),
    [(FIRST_CARD, 32), (CLASS, 1), (FIRST_CARD.replace("run(choose)", "run(choose, games_at_once=5)"), 5)],
    ids=["function", "class", "as told"],
)
def test_says_hello_first(source: str, games_at_once: int) -> None:
    """The first message is a Hello alone: protocol 1, the library's name, 32 games or 1."""
    heard: list[pb.BotMessage] = []

    async def script(talk: Talk) -> None:
        heard.append(await talk.receive())

    assert play(source, script) == (0, "")
    assert heard[0].hello.protocol == 1
    assert heard[0].hello.sdk.startswith("kaiten-python/")
    assert heard[0].hello.games_at_once == games_at_once
    assert not heard[0].moves


@pytest.mark.parametrize(
    "rules",
    [Rules(players=3, pass_both_ways=True), Rules(players=2, dummy=True, soy_sauce=True)],
    ids=["three players", "dummy"],
)
def test_the_bot_sees_the_whole_view_through_a_game(rules: Rules) -> None:
    """In every decision of a game the bot's view, history and past hands included, is that of the rules."""
    decisions = 0

    async def script(talk: Talk) -> None:
        nonlocal decisions
        state = first_state(rules)
        await talk.welcome(rules, seat=1)
        while not state.over:
            move = None
            if 1 in asked(state):
                await talk.send(request(state, 1))
                (answer,) = (await talk.receive()).moves
                assert answer.note == sha256(repr(view(state, 1)).encode()).hexdigest()
                assert (answer.round, answer.turn) == (state.round, state.turn)
                move = convert.move_from_wire(answer)
                decisions += 1
            after = step(state, 1, move)
            revealed = after.turns[len(state.turns) :]
            await talk.send(*[pb.Event(turn_result=convert.turn_result(0, turn)) for turn in revealed])
            state = after

    assert play(REMEMBERS, script) == (0, "")
    assert decisions >= 3 * (rules.turns - 1)


def test_answers_all_requests_of_a_message_in_one() -> None:
    """Requests of many games in one message are answered in one message, each with its game's number."""
    rules = Rules(players=2)
    state = first_state(rules)

    async def script(talk: Talk) -> None:
        await talk.welcome(rules, games=20)
        await talk.send(*[request(state, 0, game) for game in range(20)])
        moves = (await talk.receive()).moves
        assert sorted(move.game for move in moves) == list(range(20))
        assert {convert.move_from_wire(move).cards for move in moves} == {state.hands[0][:1]}

    assert play(FIRST_CARD, script) == (0, "")


def test_a_class_gets_an_instance_for_every_game_and_hears_of_the_end() -> None:
    """Each game has an instance of its own, which is told the result and then let go."""
    rules = Rules(players=2)
    state = first_state(rules)
    end = pb.Event(
        game_end=pb.GameEnd(game=0, totals=[3, 2], puddings=[0, 0], pudding_scores=[0, 0], places=[1, 2])
    )

    async def script(talk: Talk) -> None:
        await talk.welcome(rules)
        for game in range(2):
            if game:
                start = convert.game_start(game, 0, rules, move_millis=1000, bank_millis=1000)
                await talk.send(pb.Event(game_start=start))
            await talk.send(request(state, 0, game))
            await talk.receive()
            end.game_end.game = game
            await talk.send(end)

    assert play(CLASS, script) == (0, "made 1 asked 1 places 1 2\nmade 2 asked 1 places 1 2\n")


def test_unknown_events_are_passed_over() -> None:
    """An event of a later protocol, before a request in the same message, changes nothing."""
    rules = Rules(players=2)
    unknown = pb.Event.FromString(b"\x9a\x06\x00")  # field 99, empty

    async def script(talk: Talk) -> None:
        await talk.welcome(rules)
        await talk.send(unknown, request(first_state(rules)), unknown)
        assert len((await talk.receive()).moves) == 1

    assert play(FIRST_CARD, script) == (0, "")


def test_a_notice_is_one_line_on_stderr() -> None:
    """What the referee has to say of this seat reaches its author, a kind of fault yet unknown too."""
    notice = pb.Notice(game=2, round=1, turn=4, fault=pb.FAULT_KIND_TIMEOUT, text="no answer\nin time")

    async def script(talk: Talk) -> None:
        await talk.welcome(Rules(players=2))
        await talk.send(pb.Event(notice=notice))
        notice.taken_over = True
        later = pb.Notice.FromString(notice.SerializeToString() + b"\x20\x63")  # fault 99
        await talk.send(pb.Event(notice=later))

    said = "game 2, round 1, turn 4"
    assert play(FIRST_CARD, script) == (
        0,
        (
            f"kaiten: {said}: timeout: no answer in time\n"
            f"kaiten: {said}: fault: no answer in time; a stand-in plays this game to its end\n"
        ),
    )


def test_a_note_is_cut_at_the_limit() -> None:
    """A note beyond the referee's limit is cut at a whole character: it would be a fault."""
    rules = Rules(players=2)
    source = FIRST_CARD.replace("view.hand[0]", "Answer(view.hand[0], note='é' * 200 + chr(0xd800))").replace(
        "import run", "import Answer, run"
    )

    async def script(talk: Talk) -> None:
        await talk.welcome(rules)
        await talk.send(request(first_state(rules)))
        (move,) = (await talk.receive()).moves
        assert move.note == "é" * 128

    assert play(source, script) == (0, "")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return 1 / 0", "ZeroDivisionError: division by zero"),
        (
            "return 'tempura'",
            "TypeError: round 1, turn 1: choose() returned 'tempura'; it must return a Card",
        ),
        ("return None", "TypeError: round 1, turn 1: choose() returned None"),
    ],
)
def test_an_error_of_the_bot_is_shown_to_its_author(body: str, words: str) -> None:
    """The traceback and the position are on stderr, without the library's own frames; the exit code is 1."""
    rules = Rules(players=2)

    async def script(talk: Talk) -> None:
        await talk.welcome(rules)
        await talk.send(request(first_state(rules)))
        await talk.closed()

    code, stderr = play(FIRST_CARD.replace("return view.hand[0]", body), script)
    assert code == 1
    assert words in stderr
    assert "the bot failed: it was asked in game 0, round 1, turn 1, in seat 0" in stderr
    assert first_state(rules).hands[0][0].label in stderr.split("hand ")[-1]
    assert "asyncio" not in stderr


@pytest.mark.parametrize("at", ["__init__", "game_over"])
def test_errors_of_a_class_beside_choose_end_it_too(at: str) -> None:
    """A class that can't be made, or fails at the end of a game, fails the bot like choose."""
    end = pb.GameEnd(game=0, totals=[3, 2], puddings=[0, 0], pudding_scores=[0, 0], places=[1, 2])
    source = f"""
from arena.sdk import run
class Bot:
    def choose(self, view): ...
    def {at}(self, *end): raise OSError("my own")
run(Bot)
"""

    async def script(talk: Talk) -> None:
        await talk.welcome(Rules(players=2))
        await talk.send(pb.Event(game_end=end))
        await talk.closed()

    code, stderr = play(source, script)
    assert code == 1
    assert "OSError: my own" in stderr


def test_a_referee_that_goes_away_ends_the_bot() -> None:
    """When the server is gone in the middle of a game, the bot leaves at once, with one line."""
    rules = Rules(players=2)
    gone = 0.0

    async def script(talk: Talk) -> None:
        nonlocal gone
        await talk.welcome(rules)
        await talk.send(request(first_state(rules)))
        await talk.receive()
        gone = time.monotonic()
        await talk.go_away()

    code, stderr = play(FIRST_CARD, script)
    assert time.monotonic() - gone < 20
    assert code == 2
    assert stderr.startswith("kaiten: the referee is gone: ")
    assert stderr.count("\n") == 1


def test_a_refusal_of_the_referee_is_told() -> None:
    """A stream that the referee ends with an error ends the bot with code 2 and the referee's words."""

    async def script(talk: Talk) -> None:
        await talk.receive()
        await talk.refuse(grpc.StatusCode.INVALID_ARGUMENT, "protocol 1 is not spoken here")

    code, stderr = play(FIRST_CARD, script)
    assert code == 2
    assert "protocol 1 is not spoken here" in stderr
    assert "Traceback" not in stderr


def test_a_referee_that_makes_no_sense_is_told() -> None:
    """A request of a game that never began is the referee's mistake, not the bot's: code 2, in words."""

    async def script(talk: Talk) -> None:
        await talk.welcome(Rules(players=2))
        await talk.send(request(first_state(Rules(players=2)), game=7))
        await talk.closed()

    code, stderr = play(FIRST_CARD, script)
    assert code == 2
    assert "an event of game 7, which has not begun" in stderr


def test_the_bot_waits_for_a_referee_that_is_late() -> None:
    """A bot that is up before the socket connects as soon as it is there."""

    async def script(talk: Talk) -> None:
        await talk.receive()

    source = "print('up', flush=True)\n" + FIRST_CARD
    assert play(source, script, before=b"up\n") == (0, "")


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
    """The stack is on stderr once, when move and bank are used up, with the line that it is in."""
    rules = Rules(players=2)

    async def script(talk: Talk) -> None:
        await talk.welcome(rules)
        await talk.send(request(first_state(rules)))
        assert len((await talk.receive()).moves) == 1

    code, said = play(LATE.replace("SECONDS", "2.5"), script)
    assert code == 0
    first, think, *_ = said.splitlines()
    assert first == "Stack (most recent call first):"
    assert re.fullmatch(r'  File "[^"]+", line [67] in think', think)
    assert said.count("Stack") == 1


def test_a_bot_that_uses_the_timer_itself_keeps_it() -> None:
    """Its alarm goes off after it has answered; nothing is printed."""
    rules = Rules(players=2)

    async def script(talk: Talk) -> None:
        await talk.welcome(rules)
        await talk.send(request(first_state(rules)))
        assert len((await talk.receive()).moves) == 1
        assert talk.process.stdout is not None
        assert await talk.process.stdout.readline() == b"alarm\n"

    alarm = "signal.signal(signal.SIGALRM, lambda *_: print('alarm', flush=True)); signal.setitimer(0, 0.5)"
    assert play(LATE.replace("    think()", f"    {alarm}"), script) == (0, "")


SILENT = """
import signal, sys, time
from arena.sdk import run
print(*signal.getitimer(signal.ITIMER_REAL), flush=True)
while True:
    time.sleep(9)
"""


def test_a_bot_that_never_calls_run_shows_where_it_is() -> None:
    """Shortly before the time to greet is over; the test sends the timer's signal at once."""
    bot = subprocess.Popen(  # noqa: S603 - ours
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


def test_sigterm_ends_a_thinking_bot() -> None:
    """SIGTERM ends the process at once, also in the middle of a thought, without a traceback."""
    rules = Rules(players=2)

    async def script(talk: Talk) -> None:
        await talk.welcome(rules)
        await talk.send(request(first_state(rules)))
        assert talk.process.stdout is not None
        assert await talk.process.stdout.readline() == b"thinking\n"
        talk.process.send_signal(signal.SIGTERM)
        await talk.closed()

    source = FIRST_CARD.replace("return view.hand[0]", "print('thinking', flush=True)\n    while True: pass")
    assert play(source, script) == (128 + signal.SIGTERM, "")


def run_alone(source: str, address: str | None) -> subprocess.CompletedProcess[str]:
    """Run a bot without a referee."""
    env = {"PYTHONPATH": str(ROOT)} | ({"ARENA_REFEREE": address} if address else {})
    return subprocess.run(  # noqa: S603 - texts of this file
        [sys.executable, "-c", source], env=env, capture_output=True, text=True, check=False
    )


def test_started_by_hand_it_says_what_to_do() -> None:
    """Without the environment variable the bot names it, and shows how to try the bot in process."""
    done = run_alone(FIRST_CARD, None)
    assert done.returncode == 2
    assert "ARENA_REFEREE is not set" in done.stderr
    assert "from arena.sdk import play" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_referee_at_all_ends_the_bot() -> None:
    """Where nobody ever answers, the bot gives up after its patience with one line."""
    source = f"import arena.sdk.stream as stream\nstream._PATIENCE_SECONDS = 0.3\n{FIRST_CARD}"
    done = run_alone(source, "unix:///nowhere/referee.sock")
    assert done.returncode == 2
    assert done.stderr.startswith("kaiten: no referee answered at unix:///nowhere/referee.sock")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("bot", "words"),
    [
        ("run(3)", "3 is not a bot"),
        ("run(type('Odd', (), {}))", "the class Odd is not a bot: it has no method choose"),
        ("run(len, games_at_once=0)", "games_at_once is 0"),
    ],
)
def test_what_is_no_bot_is_refused(bot: str, words: str) -> None:
    """A mistake in the call of run is told before anything else happens."""
    done = run_alone(f"from arena.sdk import run\n{bot}", "unix:///nowhere/referee.sock")
    assert done.returncode == 1
    assert words in done.stderr


def test_a_bot_needs_nothing_of_the_server() -> None:
    """The library imports rules, wire and itself, and of other packages only those in a bot's image."""
    source = "import sys; import arena.sdk, arena.sdk.match; print(*{m for m in sys.modules})"
    modules = run_alone(source, None).stdout.split()
    ours = {".".join(name.split(".")[:2]) for name in modules if name.split(".")[0] == "arena"}
    assert ours == {"arena", "arena.rules", "arena.sdk", "arena.wire"}
    others = {name.split(".")[0] for name in modules} - sys.stdlib_module_names - {"arena", "__main__"}
    # The last three are no packages of their own, or belong to the machine: grpc looks for its tools,
    # and Debian's Python has a sitecustomize.
    assert {name for name in others if not name.startswith("_")} <= {
        "google",
        "grpc",
        "typing_extensions",
        "cython_runtime",
        "grpc_tools",
        "sitecustomize",
    }
