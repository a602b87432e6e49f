"""Access control: every route of the site, requested by every kind of caller."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient

from arena.accounts.credentials import MAX_IDLE
from arena.db.audit import NewAuditEntry
from arena.db.credentials import KnownAccount
from arena.db.subscriptions import NewSubscription, SubscriptionKind
from arena.protocol.news import Topic
from arena.protocol.states import Role, Scope
from tests.accounts.world import PASSWORD, World
from tests.db.builders import START
from tests.soak import SOAK
from tests.web.exported import name_of, put_files
from tests.web.people import browser, logged_in, program, token
from tests.web.played import CHALLENGE, GAMES, PERSON_GAME, RUNNING, SUBMISSION, play

CALLERS: Final = (
    "anonymous",
    "user",
    "other",
    "operator",
    "token",
    "reader",
    "sender",
    "other token",
    "operator token",
    "bad token",
    "expired",
)
"""User, other and operator have sessions. Reader and sender are the user's tokens with only one scope."""

SESSIONS: Final = ("user", "other", "operator")

ALL_HANDS: Final = dict.fromkeys(CALLERS, 200)
PAGES_ARE_ALIKE: Final = ("other", "token", "reader", "sender", "other token", "operator token")
"""Callers for whom public pages are the same as for others. They request these only in `make soak`."""
EVERY_THIRD: Final = ("operator", "bad token", "expired")
"""Callers who request every third public page in `make test`."""
LOGGED_IN: Final = dict.fromkeys(CALLERS, 303) | dict.fromkeys(SESSIONS, 200)
"""Callers without a session are redirected to the login."""
INCOMPLETE: Final = dict.fromkeys(CALLERS, 303) | dict.fromkeys(SESSIONS, 422)
"""With a session, the form is refused because it is empty."""
ITS_OWNER: Final = dict.fromkeys(CALLERS, 303) | {"other": 404, "operator": 404}
"""The owner is redirected to the account page. Others with a session get a 404."""
NOBODY: Final = dict.fromkeys(("anonymous", "bad token", "expired"), 401)


PAGE_OF_OWNER: Final = LOGGED_IN | {"other": 404}
"""A page of something that belongs to the user. Pages ignore tokens."""
DATA_OF_OWNER: Final = dict.fromkeys(CALLERS, 404) | {"user": 200, "operator": 200}
"""Data for the script of a page that belongs to the user."""
THEIR_GAME: Final = dict.fromkeys(CALLERS, 404) | {"user": 200}
"""Games against people are visible only to the person who plays."""
OWNER_DOES: Final = dict.fromkeys(CALLERS, 303) | {"other": 403, "operator": 403}
"""The owner is redirected to the result. Bots are public, so others get a 403 instead of a 404."""


def known(status: int, **others: int) -> dict[str, int]:
    """Return a row: 401 without an account, ``others`` for these callers, and ``status`` for the rest.

    In the callers' names, ``_`` stands for a space.
    """
    told = {caller.replace("_", " "): other for caller, other in others.items()}
    return dict.fromkeys(CALLERS, status) | NOBODY | told


