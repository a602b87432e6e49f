"""The page cache: cached pages are current, and are sent only to callers without a session or token."""

import asyncio
import itertools
import tracemalloc
from datetime import timedelta

import pytest
from fastapi import Request, Response
from fastapi.responses import PlainTextResponse
from fastapi.testclient import TestClient
from starlette import types

from arena.protocol.states import Scope
from arena.rules import Rules
from tests.accounts.world import World
from tests.builders import START, add_bots, play_matches
from tests.db.test_cost import statements
from tests.web.app import site_over
from tests.web.people import HTTPS, browser, logged_in, program, token
from web.http.caching import PageCache, conditional_response

PAGES = ("/leaderboard", "/leaderboard?players=2", "/leaderboard.csv")
OTHERS = ("/api/v1/leaderboard", "/bots/ann-s/badge.svg")
"""Responses that aren't cached, but are made from the same lists."""


def counting(*, cacheable: bool, change_counter: int | None, status: int = 200) -> TestClient:
    """Return a client of a site whose only page shows how often it has been rendered."""
    made = itertools.count(1)

    async def app(scope: types.Scope, receive: types.Receive, send: types.Send) -> None:
        scope.setdefault("state", {})["cacheable"] = cacheable
        answer = PlainTextResponse(str(next(made)), status, headers={"ETag": '"x"'})
        await answer(scope, receive, send)

    return TestClient(PageCache(app, change_counter=lambda: change_counter, now=lambda: START))


def test_an_uncached_response_uses_little_memory() -> None:
    """A large file is passed on in pieces."""
    piece, pieces = 1024 * 1024, 64

    async def app(scope: types.Scope, receive: types.Receive, send: types.Send) -> None:
        del scope, receive
        await send({"type": "http.response.start", "status": 200, "headers": [(b"etag", b'"x"')]})
        for left in reversed(range(pieces)):
            await send({"type": "http.response.body", "body": bytes(piece), "more_body": left > 0})

    sent = 0

    async def send(message: types.Message) -> None:
        nonlocal sent
        sent += len(message.get("body", b""))

    async def receive() -> types.Message:
        raise NotImplementedError

    scope = {
        "type": "http",
        "method": "GET",
        "scheme": "http",
        "path": "/",
        "query_string": b"",
        "headers": [],
    }
    tracemalloc.start()
    try:
        asyncio.run(PageCache(app, change_counter=lambda: 1, now=lambda: START)(scope, receive, send))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sent == pieces * piece
    assert peak < 8 * piece


@pytest.fixture
def versions(world: World) -> list[int]:
    """Add two bots, and return the IDs of their versions."""
    return add_bots(world.store, [("ann-s", "ann"), ("house-s", "house")])


@pytest.mark.usefixtures("versions")
def test_a_page_is_rendered_once(world: World, subtests: pytest.Subtests) -> None:
    """The cached page has the same content and headers, and needs no database query."""
    visitor = browser(world)
    for path in PAGES:
        with subtests.test(path):
            first = visitor.get(path)
            known = {"If-None-Match": first.headers["etag"]}
            with statements() as asked:
                second, again = visitor.get(path), visitor.get(path, headers=known)
            assert asked == []
            assert first.status_code == second.status_code == 200
            assert first.content == second.content
            assert list(first.headers.multi_items()) == list(second.headers.multi_items())
            assert (again.status_code, again.content) == (304, b"")
            assert again.headers["etag"] == first.headers["etag"]
            assert again.headers["vary"] == first.headers["vary"]
            assert "content-type" not in again.headers
            assert visitor.head(path).content == b""


@pytest.mark.parametrize(
    "write",
    [
        lambda store, versions: play_matches(store, [versions], Rules(players=2), name="two"),
        lambda store, _: store.bot_states.retire("ann-s", START),
        lambda store, _: add_bots(store, [("new-s", "ben")]),
    ],
)
def test_a_write_is_visible_at_once(world: World, versions: list[int], write: object) -> None:
    """Each page, the API and a badge are the same as those of a new site without cached pages."""
    visitor = browser(world)
    first = {path: visitor.get(path) for path in PAGES + OTHERS}
    assert callable(write)
    write(world.store, versions)
    after = {path: visitor.get(path).text for path in PAGES + OTHERS}
    fresh = TestClient(site_over(world), base_url=HTTPS)
    assert after == {path: fresh.get(path).text for path in PAGES + OTHERS}
    for path in PAGES:
        old = {"If-None-Match": first[path].headers["etag"]}
        assert visitor.get(path, headers=old).text == after[path] != first[path].text


