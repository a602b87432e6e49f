"""Behaviour specific to the JavaScript library, in a bot's image against a scripted referee."""

import re
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from subprocess import CompletedProcess

import pytest

from arena.ladder.diagnosis import where_it_failed
from arena.rules import Rules
from tests.patience import WAIT_SECONDS
from tests.sdk.javascript import in_javascript, run_alone
from tests.sdk.libraries import FIRST_CARD_JS
from tests.sdk.referee import Talk, first_state, play_command

pytestmark = pytest.mark.docker

THROWS_FROM_A_HELPER = """
import { knownHands, run } from "kaiten";
function choose(view) {
  try {
    return knownHands({});
  } catch (cause) {
    throw Object.assign(new Error("no plan", { cause }), { depth: 3 });
  }
}
run(choose);
"""

UNUSED_ADDRESS = "unix:///nowhere/referee.sock"


@pytest.fixture(scope="module", autouse=True)
def alone(javascript_container: str) -> Iterator["Future[CompletedProcess[str]]"]:
    """Yield the result of a bot without a referee. It waits for one while the other tests run."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(run_alone, javascript_container, FIRST_CARD_JS, UNUSED_ADDRESS)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("null.card", "TypeError: Cannot read properties of null (reading 'card')"),
        ('"maki_4"', "TypeError: round 1, turn 1: choose() returned 'maki_4'; it must return a card"),
        ("{ cards: view.hand[0], note: 5 }", "an answer's note must be text, not 5"),
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
def test_an_error_of_the_bot_is_shown_to_its_author(
    javascript_container: str, answer: str, words: str
) -> None:
    """The bot prints the stack, without the library's frames, and the position. The exit code is 1.

    The verdict quotes the error.
    """
    rules = Rules(players=2)

    async def script(talk: Talk) -> None:
        await talk.ask(rules)
        await talk.closed()

    source = FIRST_CARD_JS.replace("view.hand[0]", answer)
    code, stderr = play_command(in_javascript(javascript_container, source), script)
    assert code == 1
    assert words in stderr
    found = where_it_failed(stderr)
    assert found is None if words == "words alone" else words in (found or ""), stderr
    assert "kaiten: the bot failed when it was asked for a move in game 0, round 1, turn 1, seat 0" in stderr
    assert first_state(rules).hands[0][0].label in stderr.split("hand ")[-1]
    assert "node_modules" not in stderr


def test_an_error_in_a_helper_keeps_its_place_in_the_bot(javascript_container: str) -> None:
    """Only the library's frames below the bot's are left out. Causes and properties are shown too."""

    async def script(talk: Talk) -> None:
        await talk.ask(Rules(players=2))
        await talk.closed()

    _, stderr = play_command(in_javascript(javascript_container, THROWS_FROM_A_HELPER), script)
    own = r"\n +at .*choose .*"
    cause = rf"\[cause\]: TypeError: .*\n +at knownHands .*{own}\n}}\nkaiten: "
    assert re.match(rf"Error: no plan{own} {{\n  depth: 3,\n  {cause}", stderr), stderr


def test_a_bot_without_a_referee_exits(alone: "Future[CompletedProcess[str]]") -> None:
    """If the referee's socket doesn't exist, the bot gives up after ten seconds with one line."""
    done = alone.result(WAIT_SECONDS)
    assert done.returncode == 2
    assert done.stderr.startswith(f"kaiten: no referee answered at {UNUSED_ADDRESS}")
    assert done.stderr.count("\n") == 1


@pytest.mark.soak
def test_a_bot_waits_for_a_stalled_referee(javascript_container: str) -> None:
    """The limit of ten seconds applies only if the referee's socket doesn't exist."""

    async def script(talk: Talk) -> None:
        await talk.asked(Rules(players=2))

    source = f"setTimeout(() => console.log('late'), 12_000);\n{FIRST_CARD_JS}"
    code, stderr = play_command(in_javascript(javascript_container, source), script, before=b"late\n")
    assert (code, stderr) == (0, "")
