"""The site over PostgreSQL, which refuses NUL in text; SQLite accepts it."""

import re
from collections.abc import Iterator
from contextlib import closing
from typing import Final

import pytest
from fastapi.testclient import TestClient

from arena.db.store import open_store
from tests.accounts.world import World
from tests.web.app import site_of
from tests.web.people import logged_in
from tests.web.played import play
from tests.web.test_authorisation import MATRIX

NUL: Final = "\0"

QUERIES: Final = (
    "/compare?bots",
    "/leaderboard?search",
    "/games?bot",
    "/games?author",
    "/authors/user?after",
    "/bots/mine/picks?with",
    "/submit?bot",
    "/api/v1/bots?after",
    "/api/v1/submissions?bot",
)
FORMS: Final[dict[str, dict[str, str]]] = {
    "/login": {"name": NUL, "password": NUL, "next": NUL},
    "/register": {"name": NUL, "password": NUL, "invitation": NUL, "next": NUL},
    "/account/password": {"old": NUL, "new": NUL},
    "/account/delete": {"password": NUL},
    "/account/tokens": {"name": NUL, "scopes": "read", "password": NUL},
    "/account/notifications": {"kind": "webhook", "address": NUL, "topics": "benched"},
    "/bots/mine/challenges": {"opponent": NUL},
    "/play": {"opponent": NUL},
}


@pytest.fixture
def visitor(postgresql_url: str) -> Iterator[TestClient]:
    """Yield a browser in which a user has logged in whose bot has played every kind of game."""
    with closing(World(open_store(postgresql_url))) as world:
        world.site = site_of(world.store)
        play(world, world.add("user"))
        visitor = logged_in(world, "user")
        visitor._transport.raise_server_exceptions = False  # type: ignore[attr-defined]  # noqa: SLF001
        yield visitor


def test_a_nul_character_is_no_internal_error(visitor: TestClient) -> None:
    """Every parameter of a path, and all text in queries and forms, may contain NUL."""
    asked = [
        *((method, re.sub(r"\{[^}]+\}", "%00", path), None) for method, path in MATRIX if "{" in path),
        *(("GET", f"{query}=%00", None) for query in QUERIES),
        *(("POST", path, form) for path, form in FORMS.items()),
    ]
    got = {
        (method, path): visitor.request(method, path, data=form).status_code for method, path, form in asked
    }
    assert {each: status for each, status in got.items() if status >= 500} == {}
