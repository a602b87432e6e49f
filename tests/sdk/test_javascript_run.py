"""A bot in JavaScript, in its image, against a referee that follows a script."""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from hashlib import sha256
from subprocess import CompletedProcess

import grpc
import pytest

from arena.rules import Rules, asked, view
from arena.wire import convert
from arena.wire.v1 import referee_pb2 as pb
from tests.patience import WAIT_SECONDS
from tests.sdk.javascript import as_javascript, compact, in_javascript, run_alone
from tests.sdk.referee import Talk, first_state, play_command, request, step

pytestmark = pytest.mark.docker

FIRST_CARD = """
import { run } from "kaiten";
function choose(view) {
  return view.hand[0];
}
run(choose);
"""

REMEMBERS = """
import { createHash } from "node:crypto";
import { run } from "kaiten";
run(async (view) => {
  const move = view.legalMoves().at(-1);
  return { ...move, note: createHash("sha256").update(JSON.stringify(view)).digest("hex") };
});
"""

NOWHERE = "unix:///nowhere/referee.sock"

CLASS = """
import { run } from "kaiten";
class Bot {
  static made = 0;
  asked = 0;
  constructor() { Bot.made += 1; }
  choose(view) { this.asked += 1; return view.hand[0]; }
  gameOver({ result }) { console.error("made", Bot.made, "asked", this.asked, "places", ...result.places); }
}
run(Bot);
"""


@pytest.fixture(scope="module", autouse=True)
def alone(javascript_image: str) -> Iterator["Future[CompletedProcess[str]]"]:
    """Give a bot that has no referee, which waits for one while the other tests run."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(run_alone, javascript_image, FIRST_CARD, NOWHERE)


@pytest.mark.parametrize(
    ("source", "games_at_once"),
    [
        (FIRST_CARD, 32),
        (CLASS, 1),
        (FIRST_CARD.replace("run(choose)", "run(choose, { gamesAtOnce: 5 })"), 5),
    ],
    ids=["function", "class", "as told"],
)
def test_says_hello_first(javascript_image: str, source: str, games_at_once: int) -> None:
    """The first message is a Hello alone: protocol 1, the library's name, 32 games or 1."""
    heard: list[pb.BotMessage] = []

    async def script(talk: Talk) -> None:
        heard.append(await talk.receive())

    assert play_command(in_javascript(javascript_image, source), script) == (0, "")
    assert heard[0].hello.protocol == 1
    assert heard[0].hello.sdk == "kaiten-javascript/0.1.0"
    assert heard[0].hello.games_at_once == games_at_once
    assert not heard[0].moves


@pytest.mark.parametrize(
    "rules",
    [Rules(players=3, pass_both_ways=True), Rules(players=2, dummy=True, soy_sauce=True)],
    ids=["three players", "dummy"],
)
def test_the_bot_sees_the_whole_view_through_a_game(javascript_image: str, rules: Rules) -> None:
    """In every decision of a game, two cards and the dummy's too, the view is that of the rules."""
    kinds: set[tuple[int, bool]] = set()

    async def script(talk: Talk) -> None:
        state = first_state(rules)
        await talk.welcome(rules, seat=1)
        while not state.over:
            move = None
            if 1 in asked(state):
                seen = view(state, 1)
                await talk.send(request(state, 1))
                (answer,) = (await talk.receive()).moves
                assert answer.note == sha256(compact(as_javascript(seen)).encode()).hexdigest()
                assert (answer.round, answer.turn) == (state.round, state.turn)
                move = convert.move_from_wire(answer)
                assert move == seen.legal_moves()[-1]
                kinds.add((len(move.cards), move.dummy is not None))
            after = step(state, 1, move)
            revealed = after.turns[len(state.turns) :]
            await talk.send(*[pb.Event(turn_result=convert.turn_result(0, turn)) for turn in revealed])
            state = after

    assert play_command(in_javascript(javascript_image, REMEMBERS), script) == (0, "")
    assert kinds >= {(1, False), (2, False)}
    assert any(dummy for _, dummy in kinds) is rules.dummy


