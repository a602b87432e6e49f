"""Tests of ``arena admin`` on bots: their active versions, and bots that are off the ladder."""

import os
import pty
import subprocess

from arena.protocol.states import BotState
from tests.cli.command import COMMAND, environment
from tests.cli.operator import Operator
from tests.patience import WAIT_SECONDS

REFUSED = (
    (("bench", "greedy", "--reason", "why"), "greedy is a house bot"),
    (("bench", "mine", "--reason", " "), "no reason was given"),
    (("bench", "mine", "--reason", "x" * 201), "the reason has 201 characters (limit 200)"),
    (("unbench", "mine"), "mine is active, not benched"),
    (("retire", "other"), "other is already retired"),
    (("play-version", "mine", "2"), "mine@2 is already active"),
    (("disqualify", "mine", "--reason", "why"), "stdin is not a terminal: pass --yes"),
    (("disqualify", "yours", "--reason", "why", "--yes"), "there is no bot called yours"),
    (("reinstate", "mine"), "mine is active, not disqualified"),
)
"""Commands while ``other`` is retired, and their messages."""


def test_bots_are_listed(operator: Operator) -> None:
    """All bots are listed, or those in a state or by an author, as a table or with the API's keys."""
    operator.does("retire", "mine")
    told = {bot["name"]: bot for bot in operator.reads("bots")["bots"]}
    assert set(told) == {"greedy", "mine", "other"}
    mine = told["mine"]
    assert mine.pop("since").endswith("Z")
    assert mine == {
        "name": "mine",
        "author": "Ann",
        "house": False,
        "state": "retired",
        "reason": None,
        "version": 2,
        "newest": 2,
        "open_to_people": False,
    }
    for words, names in ((("--state", "active"), ["greedy", "other"]), (("--author", "ann"), ["mine"])):
        assert [bot["name"] for bot in operator.reads("bots", *words)["bots"]] == names
    lines = operator.does("bots", "--state", "retired").splitlines()
    assert [line.split()[:3] for line in lines] == [["bot", "author", "state"], ["mine@2", "Ann", "retired"]]


def test_bots_leave_and_come_back(operator: Operator) -> None:
    """Each command prints the bot's state and is recorded in the audit log."""
    assert operator.does("bench", "mine", "--reason", " it\x1b[2J prints\nnonsense ") == "mine@2 benched\n"
    (benched,) = operator.reads("bots", "--state", "benched")["bots"]
    assert benched["reason"] == "it [2J prints nonsense"
    assert operator.does("unbench", "mine") == "mine@2 active\n"
    assert operator.does("retire", "mine") == "mine@2 retired\n"
    assert operator.does("play-version", "mine", "1") == "mine@1 active\n"
    assert operator.log() == [
        ("bench", "bot:mine", "it [2J prints nonsense"),
        ("unbench", "bot:mine", ""),
        ("retire", "bot:mine", ""),
        ("play-version", "bot:mine", "version 1"),
    ]


def test_a_bot_is_disqualified_and_reinstated(operator: Operator) -> None:
    """A disqualified bot's games don't affect ratings; a reinstatement restores them. The commands say so."""
    with operator.store() as store:
        before = store.ratings.standings()
    done = operator.does("disqualify", "mine", "--reason", "a twin", "--yes")
    assert done == "5 events applied, 6 ratings changed\nmine@2 disqualified\n"
    with operator.store() as store:
        assert {line.entry.rating.mean for line in store.ratings.standings()} == {25}
        assert store.ladder.rebuild().differing == 0
    assert operator.does("reinstate", "mine") == "5 events applied, 6 ratings changed\nmine@2 active\n"
    with operator.store() as store:
        assert store.ratings.standings() == before
    assert operator.log() == [("disqualify", "bot:mine", "a twin"), ("reinstate", "bot:mine", "")]


def test_what_can_not_be_done_says_why(operator: Operator) -> None:
    """The message is one line, with exit code 2. Neither the arena nor the audit log changes."""
    operator.does("retire", "other")
    before = operator.reads("bots")
    for words, why in REFUSED:
        assert why in operator.is_refused(*words)
    assert operator.reads("bots") == before
    assert len(operator.log()) == 1


def test_wrong_usage_is_refused(operator: Operator) -> None:
    """Wrong usage includes invalid or too small numbers, and benching without a reason."""
    for words in (("play-version", "mine", "0"), ("play-version", "mine", "x"), ("bench", "mine")):
        assert operator.types(*words).code == 2
    assert operator.log() == []


def test_a_terminal_asks_to_confirm_a_disqualification(operator: Operator) -> None:
    """The question names the bot and its author. If the answer is no, nothing changes."""
    ours, theirs = pty.openpty()
    os.write(ours, b"n\n")
    done = subprocess.run(  # noqa: S603 - the command under test
        [*COMMAND, "admin", "disqualify", "mine", "--reason", "a twin"],
        env=environment() | {"ARENA_DATABASE_URL": operator.url},
        stdin=theirs,
        capture_output=True,
        check=False,
        timeout=WAIT_SECONDS,
    )
    os.close(ours)
    os.close(theirs)
    assert b"Disqualify Ann's bot mine, and recompute all ratings?" in done.stderr
    assert done.returncode == 1, done.stderr
    with operator.store() as store:
        bot = store.bots.find("mine")
    assert bot is not None
    assert bot.state is BotState.ACTIVE
