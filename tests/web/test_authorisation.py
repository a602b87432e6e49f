"""Who gets what: every route of the site for everybody who might ask."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient

from arena.accounts import Scope
from arena.accounts.sessions import IDLE
from arena.store import KnownAccount, Quota, Role
from tests.accounts.world import PASSWORD, World
from tests.store.builders import add_bot, finished
from tests.store.test_submissions import CAUSE, claim, game, new, qualify
from tests.web.people import browser, logged_in, program, token

CALLERS: Final = ("anonymous", "user", "other", "operator", "token", "other token", "bad token", "expired")

EVERYBODY: Final = dict.fromkeys(CALLERS, 200)
LOGGED_IN: Final = dict.fromkeys(CALLERS, 303) | {"user": 200, "other": 200, "operator": 200}
"""Others are sent to log in."""
ITS_OWNER: Final = dict.fromkeys(CALLERS, 303) | {"other": 404, "operator": 404}
"""The owner is sent back to the account; to others who are logged in there is nothing."""
KNOWN: Final = dict.fromkeys(CALLERS, 401) | dict.fromkeys(
    ("user", "other", "operator", "token", "other token"), 200
)
SENT_BY_USER: Final = KNOWN | {"other": 404, "other token": 404}
"""A submission, its games and its stages are its owner's and the operators'."""
MATRIX: Final = {
    ("GET", "/"): EVERYBODY,
    ("GET", "/games"): EVERYBODY,
    ("GET", "/games/{game}"): dict.fromkeys(CALLERS, 404),
    ("GET", "/games/{game}/replay.json"): dict.fromkeys(CALLERS, 404),
    ("GET", "/status"): EVERYBODY,
    ("GET", "/healthz"): EVERYBODY,
    ("GET", "/api/v1/openapi.json"): EVERYBODY,
    ("GET", "/api/v1/leaderboard"): EVERYBODY,
    ("GET", "/api/v1/status"): EVERYBODY,
    ("GET", "/api/v1/games"): EVERYBODY,
    ("GET", "/api/v1/games/{game}"): dict.fromkeys(CALLERS, 404),
    ("GET", "/login"): EVERYBODY,
    ("POST", "/login"): dict.fromkeys(CALLERS, 403),
    ("GET", "/register"): EVERYBODY,
    ("POST", "/register"): dict.fromkeys(CALLERS, 422),
    ("POST", "/logout"): dict.fromkeys(CALLERS, 303),
    ("GET", "/account"): LOGGED_IN,
    ("POST", "/account/password"): dict.fromkeys(CALLERS, 303) | {"user": 422, "other": 422, "operator": 422},
    ("POST", "/account/delete"): dict.fromkeys(CALLERS, 303) | {"user": 422, "other": 422, "operator": 422},
    ("POST", "/account/tokens"): dict.fromkeys(CALLERS, 303) | {"user": 422, "other": 422, "operator": 422},
    ("POST", "/account/sessions/{number}/end"): ITS_OWNER,
    ("POST", "/account/tokens/{number}/revoke"): ITS_OWNER,
    ("GET", "/api/v1/account"): KNOWN,
    ("GET", "/api/v1/account/tokens"): KNOWN,
    ("POST", "/api/v1/account/tokens"): dict.fromkeys(CALLERS, 401)
    | dict.fromkeys(("user", "other", "operator", "token", "other token"), 422),
    ("PUT", "/api/v1/bots/{bot}/submissions"): dict.fromkeys(CALLERS, 401)
    | dict.fromkeys(("user", "other", "operator", "token", "other token"), 422),
    ("GET", "/api/v1/submissions"): KNOWN,
    ("GET", "/api/v1/submissions/{id}"): SENT_BY_USER,
    ("GET", "/api/v1/submissions/{id}/games/{game}/replay"): SENT_BY_USER,
    ("GET", "/api/v1/submissions/{id}/events"): SENT_BY_USER,
    ("DELETE", "/api/v1/account/tokens/{number}"): dict.fromkeys(CALLERS, 401)
    | {"user": 204, "token": 204, "other": 404, "operator": 404, "other token": 404},
}
"""The status of an empty request. A route that is not here fails the test below."""


SUBMISSION: Final = "5ca1ab1e"


def submitted(world: World, owner: KnownAccount) -> None:
    """Add a submission that has played a game and was rejected, so that nothing more will come of it."""
    quota = Quota(submissions_a_day=9, bots=9, on_their_way=9)
    sent = new(SUBMISSION, "mine", owner.name, owner.id)
    world.store.desk.add(sent, quota)
    qualify(world.store, SUBMISSION)
    opponent = add_bot(world.store, "opponent", author="house")
    world.store.desk.add_game(game("q", SUBMISSION, (None, opponent)), played=0)
    assert world.store.writes.record(finished(claim(world.store), [(1, 2)]))
    world.store.desk.reject(SUBMISSION, CAUSE, world.now)


@dataclass(frozen=True)
class Scene:
    """Somebody who asks, and what of the user's they ask for."""

    visitor: TestClient
    numbers: dict[str, int]


