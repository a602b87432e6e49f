"""Tests of the output about a submission: each stage once, the whole cause, and no cursor movements."""

from typing import Any

import pytest

from arena.cli.submit import ProgressReporter, print_verdict

FIGURES = {
    "place": 2,
    "decisions": 27,
    "median_millis": 1.234,
    "slowest_millis": 12.34,
    "late": 1,
    "notes": 3,
    "stderr_bytes": 70,
}
DONE: dict[str, Any] = {
    "match": "m",
    "state": "done",
    "players": 3,
    "seat": 1,
    "game": "g",
    "figures": FIGURES,
}
OPEN = {**DONE, "state": "running", "game": None, "figures": None}

CAUSE = {
    "stage": "qualifying",
    "kind": "memory",
    "text": "the bot was gone:\x1b[2J\nit ran out",
    "hint": "Load less.",
    "exit_code": 137,
    "out_of_memory": True,
    "request": {"game": 1, "players": 2, "seat": 0, "round": 1, "turn": 3, "hand": ["maki_2", "egg\r"]},
    "stderr": "[bold]last[/bold]\n\n\x1b]0;title\x07\N{RIGHT-TO-LEFT OVERRIDE}words\n",
}


def test_each_event_is_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Events are stages, reasons to wait and finished games, with the seconds elapsed so far."""
    telling = ProgressReporter(lambda: 12.34)
    for submission in (
        {"stage": "received", "waiting": None},
        {"stage": "received", "waiting": "no\x1b[2J room"},
        {"stage": "received", "waiting": None},
        {"stage": "qualifying", "waiting": None, "games": [DONE, OPEN]},
        {"stage": "qualifying", "waiting": None, "games": [DONE, {**DONE, "players": 5, "seat": 4}]},
        {
            "stage": "qualifying",
            "waiting": None,
            "games": [DONE, {**DONE, "players": 5, "seat": 4}, {**DONE, "number": 2}, {**DONE, "number": 3}],
        },
        {"stage": "resting", "waiting": None},
    ):
        telling.update(submission)
        telling.update(submission)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "arena:  12.3 s  received: building the image",
        r"arena:  12.3 s  waiting: no\x1b[2J room",
        "arena:  12.3 s  continuing",
        "arena:  12.3 s  qualifying: playing 3 unrated games",
        "arena:  12.3 s  game 1 of 3: 3 players, seat 1, placed 2nd, slowest decision 12 ms, 1 late decision",
        "arena:  12.3 s  game 2 of 3: 5 players, seat 4, placed 2nd, slowest decision 12 ms, 1 late decision",
        (
            "arena:  12.3 s  game 2 of 3 (repeated because the host was busy): 3 players, seat 1, placed "
            "2nd, slowest decision 12 ms, 1 late decision"
        ),
        "arena:  12.3 s  game 3 of 3: 3 players, seat 1, placed 2nd, slowest decision 12 ms, 1 late decision",
        "arena:  12.3 s  resting",
    ]


def test_a_rejection_is_printed_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    """The bot's output can't move the cursor, change colours or imitate a line of the command."""
    print_verdict({"stage": "rejected", "cause": CAUSE, "games": []}, "taken")
    out, err = capsys.readouterr()
    assert err == ""
    assert out.splitlines() == [
        r"rejected: the bot was gone:\x1b[2J\nit ran out",
        "  stage      qualifying",
        "  cause      memory",
        "  exit code  137",
        "  memory     killed by the kernel for using too much memory",
        "  decision   game 1 of 3 (2 players, seat 0), round 1, turn 3",
        r"  hand       maki_2, egg\r",
        "  hint       Load less.",
        "  the end of the bot's stderr:",
        "    [bold]last[/bold]",
        "",
        r"    \x1b]0;title\x07\u202ewords",
    ]


def test_a_cause_may_have_few_fields(capsys: pytest.CaptureFixture[str]) -> None:
    """Fields that the cause lacks are left out."""
    cause = {"stage": "received", "kind": "file", "text": "no archive", "hint": "Fix it."}
    print_verdict({"stage": "rejected", "cause": cause}, "taken")
    assert capsys.readouterr().out.splitlines() == [
        "rejected: no archive",
        "  stage      received",
        "  cause      file",
        "  hint       Fix it.",
    ]


def test_an_accepted_submission_is_printed_with_its_games(capsys: pytest.CaptureFixture[str]) -> None:
    """There is a line for each game, with a dash for missing figures."""
    games = [DONE, {**DONE, "figures": {**FIGURES, "median_millis": None, "slowest_millis": None}}]
    print_verdict({"stage": "active", "cause": None, "games": games}, "mine@1 is active")
    first, *table = capsys.readouterr().out.splitlines()
    assert first == "mine@1 is active"
    titles, one, two = (line.split() for line in table)
    assert " ".join(titles) == (
        "game players seat place decisions median ms slowest ms late notes stderr bytes"
    )
    assert one == ["1", "3", "1", "2", "27", "1.2", "12", "1", "3", "70"]
    assert two == ["2", "3", "1", "2", "27", "-", "-", "1", "3", "70"]
