"""The account API: the current account, tokens, and errors as problem documents."""

from dataclasses import fields
from datetime import timedelta

import pytest

from arena.protocol.accounts import Token
from arena.protocol.states import Scope
from tests.accounts.world import PASSWORD, World
from tests.web.people import logged_in, program, repeated, token

WANTED = {"name": "ci", "scopes": ["read"], "days": 7}


def test_the_account_of_a_token_is_returned(world: World) -> None:
    """The response has the name, the role, the scopes and the token's own data."""
    ann = world.add("ann")
    said = program(world, token(world, ann, {Scope.READ})).get("/api/v1/account").json()
    assert (said["name"], said["role"], said["scopes"]) == ("ann", "user", ["read"])
    assert said["token"]["scopes"] == ["read"]
    assert said["token"]["expires"] == "2026-12-03T12:00:00Z"
    browsing = logged_in(world, "ann").get("/api/v1/account").json()
    assert (browsing["token"], browsing["scopes"]) == (None, ["read", "submit", "tokens"])


def test_tokens_are_created_listed_and_revoked(world: World) -> None:
    """Only the response that creates a token contains its secret. All others have only a token's own data."""
    ann = world.add("ann")
    maker = program(world, token(world, ann, {Scope.READ, Scope.TOKENS}, days=9))
    made = maker.post("/api/v1/account/tokens", json=WANTED)
    assert made.status_code == 201
    secret = made.json()["secret"]
    listed = maker.get("/api/v1/account/tokens").json()["tokens"]
    assert [one["name"] for one in listed] == ["ci", "t"]
    assert secret not in str(listed)
    known = {field.name for field in fields(Token)}
    own = maker.get("/api/v1/account").json()["token"]
    assert [one.keys() for one in (*listed, own, made.json())] == [known, known, known, known | {"secret"}]
    assert program(world, secret).get("/api/v1/account").status_code == 200
    assert maker.delete(f"/api/v1/account/tokens/{made.json()['id']}").status_code == 204
    assert program(world, secret).get("/api/v1/account").status_code == 401


def test_a_session_needs_the_password_to_create_a_token(world: World) -> None:
    """The password protects unattended browsers. Wrong passwords are limited here too."""
    world.add("ann")
    visitor = logged_in(world, "ann")
    right = WANTED | {"password": PASSWORD}
    assert visitor.post("/api/v1/account/tokens", json=right).status_code == 201
    statuses = [visitor.post("/api/v1/account/tokens", json=WANTED).status_code for _ in range(10)]
    assert statuses == [422] * 9 + [429]
    assert visitor.post("/api/v1/account/tokens", json=right).status_code == 429


def test_a_program_can_make_few_changes_per_hour(world: World) -> None:
    """Changes with any of an account's tokens count together. Reading isn't limited.

    Each session has its own limit, so the owner can still revoke a stolen token.
    """
    ann = world.add("ann")
    one, other = (program(world, token(world, ann, {Scope.READ, Scope.TOKENS})) for _ in range(2))
    browser = logged_in(world, "ann")
    missing = "/api/v1/account/tokens/999"
    assert repeated(world.file, 299, lambda: one.delete(missing).status_code) == 404
    assert other.delete(missing).status_code == 404
    refused = other.post("/api/v1/account/tokens", json=WANTED)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "3600")
    assert refused.json()["detail"] == "Too many attempts to change data. Try again in 60 minutes."
    assert one.get("/api/v1/account").status_code == 200
    ids = [each["id"] for each in one.get("/api/v1/account/tokens").json()["tokens"]]
    assert browser.post(f"/account/tokens/{ids[0]}/revoke").status_code == 303
    assert other.get("/api/v1/account").status_code == 401
    assert repeated(world.file, 299, lambda: browser.delete(missing).status_code) == 404
    assert browser.post("/account/tokens/999/revoke").status_code == 429
    assert logged_in(world, "ann").delete(missing).status_code == 404
    world.later(hours=1)
    assert one.delete(missing).status_code == 404


def test_a_token_can_revoke_only_itself(world: World) -> None:
    """Programs revoke their own tokens to log out."""
    ann = world.add("ann")
    secrets = [token(world, ann, {Scope.READ}) for _ in range(2)]
    ids = [program(world, secret).get("/api/v1/account").json()["token"]["id"] for secret in secrets]
    assert program(world, secrets[0]).delete(f"/api/v1/account/tokens/{ids[1]}").status_code == 403
    assert program(world, secrets[0]).delete(f"/api/v1/account/tokens/{ids[0]}").status_code == 204
    assert program(world, secrets[0]).get("/api/v1/account").status_code == 401
    assert program(world, secrets[1]).get("/api/v1/account").status_code == 200


def test_an_invalid_token_is_a_problem(world: World, subtests: pytest.Subtests) -> None:
    """The response is 422, and says what is wrong and what to do."""
    maker = program(world, token(world, world.add("ann"), {Scope.TOKENS}))
    invalid: tuple[object, ...] = (
        {},
        [],
        WANTED | {"scopes": []},
        WANTED | {"scopes": ["everything"]},
        WANTED | {"scopes": ["operate"]},
        WANTED | {"days": 0},
        WANTED | {"days": 400},
        WANTED | {"name": "\N{RIGHT-TO-LEFT OVERRIDE}"},
        WANTED | {"name": "x" * 61},
        WANTED | {"more": 1},
    )
    for wanted in invalid:
        with subtests.test(wanted=wanted):
            answer = maker.post("/api/v1/account/tokens", json=wanted)
            assert answer.status_code == 422
            assert answer.headers["content-type"] == "application/problem+json"
            problem = answer.json()
            assert (problem["type"], problem["status"]) == ("about:blank", 422)
            assert problem["title"]
            assert problem["detail"]
            assert problem["hint"]


def test_a_bad_token_lets_nobody_in_whatever_the_cookie(world: World, subtests: pytest.Subtests) -> None:
    """Only the token counts: the session's cookie is ignored, so the request may come from another site."""
    world.add("ann")
    visitor = logged_in(world, "ann")
    for header in ("Bearer kaiten_made-up", "Bearer", "Basic YTpi", "", "Bearer " + "x" * 9000):
        with subtests.test(header[:30]):
            answer = visitor.get("/api/v1/account", headers={"Authorization": header})
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"].startswith("Bearer")
            assert "token" in answer.json()["hint"]
            cross = {"Authorization": header, "Sec-Fetch-Site": "cross-site"}
            answer = visitor.post("/account/delete", data={"password": PASSWORD}, headers=cross)
            assert answer.headers["location"] == "/login?unsent=true#main"
            assert visitor.get("/account").status_code == 200


def test_a_missing_scope_and_an_expired_token_differ(world: World) -> None:
    """A missing scope gets a 403, and an expired token a 401."""
    ann = world.add("ann")
    visitor = program(world, token(world, ann, {Scope.SUBMIT}))
    answer = visitor.get("/api/v1/account/tokens")
    assert answer.status_code == 403
    assert "read scope" in answer.json()["detail"]
    world.now += timedelta(days=30)
    assert visitor.get("/api/v1/account").status_code == 401