@pytest.fixture
def scene(world: World, request: pytest.FixtureRequest) -> Scene:
    """Give a caller; session and token that they name are the user's."""
    user, other, _ = world.add("user"), world.add("other"), world.add("oper", Role.OPERATOR)
    scopes = set(Scope) - {Scope.OPERATE}
    submitted(world, user)
    secret = token(world, user, scopes)
    _, spare = world.accounts.tokens.create(user, name="spare", scopes=scopes, days=30)
    visitors = {
        "anonymous": lambda: browser(world),
        "user": lambda: logged_in(world, "user"),
        "other": lambda: logged_in(world, "other"),
        "operator": lambda: logged_in(world, "oper"),
        "token": lambda: program(world, secret),
        "other token": lambda: program(world, token(world, other, scopes)),
        "bad token": lambda: program(world, "kaiten_made-up"),
        "expired": lambda: expired(world),
    }
    visitor = visitors[request.param]()
    logged_in(world, "user")
    numbers = {
        "/account/sessions": world.accounts.sessions.of(user)[0].id,
        "/account/tokens": spare.id,
        "/api/v1/account/tokens": world.accounts.tokens.of(user)[-1].id,
    }
    return Scene(visitor, numbers)


def expired(world: World) -> TestClient:
    """Return a browser whose session is too old."""
    visitor = logged_in(world, "user")
    world.now += IDLE
    return visitor


def address(path: str, numbers: dict[str, int]) -> str:
    """Put what a path needs into it."""
    part = path.partition("/{number}")[0]
    played = "q-0-0" if path.startswith("/api/") else "nothing"
    return path.format(game=played, number=numbers.get(part), bot="mine", id=SUBMISSION)


def routes(world: World) -> Iterator[tuple[str, str]]:
    """Return every method and path that the site has."""
    app = browser(world).app
    assert isinstance(app, FastAPI)
    for found in iter_route_contexts(app.routes):
        if found.methods and found.path:
            yield from ((method, found.path) for method in found.methods if method != "HEAD")


def test_the_matrix_is_complete(world: World) -> None:
    """Every route is in it, and nothing else."""
    assert set(routes(world)) == MATRIX.keys()


@pytest.mark.parametrize("scene", CALLERS, indirect=True)
def test_everybody_gets_what_is_theirs(scene: Scene, request: pytest.FixtureRequest) -> None:
    """Nobody gets more than the matrix says, and nobody less."""
    caller = request.node.callspec.params["scene"]
    # What ends the session or the token comes last.
    last = ("/logout", "/end", "/revoke", "{number}")
    got = {}
    order = sorted(MATRIX, key=lambda route: (route[1].endswith(last), route[1] == "/logout", route))
    for method, path in order:
        answer = scene.visitor.request(method, address(path, scene.numbers))
        got[method, path] = answer.status_code
        assert PASSWORD not in answer.text
    expected = {route: statuses[caller] for route, statuses in MATRIX.items()}
    assert got == expected
