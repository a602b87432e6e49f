"""The account's page: password, sessions, tokens, deletion."""

import re

from arena.accounts.credentials import PREFIX
from arena.protocol.states import Role
from arena.protocol.states import Scope as May
from tests.accounts.world import NEW, PASSWORD, World
from tests.web.html import Page
from tests.web.people import HTTPS, browser, logged_in, program, token
from web.http.authentication import SECURE_NAME


def test_a_password_is_changed(world: World) -> None:
    """Other browsers are logged out. The old password must be right, and the new one acceptable."""
    world.add("ann")
    here, there = logged_in(world, "ann"), logged_in(world, "ann")
    for old, new, why in (("wrong", NEW, "is wrong"), (PASSWORD, "short", "at least 8")):
        answer = here.post("/account/password", data={"old": old, "new": new})
        assert answer.status_code == 422
        assert why in answer.text
    assert there.get("/account").status_code == 200
    answer = here.post("/account/password", data={"old": PASSWORD, "new": NEW})
    assert answer.headers["location"] == "/account#main"
    assert "has been changed" in here.get("/account").text
    assert "has been changed" not in here.get("/account").text
    assert there.get("/account").status_code == 303
    assert browser(world).post("/login", data={"name": "ann", "password": NEW}).status_code == 303


def test_guesses_on_the_account_page_are_limited(world: World) -> None:
    """A session allows ten wrong passwords in a quarter of an hour, counted across all forms."""
    world.add("ann")
    visitor = logged_in(world, "ann")
    statuses = [
        visitor.post(path, data={"old": "wrong", "password": "wrong", "new": NEW}).status_code
        for path in ("/account/password", "/account/delete", "/account/tokens", "/account/delete") * 3
    ]
    assert statuses == [422] * 10 + [429] * 2
    world.later(minutes=15)
    assert visitor.post("/account/password", data={"old": PASSWORD, "new": NEW}).status_code == 303


def test_a_new_session_inherits_no_guesses(world: World) -> None:
    """With SQLite, it may have the id of a session that has just ended."""
    world.add("ann")
    world.add("bob")
    visitor = logged_in(world, "ann")
    form = {"old": "wrong", "new": NEW}
    statuses = [visitor.post("/account/password", data=form).status_code for _ in range(11)]
    assert statuses == [422] * 10 + [429]
    visitor.post("/logout")
    world.later(seconds=1)
    other = logged_in(world, "bob")
    assert other.post("/account/password", data={"old": PASSWORD, "new": NEW}).status_code == 303


def test_guesses_at_the_login_do_not_lock_the_account_page(world: World) -> None:
    """After 49 wrong logins from 6 addresses, the owner's session can still use the account page."""
    world.add("ann")
    owner = logged_in(world, "ann")
    statuses = []
    for number in range(49):
        door = browser(world, host=f"192.0.2.{number % 6}")
        statuses.append(door.post("/login", data={"name": "ann", "password": "wrong"}).status_code)
    assert statuses == [403] * 48 + [429]
    assert owner.post("/account/password", data={"old": PASSWORD, "new": NEW}).status_code == 303
    assert owner.post("/account/delete", data={"password": NEW}).status_code == 200
    log = world.store.accounts.audit(99)
    assert [entry.what for entry in log].count("log-in-failed") == 48
    (locked,) = (entry for entry in log if entry.what == "log-in-locked")
    assert (locked.subject, log[-1].what, log[-1].address) == (
        "account:former-1",
        "delete-account",
        "testclient",
    )


def test_a_new_password_ends_tokens_that_are_not_ticked(world: World) -> None:
    """The form lists the account's valid tokens. Unknown IDs are ignored."""
    ann = world.add("ann")
    kept, ended = (token(world, ann, {May.READ}) for _ in range(2))
    visitor = logged_in(world, "ann")
    offered = re.findall(r'name="keep" value="(\d+)"', visitor.get("/account").text)
    ids = [program(world, secret).get("/api/v1/account").json()["token"]["id"] for secret in (kept, ended)]
    assert sorted(map(int, offered)) == ids
    form = {"old": PASSWORD, "new": NEW, "keep": [str(ids[0]), "999"]}
    assert visitor.post("/account/password", data=form).status_code == 303
    statuses = [program(world, secret).get("/api/v1/account").status_code for secret in (kept, ended)]
    assert statuses == [200, 401]
    assert [each.id for each in world.accounts.tokens.of(ann)] == [ids[0]]


