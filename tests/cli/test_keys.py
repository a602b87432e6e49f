"""Tests that commands with ``--json`` print the API's documents."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
import typer

from arena.cli.main import app
from arena.protocol.match import RuntimeName, WorkerStatus
from arena.protocol.states import Role, Scope
from arena.protocol.status import RefusedWorker
from tests.cli.author import Author
from tests.cli.test_bots_online import at_home, submit
from tests.cli.test_imports import commands
from tests.db.builders import START, add_bot, add_matches, never_expire, present
from tests.db.test_submissions import CAUSE
from tests.patience import WAIT_SECONDS


@pytest.fixture(scope="module")
def ann(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Author]:
    """Yield ann, an operator whose arena has data of every kind."""
    with at_home(tmp_path_factory.mktemp("ann")) as author:
        store = author.live.store
        author.live.world.accounts.operators.set_role("test", "ann", Role.OPERATOR)
        submit(author, "a1", "mine")
        store.submissions.reject("a1", CAUSE, START)
        submit(author, "a2", "fresh")
        newcomer = add_bot(store, "newcomer")
        add_matches(store, "m", [newcomer, present(store.bots.version_id("greedy", 1))], matches=2)
        now = datetime.now(UTC)
        for attempt in range(1, 4):
            assert store.leases.claim("here", "one", now, RuntimeName.DOCKER) is not None
            store.leases.record_void("m-0", attempt, "no engine answers", now)
        assert store.leases.claim("here", "one", now, RuntimeName.DOCKER) is not None
        status = WorkerStatus(name="one", host="h", seats=4, busy=2, doubted=False, usable=None)
        refused = RefusedWorker(name="old", host="h", reason="it has version 0.0.9", since=now)
        store.leases.publish_workers("here", [status], [refused])
        never_expire(f"sqlite:///{author.live.world.file}")
        yield author


def api(ann: Author, path: str) -> Any:  # noqa: ANN401 - JSON
    """Return the API's response to ann with all scopes."""
    bearer = {"Authorization": f"Bearer {ann.live.token('ann', list(Scope))}"}
    answer = httpx2.get(f"{ann.live.url}/api/v1{path}", headers=bearer, timeout=WAIT_SECONDS)
    assert answer.status_code == 200, answer.text
    return answer.json()


def printed(ann: Author, *words: str) -> Any:  # noqa: ANN401 - JSON
    """Return what a command prints on the arena's host and, with the same scopes, at its site."""
    login = {"ARENA_SITE": ann.live.url, "ARENA_TOKEN": ann.live.token("ann", list(Scope))}
    said = ann.types(*words, "--json", ARENA_DATA_DIR=str(ann.live.uploads.parent), **login)
    assert said.code == 0, said.err
    return json.loads(said.out)


WHOLE = (
    ("leaderboard", "/leaderboard"),
    ("leaderboard --players 3", "/leaderboard?players=3"),
    ("leaderboard --site", "/leaderboard"),
    ("leaderboard --site --players 3", "/leaderboard?players=3"),
    ("games -n 100", "/games?limit=100"),
    ("games --mine -n 100", "/games?bot=mine&limit=100"),
    ("logs logged-0-0", "/games/logged-0-0/logs"),
    ("versions mine", "/bots/mine/versions"),
    ("admin bots", "/bots"),
    ("admin submissions", "/submissions"),
)
"""Commands, and the responses that they print."""

PARTS: dict[str, dict[str, str]] = {
    "status": {"bots": "/account/bots"},
    "status mine": {
        "bot": "/bots/mine",
        "versions": "/bots/mine/versions",
        "submissions": "/submissions?bot=mine",
    },
    "workers": {"workers": "/status", "refused": "/status"},
    "admin quarantine": {"quarantined": "/status"},
    "admin show-user ann": {"bots": "/account/bots"},
}
"""Commands, keys of their output, and the responses from which the values come."""

SENDING = {"submit", "cancel", "challenge"}
"""Commands that change something, and print the site's response unchanged."""

OWN = {
    *("init", "play", "analyse", "compare", "league", "puzzle", "rerun", "referee", "conformance"),
    *("simulate", "check", "doctor", "admin ladder", "admin list-users"),
}
"""Commands that print documents which no route returns."""


def test_every_command_is_listed() -> None:
    """Every command with ``--json`` is in one of these lists."""
    found = {
        name
        for name, command in commands(typer.main.get_command(app))
        if any("--json" in parameter.opts for parameter in command.params)
    }
    lines = [*(line for line, _ in WHOLE), *PARTS]
    listed = {name for name in found for line in lines if f"{line} ".startswith(f"{name} ")}
    assert found == listed | SENDING | OWN


@pytest.mark.parametrize(("command", "path"), WHOLE)
def test_a_command_prints_what_the_api_returns(ann: Author, command: str, path: str) -> None:
    """The order of keys and all digits are the same. Times are in ISO 8601 with Z."""
    answer = json.dumps(api(ann, path))
    assert json.dumps(printed(ann, *command.split())) == answer
    assert not re.search(r': "20\d\d-\d\d-\d\dT[\d:.]+[^\d:.Z]', answer)


@pytest.mark.parametrize("command", PARTS)
def test_a_command_prints_parts_of_responses(ann: Author, command: str) -> None:
    """Each part has the same key in its response, or is the whole response."""
    told = printed(ann, *command.split())
    for key, path in PARTS[command].items():
        answer = api(ann, path)
        assert told[key], key
        assert json.dumps(told[key]) == json.dumps(answer.get(key, answer)), key


def test_a_name_means_the_same_everywhere(ann: Author) -> None:
    """Documents that the API doesn't return use the API's names for the same values."""
    status, ladder = api(ann, "/status"), printed(ann, "admin", "ladder")
    same = ("games", "paused", "matches_running", "matches_waiting", "matches_quarantined")
    assert {name: ladder[name] for name in same} == {name: status[name] for name in same}
    account, user = api(ann, "/account"), printed(ann, "admin", "show-user", "ann")
    listed = printed(ann, "admin", "list-users")["accounts"]
    known = {name: account[name] for name in ("name", "role", "created")}
    assert {name: user[name] for name in known} == known
    assert known in [{name: each[name] for name in known} for each in listed]