READ: Final = known(200, sender=403)
"""Data of the caller's own account."""
READ_BY_OWNER: Final = known(200, sender=403, other=404, other_token=404)
"""Submissions, challenges and logs are visible only to their owner and to operators."""
TOKENS: Final = {"reader": 403, "sender": 403}
OWNER_ALONE: Final = {"reader": 403, "other": 403, "other_token": 403, "operator": 403, "operator_token": 403}
"""Bots are public, so other accounts get a 403 instead of a 404."""
SENDS_ALONE: Final = {"reader": 403, "other": 404, "other_token": 404, "operator": 404, "operator_token": 404}
"""Only the owner may make the change, which requires the scope submit."""
MATRIX: Final = {
    ("GET", "/"): ALL_HANDS,
    ("GET", "/leaderboard"): ALL_HANDS,
    ("GET", "/leaderboard.csv"): ALL_HANDS,
    ("GET", "/leaderboard/versus"): ALL_HANDS,
    ("GET", "/leaderboard/calibration"): ALL_HANDS,
    ("GET", "/bots/{bot}/badge.svg"): ALL_HANDS,
    ("GET", "/compare"): ALL_HANDS,
    ("GET", "/play"): ALL_HANDS,
    ("POST", "/play"): dict.fromkeys(CALLERS, 422),
    ("GET", "/play/{id}"): THEIR_GAME,
    ("POST", "/play/{id}/move"): THEIR_GAME | {"user": 409},
    ("POST", "/play/{id}/leave"): THEIR_GAME | {"user": 303},
    ("GET", "/play/{id}/decisions"): THEIR_GAME,
    ("GET", "/play/{id}/replay.json"): THEIR_GAME,
    ("GET", "/play/{id}/games/{game}/{round}/{turn}"): THEIR_GAME,
    ("GET", "/play/{id}/games/{game}/frames.json"): THEIR_GAME,
    ("GET", "/games"): ALL_HANDS,
    ("GET", "/data"): ALL_HANDS,
    ("GET", "/data/manifest.json"): ALL_HANDS,
    ("GET", "/data/{name}"): ALL_HANDS,
    ("OPTIONS", "/data/{name}"): dict.fromkeys(CALLERS, 204),
    ("GET", "/games/{game}"): ALL_HANDS,
    ("GET", "/games/{game}/decisions/{seat}"): ALL_HANDS,
    ("GET", "/puzzle"): ALL_HANDS,
    ("GET", "/start"): ALL_HANDS,
    ("GET", "/puzzle/{day}"): ALL_HANDS,
    ("GET", "/games/{game}/replay.json"): ALL_HANDS,
    ("GET", "/games/{game}/frames.json"): ALL_HANDS,
    ("GET", "/games/{game}/og.png"): ALL_HANDS,
    ("GET", "/games/{game}/{round}/{turn}"): ALL_HANDS,
    ("GET", "/games/{game}/{round}/{turn}/og.png"): ALL_HANDS,
    ("GET", "/embed/{game}/{round}/{turn}"): ALL_HANDS,
    ("GET", "/live"): dict.fromkeys(CALLERS, 303),
    ("GET", "/live/{match}"): dict.fromkeys(CALLERS, 303),
    ("GET", "/live/{match}/{number}/{round}/{turn}"): ALL_HANDS,
    ("GET", "/live/{match}/{number}/frames.json"): ALL_HANDS,
    ("GET", "/tv"): dict.fromkeys(CALLERS, 303),
    ("GET", "/tv/games/{game}"): ALL_HANDS,
    ("GET", "/tv/live/{match}/{number}"): ALL_HANDS,
    ("GET", "/cards"): ALL_HANDS,
    ("GET", "/cards/definitions"): ALL_HANDS,
    ("GET", "/cards/{card}"): ALL_HANDS,
    ("GET", "/cards.csv"): ALL_HANDS,
    ("GET", "/status"): ALL_HANDS,
    ("GET", "/rules"): ALL_HANDS,
    ("GET", "/robots.txt"): ALL_HANDS,
    ("GET", "/sitemap.xml"): ALL_HANDS,
    ("GET", "/favicon.ico"): dict.fromkeys(CALLERS, 308),
    ("GET", "/docs"): ALL_HANDS,
    ("GET", "/docs/{page}"): ALL_HANDS,
    ("GET", "/healthz"): ALL_HANDS,
    ("GET", "/readyz"): ALL_HANDS,
    ("GET", "/api/v1/openapi.json"): ALL_HANDS,
    ("GET", "/api/v1/leaderboard"): ALL_HANDS,
    ("GET", "/api/v1/leaderboard/calibration"): ALL_HANDS,
    ("GET", "/api/v1/status"): ALL_HANDS,
    ("GET", "/api/v1/cards"): ALL_HANDS,
    ("GET", "/api/v1/games"): ALL_HANDS,
    ("GET", "/api/v1/games/{game}"): ALL_HANDS,
    ("GET", "/api/v1/games/{game}/analysis"): ALL_HANDS,
    ("GET", "/api/v1/games/{game}/logs"): READ_BY_OWNER,
    ("GET", "/api/v1/live/{match}"): ALL_HANDS,
    ("GET", "/api/v1/bots"): ALL_HANDS,
    ("GET", "/api/v1/bots/{bot}"): ALL_HANDS,
    ("GET", "/api/v1/bots/{bot}/versions"): ALL_HANDS,
    ("GET", "/api/v1/bots/{bot}/ratings"): ALL_HANDS,
    ("GET", "/api/v1/bots/{bot}/opponents"): ALL_HANDS,
    ("PATCH", "/api/v1/bots/{bot}"): known(200, **OWNER_ALONE),
    ("POST", "/api/v1/bots/{bot}/challenges"): known(201, **OWNER_ALONE),
    ("GET", "/login"): ALL_HANDS,
    ("POST", "/login"): dict.fromkeys(CALLERS, 403),
    ("GET", "/register"): ALL_HANDS,
    ("POST", "/register"): dict.fromkeys(CALLERS, 422),
    ("POST", "/logout"): dict.fromkeys(CALLERS, 303),
    ("GET", "/account"): LOGGED_IN,
    ("GET", "/bots"): dict.fromkeys(CALLERS, 303),
    ("GET", "/bots/{bot}"): ALL_HANDS,
    ("GET", "/bots/{bot}/picks"): ALL_HANDS,
    ("GET", "/authors/{author:path}"): ALL_HANDS,
    ("GET", "/feeds/games"): ALL_HANDS,
    ("GET", "/feeds/bots/{bot}"): ALL_HANDS,
    ("GET", "/feeds/authors/{author:path}"): ALL_HANDS,
    ("POST", "/bots/{bot}/version"): OWNER_DOES,
    ("POST", "/bots/{bot}/state"): OWNER_DOES,
    ("POST", "/bots/{bot}/people"): OWNER_DOES,
    ("POST", "/bots/{bot}/challenges"): OWNER_DOES,
    ("GET", "/challenges"): LOGGED_IN,
    ("GET", "/challenges/{id}"): PAGE_OF_OWNER,
    ("GET", "/challenges/{id}/games/{game}"): PAGE_OF_OWNER,
    ("GET", "/challenges/{id}/games/{game}/{round}/{turn}"): PAGE_OF_OWNER,
    ("GET", "/challenges/{id}/games/{game}/frames.json"): DATA_OF_OWNER,
    ("GET", "/mine"): LOGGED_IN,
    ("GET", "/submit"): LOGGED_IN,
    ("GET", "/submissions"): LOGGED_IN,
    ("GET", "/submissions/{id}"): PAGE_OF_OWNER,
    ("GET", "/submissions/{id}/games/{game}"): PAGE_OF_OWNER,
    ("GET", "/submissions/{id}/games/{game}/{round}/{turn}"): PAGE_OF_OWNER,
    ("GET", "/submissions/{id}/games/{game}/frames.json"): DATA_OF_OWNER,
    ("POST", "/account/password"): INCOMPLETE,
    ("POST", "/account/delete"): INCOMPLETE,
    ("POST", "/account/tokens"): INCOMPLETE,
    ("POST", "/account/sessions/{number}/end"): ITS_OWNER,
    ("POST", "/account/tokens/{number}/revoke"): ITS_OWNER,
    # A GET request to a form's path redirects to the page with the form.
    **{
        ("GET", path): dict.fromkeys(CALLERS, 303)
        for path in (
            "/play/{id}/move",
            "/play/{id}/leave",
            "/bots/{bot}/version",
            "/bots/{bot}/state",
            "/bots/{bot}/people",
            "/bots/{bot}/challenges",
            "/account/password",
            "/account/delete",
            "/account/tokens",
            "/account/sessions/{number}/end",
            "/account/tokens/{number}/revoke",
            "/account/notifications/{number}/topics",
            "/account/notifications/{number}/test",
            "/account/notifications/{number}/remove",
        )
    },
    ("GET", "/account/notifications"): LOGGED_IN,
    ("POST", "/account/notifications"): INCOMPLETE,
    ("POST", "/account/notifications/{number}/topics"): ITS_OWNER,
    ("POST", "/account/notifications/{number}/test"): ITS_OWNER,
    ("POST", "/account/notifications/{number}/remove"): ITS_OWNER,
    ("GET", "/mail/{secret}"): ALL_HANDS,
    ("POST", "/mail/{secret}"): ALL_HANDS,
    ("GET", "/api/v1/account"): known(200),
    ("GET", "/api/v1/account/subscriptions"): READ,
    ("POST", "/api/v1/account/subscriptions"): known(201, reader=403, sender=403),
    ("PATCH", "/api/v1/account/subscriptions/{number}"): known(200, **SENDS_ALONE, sender=403),
    ("POST", "/api/v1/account/subscriptions/{number}/test"): known(202, **SENDS_ALONE),
    ("DELETE", "/api/v1/account/subscriptions/{number}"): known(204, **SENDS_ALONE),
    ("GET", "/api/v1/account/bots"): READ,
    ("GET", "/api/v1/account/tokens"): READ,
    ("POST", "/api/v1/account/tokens"): known(422, **TOKENS),
    ("DELETE", "/api/v1/account/tokens/{number}"): known(404, **TOKENS, user=204, token=204),
    ("PUT", "/api/v1/bots/{bot}/submissions"): known(422, reader=403),
    ("GET", "/api/v1/submissions"): READ,
    ("GET", "/api/v1/submissions/{id}"): READ_BY_OWNER,
    ("DELETE", "/api/v1/submissions/{id}"): known(409, **SENDS_ALONE),
    ("GET", "/api/v1/submissions/{id}/games/{game}/replay"): READ_BY_OWNER,
    ("GET", "/api/v1/submissions/{id}/events"): READ_BY_OWNER,
    ("GET", "/api/v1/challenges"): READ,
    ("GET", "/api/v1/challenges/{id}"): READ_BY_OWNER,
    ("GET", "/api/v1/challenges/{id}/games/{game}/replay"): READ_BY_OWNER,
}
"""Status of a request with the body or form below. A test fails for any route that is missing here."""