def test_other_sessions_are_ended(world: World) -> None:
    """Sessions are listed by browser. The current one has no button to end it."""
    world.add("ann")
    here, there = logged_in(world, "ann"), logged_in(world, "ann")
    text = here.get("/account").text
    (table,) = Page(text).tables
    assert sorted(row[0] for row in table[1:]) == ["Firefox on Linux", "Firefox on Linux current"]
    (action,) = re.findall(r'action="(/account/sessions/\d+/end)"', text)
    assert here.post(action).headers["location"] == "/account#main"
    assert there.get("/account").status_code == 303
    assert here.get("/account").status_code == 200


def test_a_token_is_shown_once(world: World) -> None:
    """Only the response that creates a token contains it. Later pages show just its beginning."""
    world.add("ann")
    visitor = logged_in(world, "ann")
    answer = visitor.post(
        "/account/tokens",
        data={"name": "laptop", "scopes": ["read", "submit"], "days": "30", "password": PASSWORD},
    )
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    found = re.search(rf"{PREFIX}[\w-]+", answer.text)
    assert found is not None
    assert program(world, found[0]).get("/api/v1/account").json()["scopes"] == ["read", "submit"]
    text = visitor.get("/account").text
    assert found[0] not in text
    assert found[0][:11] in text
    (action,) = re.findall(r'action="(/account/tokens/\d+/revoke)"', text)
    assert visitor.post(action).headers["location"] == "/account#main"
    assert program(world, found[0]).get("/api/v1/account").status_code == 401
    assert found[0][:11] not in visitor.get("/account").text


def test_an_invalid_token_is_refused_with_the_reason(world: World) -> None:
    """The page reports a missing name or a wrong password. Users aren't offered the operators' scope."""
    world.add("ann")
    visitor = logged_in(world, "ann")
    for fields, why in (
        ({"name": "", "scopes": "read"}, "a name"),
        ({"name": "t", "scopes": "read", "password": "wrong"}, "is wrong"),
    ):
        answer = visitor.post("/account/tokens", data={"password": PASSWORD} | fields)
        assert answer.status_code == 422
        assert why in answer.text
    assert "operate" not in visitor.get("/account").text


def test_a_refused_form_keeps_what_was_typed(world: World) -> None:
    """The form keeps everything but the password. The error mentions only the password."""
    ann = world.add("ann")
    keep = [world.accounts.tokens.create(ann, name=name, scopes={May.READ}, days=7)[1].id for name in "ab"]
    visitor = logged_in(world, "ann")
    fields = {"name": "my laptop", "scopes": "tokens", "days": "7", "password": "wrong"}
    text = visitor.post("/account/tokens", data=fields).text
    assert "The password is wrong: check it, and try again." in text
    assert 'value="my laptop"' in text
    assert re.findall(r'name="scopes" value="(\w+)" checked', text) == ["tokens"]
    assert re.findall(r'<option value="(\d+)" selected', text) == ["7"]
    text = visitor.post("/account/password", data={"old": "wrong", "new": NEW, "keep": keep[1]}).text
    assert re.findall(r'name="keep" value="(\d+)" checked', text) == [str(keep[1])]
    assert re.findall(r'<option value="(\d+)" selected', text) == ["90"]


def test_an_account_is_deleted(world: World) -> None:
    """Deletion requires the password. The page shows the pseudonym, and the session's cookie is removed."""
    world.add("ann")
    visitor = logged_in(world, "ann")
    assert visitor.post("/account/delete", data={"password": "wrong"}).status_code == 422
    answer = visitor.post("/account/delete", data={"password": PASSWORD})
    assert answer.status_code == 200
    assert "former-1" in answer.text
    assert "Log in" in answer.text
    assert SECURE_NAME not in visitor.cookies
    assert browser(world).post("/login", data={"name": "ann", "password": PASSWORD}).status_code == 403


def test_the_last_operator_can_not_leave(world: World) -> None:
    """The page says why, and the account stays."""
    world.add("ann", Role.OPERATOR)
    visitor = logged_in(world, "ann")
    answer = visitor.post("/account/delete", data={"password": PASSWORD})
    assert answer.status_code == 422
    assert "the last operator" in answer.text
    assert visitor.get("/account").status_code == 200


def test_a_form_sent_without_a_session_says_that_nothing_changed(world: World) -> None:
    """After logging in, the browser returns to the page with the form."""
    world.add("ann")
    visitor = browser(world)
    answer = visitor.post("/account/delete", data={"password": PASSWORD})
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?unsent=true#main")
    text = visitor.get("/login?unsent=true", headers={"Referer": f"{HTTPS}/account"}).text
    assert "You are not logged in, so nothing was changed." in text
    assert '<input type="hidden" name="next" value="/account">' in text
    assert "nothing was changed" not in visitor.get("/login").text