def test_answers_all_requests_of_a_message_in_one(javascript_image: str) -> None:
    """Requests of many games in one message are answered in one message, each with its game's number."""
    rules = Rules(players=2)
    state = first_state(rules)

    async def script(talk: Talk) -> None:
        await talk.welcome(rules, games=20)
        await talk.send(*[request(state, 0, game) for game in range(20)])
        moves = (await talk.receive()).moves
        assert sorted(move.game for move in moves) == list(range(20))
        assert {convert.move_from_wire(move).cards for move in moves} == {state.hands[0][:1]}

    assert play_command(in_javascript(javascript_image, FIRST_CARD), script) == (0, "")


def test_a_class_gets_an_instance_for_every_game_and_hears_of_the_end(javascript_image: str) -> None:
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

    heard = "made 1 asked 1 places 1 2\nmade 2 asked 1 places 1 2\n"
    assert play_command(in_javascript(javascript_image, CLASS), script) == (0, heard)


def test_unknown_events_are_passed_over(javascript_image: str) -> None:
    """An event of a later protocol, before a request in the same message, changes nothing."""
    rules = Rules(players=2)
    unknown = pb.Event.FromString(b"\x9a\x06\x00")  # field 99, empty

    async def script(talk: Talk) -> None:
        await talk.welcome(rules)
        await talk.send(unknown, request(first_state(rules)), unknown)
        assert len((await talk.receive()).moves) == 1

    assert play_command(in_javascript(javascript_image, FIRST_CARD), script) == (0, "")


def test_a_notice_is_one_line_on_stderr(javascript_image: str) -> None:
    """What the referee has to say of this seat reaches its author, a kind of fault yet unknown too."""
    notice = pb.Notice(game=2, round=1, turn=4, fault=pb.FAULT_KIND_TIMEOUT, text="no answer\nin time")

    async def script(talk: Talk) -> None:
        await talk.welcome(Rules(players=2))
        await talk.send(pb.Event(notice=notice))
        notice.taken_over = True
        later = pb.Notice.FromString(notice.SerializeToString() + b"\x20\x63")  # fault 99
        await talk.send(pb.Event(notice=later))

    said = "game 2, round 1, turn 4"
    assert play_command(in_javascript(javascript_image, FIRST_CARD), script) == (
        0,
        (
            f"kaiten: {said}: timeout: no answer in time\n"
            f"kaiten: {said}: fault: no answer in time; a stand-in plays this game to its end\n"
        ),
    )


def test_a_note_is_cut_at_the_limit(javascript_image: str) -> None:
    """A note beyond the referee's limit is cut at a whole character: it would be a fault."""
    rules = Rules(players=2)
    answer = '{ cards: view.hand[0], note: "x" + "é".repeat(200) + "\\ud800" }'

    async def script(talk: Talk) -> None:
        await talk.welcome(rules)
        await talk.send(request(first_state(rules)))
        (move,) = (await talk.receive()).moves
        assert move.note == "x" + "é" * 127

    source = FIRST_CARD.replace("view.hand[0]", answer)
    assert play_command(in_javascript(javascript_image, source), script) == (0, "")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("null.card", "TypeError: Cannot read properties of null (reading 'card')"),
        ('"maki_4"', "TypeError: round 1, turn 1: choose() returned 'maki_4'; it must return a card"),
        ("{ cards: view.hand[0], note: 5 }", "the note of an answer is text, not 5"),
        ('Promise.reject("words alone")', "words alone"),
        ("view.hand.sort()", "TypeError: Cannot assign to read only property"),
        *(
            pytest.param(answer, words, marks=pytest.mark.soak)
            for answer, words in {
                "undefined": "TypeError: round 1, turn 1: choose() returned undefined",
                "7": "TypeError: round 1, turn 1: choose() returned 7",
                '["tempura", 3]': "choose() returned [ 'tempura', 3 ]",
                "{ card: view.hand[0] }": "it must return a card",
                "{ cards: view.hand[0], dummy: 1 }": "it must return a card",
            }.items()
        ),
    ],
)
def test_an_error_of_the_bot_is_shown_to_its_author(javascript_image: str, answer: str, words: str) -> None:
    """The stack and the position are on stderr, without the library's own frames; the exit code is 1."""
    rules = Rules(players=2)

    async def script(talk: Talk) -> None:
        await talk.welcome(rules)
        await talk.send(request(first_state(rules)))
        await talk.closed()

    source = FIRST_CARD.replace("view.hand[0]", answer)
    code, stderr = play_command(in_javascript(javascript_image, source), script)
    assert code == 1
    assert words in stderr
    assert "kaiten: the bot failed: it was asked in game 0, round 1, turn 1, in seat 0" in stderr
    assert first_state(rules).hands[0][0].label in stderr.split("hand ")[-1]
    assert "node_modules" not in stderr


