"""Files of a new bot."""

import re
import shutil
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from shlex import quote
from typing import Final

from arena.platform.files import shared_folder
from arena.platform.names import check_name


class StarterLanguage(StrEnum):
    """A programming language for new bots."""

    PYTHON = "python"
    JAVASCRIPT = "javascript"
    CPP = "cpp"


class FolderTaken(ValueError):
    """The new bot's folder already exists."""


_BOT_PY: Final = '''\
"""NAME, a Sushi Go! bot."""

from arena.sdk import Card, View, run

WANTED = (Card.SQUID_NIGIRI, Card.SALMON_NIGIRI, Card.MAKI_3, Card.DUMPLING, Card.TEMPURA)


def choose(view: View) -> Card:
    """Return the card to play."""
    for card in WANTED:
        if card in view.hand:
            return card
    return view.hand[0]


if __name__ == "__main__":
    run(choose)
'''

_TEST_PY: Final = '''\
"""Run the tests in this folder: python -m unittest"""

import unittest

from arena.sdk import Card, play

from bot import choose


class TestBot(unittest.TestCase):
    """Tests of whole games and of single decisions."""

    def test_it_plays_whole_games(self) -> None:
        """It plays legally at every table size."""
        for players in (2, 3, 4, 5):
            self.assertTrue(play([choose] * players, seed=players).over)

    def test_it_wants_nigiri(self) -> None:
        """It plays a squid nigiri whenever it has one."""
        seen = []
        play([lambda view: seen.append(view) or choose(view)] * 2, seed=1)
        for view in seen:
            if Card.SQUID_NIGIRI in view.hand:
                self.assertEqual(choose(view), Card.SQUID_NIGIRI)


if __name__ == "__main__":
    unittest.main()
'''

_BOT_JS: Final = """\
/** NAME, a Sushi Go! bot. */

import { Card, run } from "kaiten";

const WANTED = [Card.SQUID_NIGIRI, Card.SALMON_NIGIRI, Card.MAKI_3, Card.DUMPLING, Card.TEMPURA];

/** Return the card to play. */
export function choose(view) {
  return WANTED.find((card) => view.hand.includes(card)) ?? view.hand[0];
}

if (process.env.ARENA_REFEREE) {
  run(choose);
}
"""

_TEST_JS: Final = """\
/** Run the tests in this folder: node --test */

import assert from "node:assert";
import test from "node:test";

import { choose } from "./bot.js";

test("it wants nigiri", () => {
  assert.equal(choose({ hand: ["tempura", "pudding", "squid_nigiri"] }), "squid_nigiri");
});

test("it plays a card that it doesn't want if it has no other", () => {
  assert.equal(choose({ hand: ["pudding"] }), "pudding");
});
"""

_BOT_CPP: Final = """\
// NAME, a Sushi Go! bot. It reads and writes lines of JSON; `arena bridge` connects it to the arena.

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

using nlohmann::json;

const std::vector<std::string> WANTED = {"CARD_SQUID_NIGIRI", "CARD_SALMON_NIGIRI", "CARD_MAKI_3",
                                         "CARD_DUMPLING", "CARD_TEMPURA"};

// Returns the card to play. The arena's docs/messages.md describes the request, a TurnRequest.
std::string choose(const json& request) {
    const auto hand = request["hand"].get<std::vector<std::string>>();
    for (const auto& card : WANTED) {
        if (std::find(hand.begin(), hand.end(), card) != hand.end()) return card;
    }
    return hand.front();
}

json answer(const json& request) {
    const json& now = request["position"];
    return {{"game", request["game"]},
            {"round", now["round"]},
            {"turn", now["turn"]},
            {"cards", json::array({choose(request)})},
            {"nonce", request["nonce"]}};
}

// Writes one message. std::endl flushes it; otherwise it would stay in the buffer, and the arena would wait.
void say(const std::string& kind, const json& content) {
    json message;
    message[kind] = content;
    std::cout << message << std::endl;
}

int main() {
    say("hello", {{"protocol", 1}, {"sdk", "NAME"}, {"gamesAtOnce", 32}});
    for (std::string line; std::getline(std::cin, line);) {
        json moves = json::array();
        const json message = json::parse(line);
        for (const auto& event : message["events"]) {
            if (event.contains("turnRequest")) moves.push_back(answer(event["turnRequest"]));
        }
        if (!moves.empty()) say("moves", moves);
    }
}
"""