def test_the_end_of_a_day_is_visible(world: World, versions: list[int]) -> None:
    """Nothing is written at midnight, but the changes over seven days differ from then on."""
    play_matches(world.store, [versions], Rules(players=2), name="two")
    visitor = browser(world)
    assert ">new<" in visitor.get("/leaderboard").text
    etags = {path: visitor.get(path).headers["etag"] for path in ("/", *PAGES)}
    world.now += timedelta(days=1)
    for path, etag in etags.items():
        assert visitor.get(path, headers={"If-None-Match": etag}).status_code == 200, path
    world.now += timedelta(days=6)
    assert ">new<" not in visitor.get("/leaderboard").text


@pytest.mark.usefixtures("versions")
def test_pages_of_accounts_are_not_shared(world: World) -> None:
    """Callers with a session or token get their own page, whatever was cached before."""
    account = world.add("eve")
    nobody, eve = browser(world), logged_in(world, "eve")
    robot = program(world, token(world, account, {Scope.READ}))
    for _ in range(2):
        assert "Log in" in nobody.get("/leaderboard").text
        for visitor in (eve, robot):
            answer = visitor.get("/leaderboard")
            assert "Your account" in answer.text
            assert answer.headers["cache-control"] == "no-store"


@pytest.mark.usefixtures("versions")
def test_a_cached_page_still_limits_the_request_body(world: World) -> None:
    """A body that is too large is refused before and after the page was cached."""
    visitor = browser(world)
    for _ in range(2):
        assert visitor.request("GET", "/leaderboard", content=bytes(70_000)).status_code == 413
        assert visitor.get("/leaderboard").status_code == 200


def test_the_number_of_cached_pages_is_limited() -> None:
    """Only the latest pages are cached. Others are rendered again."""
    visitor = counting(cacheable=True, change_counter=1)
    assert [visitor.get(f"/{number}").text for number in range(70)] == [str(n) for n in range(1, 71)]
    assert visitor.get("/69").text == "70"
    assert visitor.get("/0").text == "71"
    assert visitor.get("/0?query").text == "72"


@pytest.mark.parametrize(
    ("cacheable", "change_counter", "status"), [(False, 1, 200), (True, None, 200), (True, 1, 422)]
)
def test_other_pages_are_rendered_each_time(
    *, cacheable: bool, change_counter: int | None, status: int
) -> None:
    """These change without a write, or are errors. If the database can't report writes, none is cached."""
    visitor = counting(cacheable=cacheable, change_counter=change_counter, status=status)
    assert [visitor.get("/").text for _ in range(3)] == ["1", "2", "3"]


def test_a_page_that_did_not_change_is_not_rendered_again() -> None:
    """After a write that doesn't affect the page, its route confirms it, whatever the client's ETag."""
    change_counter, version, made = itertools.count(1), ["one"], list[str]()

    async def app(scope: types.Scope, receive: types.Receive, send: types.Send) -> None:
        def page() -> Response:
            made.append(version[0])
            return PlainTextResponse(version[0])

        scope.setdefault("state", {})["cacheable"] = True
        answer = conditional_response(Request(scope), version[0], page)
        await answer(scope, receive, send)

    visitor = TestClient(PageCache(app, change_counter=lambda: next(change_counter), now=lambda: START))
    first = visitor.get("/")
    old = {"If-None-Match": first.headers["etag"]}
    again = [visitor.get("/"), visitor.get("/", headers={"If-None-Match": '"other"'})]
    assert [(answer.status_code, answer.text) for answer in again] == [(200, "one")] * 2
    assert (visitor.get("/", headers=old).status_code, made) == (304, ["one"])
    assert visitor.get("/", headers={"If-None-Match": "*"}).status_code == 304
    version[0] = "two"
    assert visitor.get("/", headers={"If-None-Match": "*"}).status_code == 304
    changed = visitor.get("/", headers=old)
    assert (changed.status_code, changed.text, made) == (200, "two", ["one", "two"])
    new = {"If-None-Match": changed.headers["etag"]}
    assert [visitor.get("/", headers=known).status_code for known in (new, old, {})] == [304, 200, 200]
    assert made == ["one", "two"]
