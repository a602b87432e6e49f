"""What the whole API has in common: its description, ETags and pages."""

from collections.abc import Iterator
from dataclasses import asdict, fields
from datetime import datetime
from hashlib import sha256
from typing import Any

import pytest
from fastapi.testclient import TestClient

from arena.db.store import Store
from arena.protocol.games import GameLine
from arena.protocol.states import Scope
from tests.accounts.world import World
from tests.db.test_submissions import PLENTY, new
from tests.web.app import description
from tests.web.people import program, token


def described() -> Iterator[dict[str, Any]]:
    """Yield everything in the API that needs a description: routes, parameters, schemas and fields."""
    for path in description()["paths"].values():
        for operation in path.values():
            yield {"description": operation["summary"]}
            yield from operation.get("parameters", [])
    for schema in description()["components"]["schemas"].values():
        yield schema
        yield from schema.get("properties", {}).values()


def pages(client: TestClient, url: str | None, plural: str) -> Iterator[list[dict[str, Any]]]:
    """Follow ``next`` from an address to the last page, and yield each page. The Link header must agree."""
    while url is not None:
        answer = client.get(url)
        assert answer.status_code == 200, answer.text
        url = answer.json()["next"]
        assert answer.headers.get("Link") == (None if url is None else f'<{url}>; rel="next"')
        yield answer.json()[plural]


def when(moment: datetime) -> str:
    """Return a time in the API's format."""
    return moment.isoformat().replace("+00:00", "Z")


def test_the_description_covers_only_the_api(client: TestClient) -> None:
    """The document is OpenAPI 3.1, omits the site's pages, and describes every part of the API."""
    answer = client.get("/api/v1/openapi.json")
    assert answer.json() == description()
    assert description()["openapi"].startswith("3.1.")
    assert all(path.startswith("/api/v1/") for path in description()["paths"])
    assert [each for each in described() if not each.get("description")] == []


def test_errors_are_problems_in_the_description_too() -> None:
    """Errors share one schema and one media type. Routes that require an account can return 401."""
    for path in description()["paths"].values():
        for operation in path.values():
            said = operation["responses"]
            assert {"500", "503"} <= said.keys()
            assert ("security" in operation) == ("401" in said)
            for status in said.keys() - {"200", "201", "202", "204", "304"}:
                content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
                assert said[status]["content"] == content


@pytest.mark.parametrize("path", ["/api/v1/games?limit=3", "/games/three-0-0/replay.json"])
def test_an_unchanged_response_is_not_sent_again(client: TestClient, path: str) -> None:
    """Any matching ETag counts, weak or strong, alone or in a list, and so does ``*``."""
    answer = client.get(path)
    tag = answer.headers["ETag"]
    strong = f'"{sha256(answer.content).hexdigest()}"'
    assert tag == f"W/{strong}"  # weak: the same for all encodings
    assert client.head(path).headers["ETag"] == tag
    for known in (tag, strong, f'"other", {strong}', f'W/"a, b",{tag}', "*"):
        again = client.get(path, headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
        assert again.headers["Cache-Control"] == "no-cache"
    for known in ('"other"', strong.strip('"'), f'"{strong[1:9]}"', ""):
        assert client.get(path, headers={"If-None-Match": known}).content == answer.content


def test_only_successful_responses_have_etags(client: TestClient) -> None:
    """Errors never become 304."""
    for path in (
        "/games/nothing",
        "/healthz",
        "/api/v1/games/nothing",
        "/api/v1/account",
        "/api/v1/leaderboard?limit=0",
    ):
        assert "ETag" not in client.get(path, headers={"If-None-Match": "*"}).headers


def test_a_private_response_has_an_etag_and_is_not_cached(world: World) -> None:
    """The client can revalidate its copy, but caches must not store it."""
    asker = program(world, token(world, world.add("ann"), {Scope.READ}))
    answer = asker.get("/api/v1/account/tokens")
    again = asker.get("/api/v1/account/tokens", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.headers["Cache-Control"]) == (304, "no-store")


def test_games_come_in_pages(client: TestClient, store: Store) -> None:
    """Games have their seats, and nothing that only pages show. A full last page has no next page."""
    for limit in (5, 6, 100):
        found = list(pages(client, f"/api/v1/games?limit={limit}", "games"))
        assert [len(page) for page in found] == {5: [5, 5, 2], 6: [6, 6], 100: [12]}[limit]
        assert [game["number"] for page in found for game in page] == list(range(12, 0, -1))
    newest = store.games.newest(None, 1)[0]
    told = client.get("/api/v1/games?limit=1").json()["games"][0]
    assert told["seats"] == [asdict(seat) for seat in newest.seats]
    assert told.keys() == {field.name for field in fields(GameLine)}


def test_a_game_is_returned_without_its_moves(client: TestClient, store: Store) -> None:
    """The response has the address of the game's replay, which contains the moves."""
    told = client.get("/api/v1/games/faulty-0-0").json()
    found = store.games.find("faulty-0-0")
    assert found is not None
    assert (told["match"], told["rated"], told["variants"]) == ("faulty-0", True, ["pass_both_ways"])
    assert [seat["points"] for seat in told["seats"]] == [seat.points for seat in found.seats]
    assert client.get(told["replay"]).text == found.replay
    assert client.get("/api/v1/games/nothing").json()["status"] == 404


def test_submissions_come_in_pages(world: World) -> None:
    """Users get their own submissions and, on request, only those of one bot."""
    ann, ben = world.add("ann"), world.add("ben")
    for number in range(5):
        world.store.submissions.add(new(f"a{number}", f"bot-{number % 2}", ann.name, ann.id), PLENTY)
    world.store.submissions.add(new("b0", "other", ben.name, ben.id), PLENTY)
    asker = program(world, token(world, ann, {Scope.READ}))
    found = list(pages(asker, "/api/v1/submissions?limit=2", "submissions"))
    assert [[each["id"] for each in page] for page in found] == [["a4", "a3"], ["a2", "a1"], ["a0"]]
    found = list(pages(asker, "/api/v1/submissions?bot=bot-0&limit=2", "submissions"))
    assert [[each["id"] for each in page] for page in found] == [["a4", "a2"], ["a0"]]


def test_a_body_that_is_not_json_is_refused(world: World) -> None:
    """The response says where the error is, or that the body's type is wrong."""
    asker = program(world, token(world, world.add("ann"), {Scope.TOKENS}))
    for kind, error in (
        ("application/json", "invalid JSON at character 9: Expecting value"),
        ("application/x-www-form-urlencoded", "must be sent with the header Content-Type: application/json"),
    ):
        answer = asker.post(
            "/api/v1/account/tokens", content='{"name": tool}', headers={"Content-Type": kind}
        )
        assert answer.status_code == 422
        assert answer.json()["detail"] == f"Invalid request. body: {error}."


def test_an_address_lists_all_of_its_methods(client: TestClient) -> None:
    """The methods may belong to several routes. Event streams don't support HEAD."""
    site = {"Origin": "http://testserver"}
    for path, methods in (
        ("/", "GET, HEAD"),
        ("/api/v1/account/tokens", "GET, HEAD, POST"),
        ("/api/v1/games", "GET, HEAD"),
        ("/api/v1/submissions/1/events", "GET"),
        ("/static/site.css", "GET, HEAD"),
    ):
        answer = client.delete(path, headers=site)
        assert (answer.status_code, answer.headers["Allow"]) == (405, methods)
