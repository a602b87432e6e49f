"""The bridge between a scripted referee and a program that reads and writes lines of JSON."""

import subprocess
import sys
from pathlib import Path

import pytest
from grpc import StatusCode

from arena.rules import Rules, view
from arena.wire.v1 import referee_pb2 as pb
from tests.patience import WAIT_SECONDS
from tests.sdk.referee import NONCE, Exit, Script, Talk, first_state, play_command, request

SAY = "import json, os, sys\ndef say(message): print(json.dumps(message), flush=True)\n"
HELLO = "say({'hello': {'protocol': 1, 'sdk': 'lines', 'gamesAtOnce': 3}})\n"
FIRST = """
for line in sys.stdin:
    for event in json.loads(line)["events"]:
        asked = event.get("turnRequest")
        if asked:
            now = asked["position"]
            say({"moves": [{"game": asked["game"], "round": now["round"], "turn": now["turn"],
                            "cards": asked["hand"][:1], "nonce": asked["nonce"]}]})
print("left", file=sys.stderr)
"""


BRIDGE = f"""
import sys
import arena.sdk.bridge as bridge
bridge._LEAVE_SECONDS = {WAIT_SECONDS}
sys.exit(bridge.bridge(sys.argv[1:]))
"""
"""A bridge that gives programs more time to exit, since on a busy host the usual moment may be too short."""


def bridged(text: str, script: Script) -> Exit:
    """Run a program from this Python source through the bridge against a script."""
    program = [sys.executable, "-c", SAY + text]
    return play_command(lambda _folder: [sys.executable, "-c", BRIDGE, *program], script)


def test_messages_are_lines_in_both_directions() -> None:
    """Cards are names, and zeros are included. When its stdin ends, the program has a moment to exit."""
    rules = Rules(players=3)
    heard: list[pb.Move] = []

    async def script(talk: Talk) -> None:
        hello = await talk.welcome(rules, seat=0)
        assert (hello.protocol, hello.sdk, hello.games_at_once) == (1, "lines", 3)
        await talk.send(request(first_state(rules)))
        heard.extend((await talk.receive()).moves)

    assert bridged(HELLO + FIRST, script) == (0, "left\n")
    (move,) = heard
    assert (move.game, move.round, move.turn) == (0, 1, 1)
    assert [int(card) for card in move.cards] == [int(view(first_state(rules), 0).hand[0])]
    assert move.nonce == NONCE


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("print('rubbish', flush=True); sys.stdin.read()", "wrote a line that is not a BotMessage: "),
        ("say({'moves': [{'cards': ['CARD_PIZZA']}]}); sys.stdin.read()", "CARD_PIZZA"),
        ("print('x' * 70_000, flush=True); sys.stdin.read()", "wrote a line of more than 64 KiB"),
        ("sys.exit(3)", "kaiten: the program exited or closed its stdout (exit code 3)\n"),
        ("os.close(1); sys.stdin.read(); sys.exit(4)", "closed its stdout (exit code 4)\n"),
    ],
    ids=["rubbish", "no card", "long line", "exit", "closed stdout"],
)
def test_a_program_that_fails_ends_the_bot(text: str, said: str) -> None:
    """The bridge exits with code 1 and prints a line for the author."""

    async def script(talk: Talk) -> None:
        await talk.drained()

    code, stderr = bridged(HELLO + text, script)
    assert code == 1
    assert said in stderr
    assert stderr.startswith("kaiten: ")


async def waits(talk: Talk) -> None:
    """Keep the stream open until the bot closes it."""
    await talk.drained()


async def disconnects(talk: Talk) -> None:
    """End the stream with an error once the bot has read everything."""
    await talk.receive()
    await talk.refuse(StatusCode.UNAVAILABLE, "gone")


@pytest.mark.parametrize(("program", "referee"), [("sys.exit()", waits), ("say({})", disconnects)])
def test_after_the_match_either_side_may_leave_first(program: str, referee: Script) -> None:
    """The program may exit before the stream ends, and the stream may end with an error."""

    async def script(talk: Talk) -> None:
        await talk.welcome(Rules(players=3))
        await talk.send(pb.Event(match_end=pb.MatchEnd()))
        await referee(talk)

    text = f"for line in sys.stdin:\n    if 'matchEnd' in line: {program}\n"
    assert bridged(HELLO + text, script) == (0, "")


def test_without_a_referee_it_says_how_to_play(tmp_path: Path) -> None:
    """Without a referee the bridge exits with code 2 and says how to play."""
    done = subprocess.run(
        [sys.executable, "-m", "arena.sdk.bridge", "./nope"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 2
    assert "ARENA_REFEREE is not set" in done.stderr
    assert 'arena play greedy --bot "arena bridge -- ./mybot"' in done.stderr