_MAKEFILE: Final = """\
CXXFLAGS = -O2 -Wall -Wextra

# Linked statically, so that it runs in the arena's image too.
bot: bot.cpp
\t$(CXX) -std=c++17 $(CXXFLAGS) -static -o bot bot.cpp

test: bot
\tsh test.sh

.PHONY: test
"""

_TEST_SH: Final = """\
# Asks the bot for one move: from this hand, it must play the squid nigiri.
asked='{"game":0,"position":{"round":1,"turn":1},"hand":["CARD_TEMPURA","CARD_SQUID_NIGIRI"],"nonce":7}'
answer=$(echo '{"events":[{"turnRequest":'"$asked"'}]}' | ./bot | tail -n 1)
case $answer in
*'"cards":["CARD_SQUID_NIGIRI"]'*) echo "ok" ;;
*)
    echo "wrong: $answer"
    exit 1
    ;;
esac
"""

_README_CPP: Final = """\
# NAME

A bot for Kaiten, the Sushi Go! arena. Its moves are chosen in `bot.cpp`.

It needs a compiler and the library nlohmann-json. On Debian or Ubuntu:

    sudo apt-get install g++ make nlohmann-json3-dev

Then, in this folder:

    make test                                                 # build it, and run its test
    arena play greedy expected --bot "arena bridge -- ./bot"  # some games
    arena compare --bot "arena bridge -- ./bot" greedy        # is it better than greedy?
    arena check .                                             # would an arena accept it?
    arena submit . --name NAME
"""

_DOCKERFILE_CPP: Final = """\
FROM kaiten/bot-base-python
COPY bot /bot/bot
ENTRYPOINT ["python3", "-m", "arena.sdk.bridge", "/bot/bot"]
"""

_PACKAGE: Final = """\
{
  "name": "NAME",
  "private": true,
  "type": "module"
}
"""

_README: Final = """\
# NAME

A bot for Kaiten, the Sushi Go! arena. Its moves are chosen in `FILE`.
SETUP
    TEST                 # run its tests in this folder
    arena play FILE greedy expected  # some games
    arena compare FILE old/FILE    # is it better than the old one?
    arena check FILE                 # would an arena accept it?
    arena submit FILE --name NAME
"""

_INSTALL: Final = """
Once, in this folder:

    npm install --install-links LIBRARY @grpc/grpc-js@1.14.7 protobufjs@7.6.6

Then:
"""

_DOCKERFILE: Final = """\
FROM kaiten/bot-base-LANGUAGE
COPY FILE /bot/FILE
ENTRYPOINT ["INTERPRETER", "/bot/FILE"]
"""


def starter_files(name: str, language: StarterLanguage) -> Mapping[str, str]:
    """Return the text of each file of a new bot. Raises WrongName."""
    check_name(name, "bot")
    words = {"LANGUAGE": language.value, "NAME": name}
    match language:
        case StarterLanguage.CPP:
            files = {
                "bot.cpp": _BOT_CPP,
                "test.sh": _TEST_SH,
                "Makefile": _MAKEFILE,
                "Dockerfile": _DOCKERFILE_CPP,
                "README.md": _README_CPP,
            }
        case StarterLanguage.PYTHON:
            words |= {"FILE": "bot.py", "INTERPRETER": "python3", "SETUP": "", "TEST": "python -m unittest"}
            files = {"bot.py": _BOT_PY, "test_bot.py": _TEST_PY}
        case StarterLanguage.JAVASCRIPT:
            library = quote(str(shared_folder() / "bots" / "base-javascript" / "kaiten"))
            words |= {
                "FILE": "bot.js",
                "INTERPRETER": "node",
                "SETUP": _fill_in(_INSTALL, {"LIBRARY": library}),
                "TEST": "node --test       ",
            }
            files = {"bot.js": _BOT_JS, "bot.test.js": _TEST_JS, "package.json": _PACKAGE}
    files = {"Dockerfile": _DOCKERFILE, "README.md": _README} | files
    return {file: _fill_in(text, words) for file, text in files.items()}


def write_starter(folder: Path, files: Mapping[str, str]) -> None:
    """Write files into a new folder, all or none. Raises FolderTaken or OSError."""
    try:
        folder.mkdir()
    except FileExistsError as error:
        raise FolderTaken(f"{folder} already exists: remove it, or choose another name") from error
    try:
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _fill_in(text: str, words: Mapping[str, str]) -> str:
    """Replace words in one pass, because the bot's name may contain one of them."""
    return re.sub("|".join(words), lambda word: words[word[0]], text)
