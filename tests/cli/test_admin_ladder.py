"""Tests of ``arena admin ladder``, ``quarantine`` and ``release``."""

from arena.protocol.match import RuntimeName
from tests.cli.operator import Operator
from tests.db.builders import START, add_matches

REFUSED = (
    (("--players", "two"), "--players 'two' is invalid: give numbers of players"),
    (("--players", ""), "--players '' is invalid"),
    (("--players", "2,,3"), "is invalid"),
    (("--players", "2,-3"), "is invalid"),
    (("--players", "\N{SUPERSCRIPT TWO}"), "is invalid"),
    (("--players", "1,2"), "choose from 2, 3, 4 and 5"),
    (("--players", "2,2"), "in ascending order"),
    (("--players", "9" * 5000), "choose from 2, 3, 4 and 5"),
    (("--deals", "0"), "deals must be 1 to 24, not 0"),
    (("--deals", "25"), "deals must be 1 to 24, not 25"),
    (("--start-millis", "999"), "start_millis must be 1000 to 60000, not 999"),
    (("--move-millis", "0"), "move_millis must be 50 to 60000, not 0"),
    (("--bank-millis", "120001"), "bank_millis must be 0 to 120000, not 120001"),
    (("--cpus", "nan"), "cpus must be 0.1 to 0.4, not nan"),
    (("--memory-mib", "257"), "memory_mib must be 64 to 256, not 257"),
    (("--pids", "65"), "pids must be 16 to 64, not 65"),
    (("--tmp-mib", "-1"), "tmp_mib must be 1 to 16, not -1"),
    (("--move-millis", "1000", "--resume"), "the ladder already has these settings"),
    (("--resume",), "the ladder already has these settings"),
)
"""Words after ``arena admin ladder``, and the message."""


def test_the_ladder_is_shown(operator: Operator) -> None:
    """The command shows the rules, the settings, and the numbers of games and matches."""
    told = operator.reads("ladder")
    limits = told.pop("limits")
    assert 0 < limits.pop("cpus") <= 0.4
    assert limits == {"memory_mib": 256, "pids": 64, "tmp_mib": 16}
    assert told == {
        "rules": "the basic game",
        "paused": False,
        "players": [2, 3, 4, 5],
        "deals": 12,
        "clock": {"start_millis": 10000, "move_millis": 1000, "bank_millis": 10000},
        "games": 1,
        "matches_waiting": 0,
        "matches_running": 0,
        "matches_quarantined": 0,
    }
    shown = operator.does("ladder").splitlines()
    assert [line.split() for line in shown[:3]] == [
        ["ladder", "running"],
        ["rules", "the", "basic", "game"],
        ["players", "2,", "3,", "4,", "5"],
    ]
    assert operator.log() == []


def test_the_ladder_is_changed(operator: Operator) -> None:
    """A command changes only the given settings, prints the new ones, and is in the audit log."""
    changed = operator.reads("ladder", "--pause", "--players", "4, 2")
    assert (changed["paused"], changed["players"], changed["deals"]) == (True, [2, 4], 12)
    assert operator.does("ladder", "--deals", "1").split()[:2] == ["ladder", "paused"]
    assert operator.does("ladder", "--resume").split()[:2] == ["ladder", "running"]
    told = operator.reads("ladder")
    assert (told["paused"], told["players"], told["deals"]) == (False, [2, 4], 1)
    assert operator.log() == [
        ("ladder", "", "paused; players 2,4"),
        ("ladder", "", "deals 1"),
        ("ladder", "", "resumed"),
    ]


def test_clock_and_limits_are_changed(operator: Operator) -> None:
    """One command can change several, prints the new ones, and is in the audit log."""
    words = ("--move-millis", "2000", "--bank-millis", "0", "--cpus", "0.1", "--memory-mib", "128")
    changed = operator.reads("ladder", *words)
    assert changed["clock"] == {"start_millis": 10000, "move_millis": 2000, "bank_millis": 0}
    assert changed["limits"] == {"cpus": 0.1, "memory_mib": 128, "pids": 64, "tmp_mib": 16}
    assert operator.reads("ladder") == changed
    assert operator.log() == [
        ("ladder", "", "move_millis 2000; bank_millis 0; cpus 0.1; memory_mib 128"),
    ]


def test_what_can_not_be_played_is_refused(operator: Operator) -> None:
    """The message is one line, with exit code 2. Neither the arena nor the audit log changes."""
    before = operator.reads("ladder")
    for words, why in REFUSED:
        assert why in operator.is_refused("ladder", *words)
    assert operator.reads("ladder") == before
    assert operator.log() == []


def put_aside(operator: Operator) -> None:
    """Quarantine a match of ``mine`` and ``greedy`` by three failures."""
    with operator.store() as store:
        seats = [store.bots.version_id("mine", 2), store.bots.version_id("greedy", 1)]
        add_matches(store, "m", [seat for seat in seats if seat is not None], matches=1)
        for attempt in range(1, 4):
            assert store.leases.claim("here", "worker", START, RuntimeName.DOCKER) is not None
            store.leases.record_void("m-0", attempt, "no engine \x1b[2J answers", START)


def test_quarantined_matches_are_listed_and_released(operator: Operator) -> None:
    """The list has each match's bots, reason and time. A released match is requeued."""
    assert operator.reads("quarantine")["quarantined"] == []
    put_aside(operator)
    assert operator.reads("quarantine")["quarantined"] == [
        {
            "match": "m-0",
            "kind": "rated",
            "since": f"{START:%Y-%m-%dT%H:%M:%SZ}",
            "attempts": 3,
            "seats": [{"bot": "mine", "version": 2}, {"bot": "greedy", "version": 1}],
            "reason": "no engine \x1b[2J answers",
        }
    ]
    titles, line = operator.does("quarantine").splitlines()
    assert titles.split() == ["match", "kind", "since", "(UTC)", "attempts", "bots", "reason"]
    assert "mine@2, greedy@1" in line
    assert "no engine \\x1b[2J answers" in line
    assert operator.does("release", "m-0") == "m-0 queued\n"
    assert operator.reads("quarantine")["quarantined"] == []
    assert operator.reads("ladder")["matches_waiting"] == 1
    assert operator.log() == [("release", "match:m-0", "")]


def test_only_quarantined_matches_that_can_be_played_are_released(operator: Operator) -> None:
    """The command says why any other match can't be released."""
    assert operator.is_refused("release", "m-0") == "no match has the id m-0"
    assert operator.is_refused("release", "s-0") == "match s-0 is done, not quarantined"
    put_aside(operator)
    operator.does("disqualify", "mine", "--reason", "a twin", "--yes")
    assert "mine was disqualified: a twin" in operator.is_refused("release", "m-0")
    assert [what for what, _, _ in operator.log()] == ["disqualify"]