BODIES: Final = {
    ("PATCH", "/api/v1/bots/{bot}"): {"state": "retired"},
    ("POST", "/api/v1/account/subscriptions"): {
        "kind": "webhook",
        "address": "https://there.example/",
        "topics": ["benched"],
    },
    ("PATCH", "/api/v1/account/subscriptions/{number}"): {"topics": ["benched"]},
    ("POST", "/api/v1/bots/{bot}/challenges"): {"opponents": ["opponent"]},
}
FORMS: Final = {
    ("POST", "/account/notifications/{number}/topics"): {"topics": "benched"},
    ("POST", "/mail/{secret}"): {"action": "confirm"},
    ("POST", "/bots/{bot}/version"): {"number": "1"},
    ("POST", "/bots/{bot}/state"): {"state": "active"},
    ("POST", "/bots/{bot}/people"): {"open": "true"},
    ("POST", "/bots/{bot}/challenges"): {"opponent": "opponent"},
    ("POST", "/play/{id}/move"): {"step": "1.1", "card": "tempura"},
}
"""Bodies and forms that are sent. Other routes get neither."""


@dataclass(frozen=True)
class Scene:
    """A caller, and the IDs of the user's resources that the caller requests."""

    visitor: TestClient
    numbers: dict[str, int]


def people(world: World) -> tuple[KnownAccount, KnownAccount, KnownAccount]:
    """Add the user (whose bot has played), another user and an operator."""
    user, other, oper = world.add("user"), world.add("other"), world.add("oper", Role.OPERATOR)
    play(world, user)
    return user, other, oper