@pytest.mark.parametrize("at", ["constructor", "gameOver"])
def test_errors_of_a_class_beside_choose_end_it_too(javascript_image: str, at: str) -> None:
    """A class that can't be made, or fails at the end of a game, fails the bot like choose."""
    end = pb.GameEnd(game=0, totals=[3, 2], puddings=[0, 0], pudding_scores=[0, 0], places=[1, 2])
    source = f"""
import {{ run }} from "kaiten";
run(class {{
  choose(view) {{}}
  {at}() {{ throw new Error("my own"); }}
}});
"""

    async def script(talk: Talk) -> None:
        await talk.welcome(Rules(players=2))
        await talk.send(pb.Event(game_end=end))
        await talk.closed()

    code, stderr = play_command(in_javascript(javascript_image, source), script)
    assert code == 1
    assert "Error: my own" in stderr


def test_a_referee_that_goes_away_ends_the_bot(javascript_image: str) -> None:
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

    code, stderr = play_command(in_javascript(javascript_image, FIRST_CARD), script)
    assert time.monotonic() - gone < 20
    assert code == 2
    assert stderr.startswith("kaiten: the referee is gone: ")
    assert stderr.count("\n") == 1


def test_a_refusal_of_the_referee_is_told(javascript_image: str) -> None:
    """A stream that the referee ends with an error ends the bot with code 2 and the referee's words."""

    async def script(talk: Talk) -> None:
        await talk.receive()
        await talk.refuse(grpc.StatusCode.INVALID_ARGUMENT, "protocol 1 is not spoken here")

    code, stderr = play_command(in_javascript(javascript_image, FIRST_CARD), script)
    assert (code, stderr) == (
        2,
        "kaiten: the referee is gone: protocol 1 is not spoken here (INVALID_ARGUMENT)\n",
    )


def test_a_referee_that_makes_no_sense_is_told(javascript_image: str) -> None:
    """A request of a game that never began is the referee's mistake, not the bot's: code 2, in words."""

    async def script(talk: Talk) -> None:
        await talk.welcome(Rules(players=2))
        await talk.send(request(first_state(Rules(players=2)), game=7))
        await talk.closed()

    code, stderr = play_command(in_javascript(javascript_image, FIRST_CARD), script)
    assert code == 2
    assert "an event of game 7, which has not begun" in stderr


def test_the_bot_waits_for_a_referee_that_is_late(javascript_image: str) -> None:
    """A bot that is up before the socket connects as soon as it is there."""

    async def script(talk: Talk) -> None:
        await talk.receive()

    source = FIRST_CARD + "\nconsole.log('up');"
    command = in_javascript(javascript_image, source)
    assert play_command(command, script, before=b"up\n") == (0, "")


def test_started_by_hand_it_says_what_to_do(javascript_image: str) -> None:
    """Without the environment variable the bot names it."""
    done = run_alone(javascript_image, FIRST_CARD)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("ARENA_REFEREE is not set")


@pytest.mark.parametrize(
    ("bot", "words"),
    [
        ("run(3)", "3 is not a bot"),
        ("run(class Odd {})", "the class Odd is not a bot: it has no method choose"),
        ("run(() => 1, { gamesAtOnce: 1.5 })", "gamesAtOnce is 1.5"),
    ],
)
def test_what_is_no_bot_is_refused(javascript_image: str, bot: str, words: str) -> None:
    """A mistake in the call of run is told before anything else happens."""
    source = f'import {{ run }} from "kaiten";\n{bot};'
    done = run_alone(javascript_image, source, NOWHERE)
    assert done.returncode == 1
    assert words in done.stderr


def test_no_referee_at_all_ends_the_bot(alone: "Future[CompletedProcess[str]]") -> None:
    """Where nobody ever answers, the bot gives up after ten seconds with one line."""
    done = alone.result(WAIT_SECONDS)
    assert done.returncode == 2
    assert done.stderr.startswith(f"kaiten: no referee answered at {NOWHERE}")
    assert done.stderr.count("\n") == 1
