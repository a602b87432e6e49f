"""The libraries of both languages, with bots that behave the same in each."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from arena.rules import View
from tests.sdk import javascript
from tests.sdk.referee import ROOT, Command, Exit, Script, in_python, play_command

FIRST_CARD = """
from arena.sdk import run
def choose(view):
    return view.hand[0]
run(choose)
"""

FIRST_CARD_JS = """
import { run } from "kaiten";
function choose(view) {
  return view.hand[0];
}
run(choose);
"""

_REMEMBERS = """
from hashlib import sha256
from arena.sdk import Answer, run
def choose(view):
    move = view.legal_moves()[-1]
    return Answer(move.cards, move.dummy, sha256(repr(view).encode()).hexdigest())
run(choose)
"""

_REMEMBERS_JS = """
import { createHash } from "node:crypto";
import { run } from "kaiten";
run(async (view) => {
  const move = view.legalMoves().at(-1);
  return { ...move, note: createHash("sha256").update(JSON.stringify(view)).digest("hex") };
});
"""

_SECOND_FAILS = """
import time
from arena.sdk import run
asked = 0
def choose(view):
    global asked
    asked += 1
    time.sleep(0.1)
    if asked > 1:
        raise ValueError("enough")
    return view.hand[0]
run(choose)
"""

_SECOND_FAILS_JS = """
import { run } from "kaiten";
let asked = 0;
run((view) => {
  asked += 1;
  const end = performance.now() + 100;
  while (performance.now() < end);
  if (asked > 1) throw new Error("enough");
  return view.hand[0];
});
"""

_CLASS = """
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

_CLASS_JS = """
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

_FAILING = """
from arena.sdk import run
class Bot:
    def choose(self, view): ...
    def {at}(self, *end): raise OSError("my own")
run(Bot)
"""

_FAILING_JS = """
import {{ run }} from "kaiten";
run(class {{
  choose(view) {{}}
  {at}() {{ throw new Error("my own"); }}
}});
"""


class Library(NamedTuple):
    """A library for bots, and how to use it in tests."""

    language: str
    start: Callable[[str], Command]
    alone: Callable[..., "subprocess.CompletedProcess[str]"]  # see run_alone
    shown: Callable[[View], str]  # the text of a view that the bot "remembers" hashes
    bots: Mapping[str, str]  # by what they do: their sources

    def play(self, bot: str, script: Script, *, before: bytes = b"") -> Exit:
        """Run one of the bots against a script."""
        return play_command(self.start(self.bots[bot]), script, before=before)


def run_alone(source: str, address: str | None = None) -> "subprocess.CompletedProcess[str]":
    """Run a bot in Python without a referee. ``address`` is passed to it as the referee's."""
    env = {"PYTHONPATH": str(ROOT)} | ({"ARENA_REFEREE": address} if address else {})
    return subprocess.run(  # noqa: S603 - source text from tests
        [sys.executable, "-c", source], env=env, capture_output=True, text=True, check=False
    )


PYTHON = Library(
    language="python",
    start=in_python,
    alone=run_alone,
    shown=repr,
    bots={
        "plays the first card": FIRST_CARD,
        "wants 5 games": FIRST_CARD.replace("run(choose)", "run(choose, games_at_once=5)"),
        "wants an impossible number of games": FIRST_CARD.replace(
            "run(choose)", "run(choose, games_at_once=0)"
        ),
        "is a number": FIRST_CARD.replace("run(choose)", "run(3)"),
        "is a class without choose": FIRST_CARD.replace("run(choose)", "run(type('Odd', (), {}))"),
        "says that it is up": "print('up', flush=True)\n" + FIRST_CARD,
        "has a long note": FIRST_CARD.replace(
            "view.hand[0]", "Answer(view.hand[0], note='x' + 'é' * 200 + chr(0xd800))"
        ).replace("import run", "import Answer, run"),
        "remembers": _REMEMBERS,
        "fails in its second decision": _SECOND_FAILS,
        "takes its time": _SECOND_FAILS.replace("asked > 1", "asked > 99"),
        "is a class": _CLASS,
        "fails at its start": _FAILING.format(at="__init__"),
        "fails at the end": _FAILING.format(at="game_over"),
    },
)


def in_javascript(container: str) -> Library:
    """Return the JavaScript library in this container."""
    note = '{ cards: view.hand[0], note: "x" + "é".repeat(200) + "\\ud800" }'
    return Library(
        language="javascript",
        start=partial(javascript.in_javascript, container),
        alone=partial(javascript.run_alone, container),
        shown=lambda view: javascript.compact(javascript.as_javascript(view)),
        bots={
            "plays the first card": FIRST_CARD_JS,
            "wants 5 games": FIRST_CARD_JS.replace("run(choose)", "run(choose, { gamesAtOnce: 5 })"),
            "wants an impossible number of games": FIRST_CARD_JS.replace(
                "run(choose)", "run(choose, { gamesAtOnce: 1.5 })"
            ),
            "is a number": FIRST_CARD_JS.replace("run(choose)", "run(3)"),
            "is a class without choose": FIRST_CARD_JS.replace("run(choose)", "run(class Odd {})"),
            "says that it is up": FIRST_CARD_JS + "\nconsole.log('up');",
            "has a long note": FIRST_CARD_JS.replace("view.hand[0]", note),
            "remembers": _REMEMBERS_JS,
            "fails in its second decision": _SECOND_FAILS_JS,
            "takes its time": _SECOND_FAILS_JS.replace("asked > 1", "asked > 99"),
            "is a class": _CLASS_JS,
            "fails at its start": _FAILING_JS.format(at="constructor"),
            "fails at the end": _FAILING_JS.format(at="gameOver"),
        },
    )