@pytest.fixture
def scene(world: World, request: pytest.FixtureRequest) -> Iterator[Scene]:
    """Yield a caller. The session and token to delete belong to the user."""
    user, other, oper = world.filled(people)
    put_files(world.exports, 1)
    scopes = set(Scope) - {Scope.OPERATE}
    secret = token(world, user, scopes)
    _, spare = world.accounts.tokens.create(user, name="spare", scopes=scopes, days=30)
    visitors = {
        "anonymous": lambda: browser(world),
        "user": lambda: logged_in(world, "user"),
        "other": lambda: logged_in(world, "other"),
        "operator": lambda: logged_in(world, "oper"),
        "token": lambda: program(world, secret),
        "reader": lambda: program(world, token(world, user, {Scope.READ})),
        "sender": lambda: program(world, token(world, user, {Scope.SUBMIT})),
        "other token": lambda: program(world, token(world, other, scopes)),
        "operator token": lambda: program(world, token(world, oper, set(Scope))),
        "bad token": lambda: program(world, "kaiten_made-up"),
        "expired": lambda: expired(world),
    }
    made = visitors[request.param]()
    logged_in(world, "user")
    ids = [subscribed(world, user, kind) for kind in ("webhook", "webhook", "mail")]
    numbers = {
        "/account/notifications": ids[0],
        "/api/v1/account/subscriptions": ids[1],
        "/account/sessions": world.accounts.sessions.of(user)[0].id,
        "/account/tokens": spare.id,
        "/live/{match}": 1,
        "/tv/live/{match}": 1,
        "/api/v1/account/tokens": world.accounts.tokens.of(user)[-1].id,
    }
    with made as visitor:
        yield Scene(visitor, numbers)


def subscribed(world: World, account: KnownAccount, kind: str) -> int:
    """Add a subscription and return its ID. The secret of an email subscription is ``mail``."""
    new = NewSubscription(
        account=account.id,
        kind=SubscriptionKind(kind),
        address="https://there.example/",
        topics=(Topic.BENCHED,),
        secret=kind if kind == "mail" else world.new_secret(),
        created=world.now,
    )
    entry = NewAuditEntry(at=world.now, who=account.name, what="subscribe", address="")
    return world.store.subscriptions.add(new, None, max_subscriptions=9, entry=entry).id


