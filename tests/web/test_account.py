"""The account's page: password, sessions, tokens, deletion."""

import re

from arena.accounts.tokens import PREFIX
from tests.accounts.world import PASSWORD, World
from tests.web.html import Page
from tests.web.people import browser, logged_in, program
from web.cookies import SECURE_NAME

NEW = "an entirely different phrase"


def test_a_password_is_changed(world: World) -> None:
    """The other browsers are logged out; the old password must be right, the new one good."""
    world.add("ann")
    here, there = logged_in(world, "ann"), logged_in(world, "ann")
    for old, new, why in (("wrong", NEW, "is wrong"), (PASSWORD, "short", "at least 8")):
        answer = here.post("/account/password", data={"old": old, "new": new})
        assert answer.status_code == 422
        assert why in answer.text
    assert there.get("/account").status_code == 200
    answer = here.post("/account/password", data={"old": PASSWORD, "new": NEW})
    assert answer.headers["location"] == "/account?done=password#main"
    assert "has been changed" in here.get("/account?done=password").text
    assert there.get("/account").status_code == 303
    assert browser(world).post("/login", data={"name": "ann", "password": NEW}).status_code == 303


def test_guessing_at_the_account_page_comes_to_an_end(world: World) -> None:
    """Who has a session but not the password gets no more attempts than at the front door."""
    world.add("ann")
    visitor = logged_in(world, "ann")
    statuses = [
        visitor.post(path, data={"old": "wrong", "password": "wrong", "new": NEW}).status_code
        for path in ("/account/password", "/account/delete") * 5
    ]
    assert statuses == [422] * 9 + [429]


def test_other_sessions_are_ended(world: World) -> None:
    """They are listed by browser; this one has no button."""
    world.add("ann")
    here, there = logged_in(world, "ann"), logged_in(world, "ann")
    text = here.get("/account").text
    (table,) = Page(text).tables
    assert sorted(row[0] for row in table[1:]) == ["Firefox on Linux", "Firefox on Linux this one"]
    (action,) = re.findall(r'action="(/account/sessions/\d+/end)"', text)
    assert here.post(action).headers["location"] == "/account?done=session#main"
    assert there.get("/account").status_code == 303
    assert here.get("/account").status_code == 200


def test_a_token_is_shown_once(world: World) -> None:
    """In the answer that makes it; afterwards its beginning is all that there is."""
    world.add("ann")
    visitor = logged_in(world, "ann")
    answer = visitor.post(
        "/account/tokens", data={"name": "laptop", "scopes": ["read", "submit"], "days": "30"}
    )
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    found = re.search(rf"{PREFIX}[\w-]+", answer.text)
    assert found is not None
    assert program(world, found[0]).get("/api/v1/account").json()["scopes"] == ["read", "submit"]
    text = visitor.get("/account").text
    assert found[0] not in text
    assert found[0][:11] in text
    (action,) = re.findall(r'action="(/account/tokens/\d+/revoke)"', text)
    assert visitor.post(action).headers["location"] == "/account?done=token#main"
    assert program(world, found[0]).get("/api/v1/account").status_code == 401
    assert found[0][:11] not in visitor.get("/account").text


def test_a_token_that_can_not_be_made_says_why(world: World) -> None:
    """Without a name or for nothing; for operators alone; for too long."""
    world.add("ann")
    visitor = logged_in(world, "ann")
    for fields, why in (
        ({"name": "", "scopes": "read"}, "a name"),
        ({"name": "t"}, "at least one"),
        ({"name": "t", "scopes": "operate"}, "not give away operate"),
    ):
        answer = visitor.post("/account/tokens", data=fields)
        assert answer.status_code == 422
        assert why in answer.text
    assert (
        visitor.post("/account/tokens", data={"name": "t", "scopes": "read", "days": "999"}).status_code
        == 422
    )
    assert "operate" not in visitor.get("/account").text


def test_an_account_is_deleted(world: World) -> None:
    """With its password; the browser is told the pseudonym and forgets the session."""
    world.add("ann")
    visitor = logged_in(world, "ann")
    assert visitor.post("/account/delete", data={"password": "wrong"}).status_code == 422
    answer = visitor.post("/account/delete", data={"password": PASSWORD})
    assert answer.status_code == 200
    assert "former-1" in answer.text
    assert "Log in" in answer.text
    assert SECURE_NAME not in visitor.cookies
    assert browser(world).post("/login", data={"name": "ann", "password": PASSWORD}).status_code == 403
