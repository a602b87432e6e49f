"""Commands with ``--json`` print the API's documents."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from arena.protocol.states import Role, Scope
from tests.cli.author import Author
from tests.cli.test_bots_online import at_home
from tests.db.builders import add_bot


@pytest.fixture(scope="module")
def ann(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Author]:
    """Give ann, an operator, whose arena has some of everything."""
    with at_home(tmp_path_factory.mktemp("ann")) as author:
        add_bot(author.live.store, "newcomer")
        author.live.world.accounts.operators.set_role("test", "ann", Role.OPERATOR)
        yield author


def api(ann: Author, path: str) -> Any:  # noqa: ANN401 - JSON
    """Return the API's answer, to ann with every right."""
    bearer = {"Authorization": f"Bearer {ann.live.token('ann', list(Scope))}"}
    answer = httpx2.get(f"{ann.live.url}/api/v1{path}", headers=bearer)
    assert answer.status_code == 200, answer.text
    return answer.json()


def printed(ann: Author, *words: str) -> Any:  # noqa: ANN401 - JSON
    """Return what a command prints, on the machine of the arena and logged in at its site."""
    said = ann.types(*words, "--json", ARENA_DATA_DIR=str(ann.live.uploads.parent))
    assert said.code == 0, said.err
    return json.loads(said.out)


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("leaderboard", "/leaderboard"),
        ("leaderboard --players 3", "/leaderboard?players=3"),
        ("leaderboard --site", "/leaderboard"),
        ("leaderboard --site --players 3", "/leaderboard?players=3"),
    ],
)
def test_a_command_prints_what_the_api_answers(ann: Author, command: str, path: str) -> None:
    """To the last digit: the same keys in the same order, numbers, and times in ISO 8601 with Z."""
    answer = api(ann, path)
    assert json.dumps(printed(ann, *command.split())) == json.dumps(answer)
    assert '"last_played": "20' in json.dumps(answer)
    assert "+00:00" not in json.dumps(answer)