def expired(world: World) -> TestClient:
    """Return a browser whose session has expired."""
    visitor = logged_in(world, "user")
    world.now += MAX_IDLE
    return visitor


def address(path: str, numbers: dict[str, int]) -> str:
    """Fill in the parameters of a path."""
    part = path.partition("/{number}")[0]
    of = path.removeprefix("/api/v1")
    played = next(game for beginning, game in GAMES.items() if of.startswith(beginning))
    ids = {"/challenges": CHALLENGE, "/play": PERSON_GAME}
    id_ = next((id_ for beginning, id_ in ids.items() if of.startswith(beginning)), SUBMISSION)
    return path.replace(":path", "").format(
        game=played,
        card="wasabi",
        match=RUNNING,
        author="house",
        seat=1,
        day=START.date(),
        secret="mail",  # noqa: S106 - the one of subscribed()
        number=numbers.get(part),
        bot="mine",
        id=id_,
        round=1,
        turn=1,
        page="protocol",
        name=name_of(START.date()),
    )


def routes(world: World) -> Iterator[tuple[str, str]]:
    """Yield every method and path of the site."""
    app = browser(world).app
    assert isinstance(app, FastAPI)
    for found in iter_route_contexts(app.routes):
        if found.methods and found.path:
            yield from ((method, found.path) for method in found.methods if method != "HEAD")


def test_the_matrix_is_complete(world: World) -> None:
    """The matrix contains every route, and nothing else."""
    assert set(routes(world)) == MATRIX.keys()


@pytest.mark.parametrize("scene", CALLERS, indirect=True)
def test_every_caller_gets_the_expected_status(scene: Scene, request: pytest.FixtureRequest) -> None:
    """No caller gets more or less than the matrix says."""
    caller = request.node.callspec.params["scene"]
    # Requests that end the session or the token come last.
    last = ("/logout", "/end", "/revoke", "/remove", "{number}")
    got = {}
    asked = {
        route: statuses[caller]
        for number, (route, statuses) in enumerate(MATRIX.items())
        if route[0] != "GET" or statuses is not ALL_HANDS or looks_at(caller, number)
    }
    check_logs(scene, caller)
    order = sorted(
        asked,
        key=lambda route: (route[0] != "PATCH" and route[1].endswith(last), route[1] == "/logout", route),
    )
    for method, path in order:
        route = (method, path)
        answer = scene.visitor.request(
            method, address(path, scene.numbers), json=BODIES.get(route), data=FORMS.get(route)
        )
        got[route] = answer.status_code
        assert PASSWORD not in answer.text
    assert got == asked


def looks_at(caller: str, number: int) -> bool:
    """Return whether the caller requests the public route with this number in this run."""
    if SOAK:
        return True
    if caller == "anonymous":  # test_public_responses_are_revalidated requests all of them
        return False
    return caller not in PAGES_ARE_ALIKE and (caller not in EVERY_THIRD or number % 3 == 0)


def check_logs(scene: Scene, caller: str) -> None:
    """Request the logs of a rated game, a submission's game and a challenge's game."""
    for played in (game for kind, game in GAMES.items() if kind != "/play"):
        answer = scene.visitor.get(f"/api/v1/games/{played}/logs")
        assert answer.status_code == READ_BY_OWNER[caller]
        if answer.is_success:
            bots = ["mine", "opponent"] if caller.startswith("operator") else ["mine"]
            assert [seat["bot"] for seat in answer.json()["seats"]] == bots
        else:
            assert "mine" not in answer.text


@pytest.mark.parametrize("scene", ["anonymous"], indirect=True)
def test_public_responses_are_revalidated(scene: Scene) -> None:
    """All are sent without a session. Those that may be stored have an ETag; a request with it gets a 304."""
    whole = set()
    for route, statuses in MATRIX.items():
        if route[0] == "GET" and statuses["anonymous"] == 200:
            place = address(route[1], scene.numbers)
            first = scene.visitor.get(place)
            assert first.status_code == 200, place
            assert PASSWORD not in first.text
            if first.headers["Cache-Control"] != "no-store" and "etag" not in first.headers:
                whole.add(route[1])
            elif "etag" in first.headers:
                again = scene.visitor.get(place, headers={"If-None-Match": first.headers["etag"]})
                assert (again.status_code, again.content) == (304, b""), place
    assert whole == set()
