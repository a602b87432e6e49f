"""Registration, login and logout: forms, cookies, requests from other sites, and limits on attempts."""

import re
from contextlib import closing
from pathlib import Path
from urllib.parse import quote, urljoin, urlsplit

import pytest
from fastapi.testclient import TestClient

from arena.platform.settings import RegistrationMode
from arena.protocol.states import Role, Scope
from tests.accounts.world import PASSWORD, World
from tests.db.builders import present
from tests.web.app import site_over
from tests.web.html import Page, check
from tests.web.people import HTTP, HTTPS, browser, logged_in, program, repeated, token
from web.http.authentication import PLAIN_NAME, SECURE_NAME

FORM = {"name": "ann", "password": PASSWORD}


def test_registration_logs_in(world: World) -> None:
    """The account page follows, and all pages show the name. Logging out also ends the stored session."""
    visitor = browser(world)
    assert "Log in" in visitor.get("/").text
    answer = visitor.post("/register", data=FORM)
    assert (answer.status_code, answer.headers["location"]) == (303, "/account")
    secret = visitor.cookies[SECURE_NAME]
    assert "<bdi>ann</bdi>" in visitor.get("/account").text
    assert "<bdi>ann</bdi>" in visitor.get("/games").text
    assert "<bdi>ann</bdi>" in visitor.get("/nothing-here").text
    answer = visitor.post("/logout")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert SECURE_NAME not in visitor.cookies
    assert world.accounts.sessions.find(secret) is None
    assert visitor.get("/account").headers["location"] == "/login?next=/account"


def hidden(text: str) -> str | None:
    """Return the path to which a page's form leads after login."""
    fields = [attributes for tag, attributes in Page(text).tags if tag == "input"]
    return next((field["value"] for field in fields if field["name"] == "next"), None)


@pytest.mark.parametrize("form", ["/login", "/register"])
def test_login_returns_to_the_requested_page(world: World, form: str) -> None:
    """The page follows even after a wrong password, or after a change to the other form."""
    if form == "/login":
        world.add("ann")
    visitor = browser(world)
    answer = visitor.get("/submissions?before=7")
    assert answer.headers["location"] == "/login?next=/submissions%3Fbefore%3D7"
    text = visitor.get(answer.headers["location"]).text
    if form == "/register":
        text = visitor.get(next(link for link in Page(text).links if link.startswith(form))).text
        assert "/login?next=/submissions%3Fbefore%3D7" in Page(text).links
    assert hidden(text) == "/submissions?before=7"
    wrong = visitor.post(form, data={"name": "ann", "password": "wrong", "next": hidden(text) or ""})
    assert hidden(wrong.text) == "/submissions?before=7"
    answer = visitor.post(form, data=FORM | {"next": hidden(wrong.text) or ""})
    assert (answer.status_code, answer.headers["location"]) == (303, "/submissions?before=7")


def test_the_login_link_returns_to_the_page_it_was_on(world: World) -> None:
    """The Referer header names the page. Pages of other sites, and the login page itself, are ignored."""
    visitor = browser(world)
    for referer, onward in (
        (f"{HTTPS}/games/g/2/3?step=reveal&view=seat:1", "/games/g/2/3?step=reveal&view=seat:1"),
        (f"{HTTPS}/login?next=/mine", None),
        (f"{HTTPS}//evil.example/", None),
        ("https://evil.example/games", None),
        ("https://arena.example.evil.example/games", None),
        ("https://arena.example@evil.example/games", None),
        ("http://[", None),
        ("", None),
    ):
        assert hidden(visitor.get("/login", headers={"Referer": referer}).text) == onward, referer


ELSEWHERE = (
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/%2F/../..//evil.example",
    "/.//evil.example",
    "/games/..//evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "/\r\nLocation: https://evil.example",
    " //evil.example",
    "https://evil.example",
    "https:evil.example",
    "javascript:alert(1)",
    "evil.example",
    "@evil.example",
    "/\u2044/evil.example",
    "%2F%2Fevil.example",
    "/login",
    "/logout",
    "/register?next=/mine",
    "/" + "x" * 3000,
)


def test_login_never_redirects_to_another_site(world: World) -> None:
    """Targets on other sites are ignored in links, encoded or not, and in the form."""
    world.add("ann")
    for wanted in ELSEWHERE:
        visitor = browser(world)
        for link in (quote(wanted, safe=""), quote(wanted, safe="/:%")):
            for form in ("/login", "/register"):
                assert hidden(visitor.get(f"{form}?next={link}").text) is None, wanted
        answer = visitor.post("/login", data=FORM | {"next": wanted})
        assert (answer.status_code, answer.headers["location"]) == (303, "/account"), wanted


def test_encoded_slashes_in_a_path_stay_encoded(world: World) -> None:
    """Browsers resolve such a path to an address on this site."""
    world.add("ann")
    for wanted in ("/%2F%2Fevil.example", "/%5Cevil.example", "/games?next=//evil.example"):
        location = browser(world).post("/login", data=FORM | {"next": wanted}).headers["location"]
        assert location == wanted
        assert urlsplit(urljoin(f"{HTTPS}/login", location)).netloc == "arena.example"


def test_a_form_that_is_refused_says_why(world: World, subtests: pytest.Subtests) -> None:
    """The reason is next to the fields. The password isn't repeated, and no account is created."""
    world.add("ben")
    refused: tuple[tuple[dict[str, str], str], ...] = (
        ({"name": "ann", "password": "short"}, "at least 8 characters"),
        ({"name": "<b>", "password": PASSWORD}, "is not a valid user name"),
        ({"name": "Ben", "password": PASSWORD}, "The name Ben is taken"),
        ({"name": "house", "password": PASSWORD}, "reserved for the arena"),
        ({}, "is not a valid"),
    )
    for fields, why in refused:
        with subtests.test(fields=fields):
            answer = browser(world).post("/register", data=fields)
            assert answer.status_code == 422
            assert why in answer.text
            assert PASSWORD not in answer.text
            assert "set-cookie" not in answer.headers
            assert len(world.store.accounts.all()) == 1


def test_a_wrong_password_and_an_unknown_name_look_alike(world: World) -> None:
    """Status and page are the same, except for the typed name."""
    world.add("ann")
    pages = []
    for name in ("ann", "nobody-here"):
        answer = browser(world).post("/login", data={"name": name, "password": "wrong"})
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers
        pages.append(answer.text.replace(name, "…"))
    assert pages[0] == pages[1]
    assert "The name or the password is wrong: check both, and try again." in pages[0]


@pytest.mark.parametrize("url", [HTTP, HTTPS])
def test_the_cookie_is_as_safe_as_the_connection(world: World, url: str) -> None:
    """Over HTTPS, the cookie is Secure and bound to the host. Over plain HTTP, it has another name."""
    answer = browser(world, url=url).post("/register", data=FORM)
    cookie, _ = answer.headers.get_list("set-cookie")
    name, *flags = [part.strip() for part in cookie.split(";")]
    assert name.startswith(f"{SECURE_NAME}=" if url == HTTPS else f"{PLAIN_NAME}=")
    assert {"HttpOnly", "Path=/", "SameSite=lax", "Max-Age=2592000"} <= set(flags)
    assert ("Secure" in flags) == (url == HTTPS)
    assert not any(flag.lower().startswith("domain") for flag in flags)
    for header in ("strict-transport-security", "cross-origin-opener-policy"):
        assert (header in answer.headers) == (url == HTTPS)


def test_a_cookie_of_plain_http_is_ignored_over_https(world: World) -> None:
    """An attacker on the network could have set the cookie."""
    world.add("ann")
    visitor = browser(world)
    visitor.cookies.set(PLAIN_NAME, logged_in(world, "ann", url=HTTP).cookies[PLAIN_NAME])
    assert visitor.get("/account").status_code == 303


def test_plain_http_has_a_warning(world: World) -> None:
    """The login, registration and account pages show the warning. Over HTTPS, there is none."""
    world.add("ann")
    for url, said in ((HTTP, True), (HTTPS, False)):
        visitor = logged_in(world, "ann", url=url)
        for path in ("/login", "/register", "/account"):
            assert ("This connection is not encrypted." in visitor.get(path).text) == said, path


def test_a_local_browser_gets_no_warning(world: World) -> None:
    """Requests from the arena's own host don't cross a network."""
    visitor = browser(world, url="http://127.0.0.1:8000", host="127.0.0.1")
    assert "not encrypted" not in visitor.get("/login").text


def test_a_login_replaces_a_planted_session(world: World) -> None:
    """The login creates a new secret, and ends the browser's previous session."""
    world.add("ann")
    world.add("eve")
    eves = logged_in(world, "eve").cookies[SECURE_NAME]
    for planted in (eves, "made-up"):
        visitor = browser(world)
        visitor.cookies.set(SECURE_NAME, planted, domain="arena.example")
        answer = visitor.post("/login", data=FORM)
        fresh = present(re.match(rf"{SECURE_NAME}=([^;]+)", answer.headers["set-cookie"]))
        assert fresh[1] not in {planted, eves}
        assert world.accounts.sessions.find(planted) is None
        found = present(world.accounts.sessions.find(fresh[1]))
        assert found.account.name == "ann"


def test_only_pages_of_this_site_can_change_anything(world: World, subtests: pytest.Subtests) -> None:
    """The browser's headers say where a request comes from. A request without them is refused.

    Only links in emails may be opened from elsewhere.
    """
    world.add("ann")
    visitor = logged_in(world, "ann")
    new = {"kind": "mail", "address": "eve@example.org", "topics": "benched"}
    answer = visitor.post("/account/notifications", data=new, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403
    sent: tuple[tuple[dict[str, str], bool], ...] = (
        ({"Sec-Fetch-Site": "same-origin"}, True),
        ({"Sec-Fetch-Site": "cross-site", "Origin": HTTPS}, False),
        ({"Sec-Fetch-Site": "same-site"}, False),
        ({"Sec-Fetch-Site": "none"}, False),
        ({"Origin": HTTPS}, True),
        ({"Origin": "https://evil.example"}, False),
        ({"Origin": "https://arena.example:8443"}, False),
        ({"Origin": "https://arena.example.evil.example"}, False),
        ({"Origin": "null"}, False),
        ({"Origin": "https://["}, False),
        ({"Origin": ""}, False),
        ({}, False),
    )
    for headers, allowed in sent:
        with subtests.test(headers=headers):
            visitor = logged_in(world, "ann")
            visitor.headers.pop("Origin")
            visitor.headers.pop("Sec-Fetch-Site")
            answer = visitor.post("/logout", headers=headers)
            assert answer.status_code == (303 if allowed else 403)
            assert visitor.get("/account").status_code == (303 if allowed else 200)
            assert allowed or "not sent from a page on this site" in answer.text


def test_attempts_per_name_and_address_are_limited(world: World) -> None:
    """After ten, even the right password is refused. Other names, and other addresses, aren't affected."""
    world.add("ann")
    world.add("ben")
    visitor = browser(world)
    for _ in range(10):
        assert visitor.post("/login", data={"name": "ann", "password": "wrong"}).status_code == 403
    answer = visitor.post("/login", data={"name": "ANN", "password": PASSWORD})
    assert answer.status_code == 429
    assert 0 < int(answer.headers["retry-after"]) <= 15 * 60
    assert "Too many attempts to log in" in answer.text
    assert "set-cookie" not in answer.headers
    assert visitor.post("/login", data={"name": "ben", "password": PASSWORD}).status_code == 303
    assert browser(world, host="192.0.2.7").post("/login", data=FORM).status_code == 303


def test_attempts_per_address_are_limited(world: World) -> None:
    """The limit covers all names. The 65,536 IPv6 networks of one customer count as one address."""

    def guess(number: int) -> int:
        visitor = browser(world, host=f"2001:db8:0:{number:x}::1")
        return visitor.post("/login", data={"name": f"name-{number}", "password": "wrong"}).status_code

    assert repeated(world.file, 99, lambda: guess(0)) == 403
    assert [guess(1), guess(2)] == [403, 429]


def test_attempts_per_name_are_limited(world: World) -> None:
    """The limit is ninety per hour across all addresses."""

    def guess(number: int) -> int:
        visitor = browser(world, host=f"192.0.2.{number}")
        return visitor.post("/login", data={"name": "ann", "password": "wrong"}).status_code

    assert repeated(world.file, 60, lambda: guess(0)) == 403  # 60 of the 90 are reserved for new addresses
    assert repeated(world.file, 29, lambda: guess(1)) == 403
    assert [guess(2), guess(3)] == [403, 429]
    world.later(hours=1)
    assert guess(4) == 403


def test_several_processes_of_a_site_count_together(world: World) -> None:
    """The counts are in the shared database, so they also survive a restart."""
    world.add("ann")
    processes = [site_over(world) for _ in range(3)]
    statuses = [
        TestClient(app, base_url=HTTPS, headers={"Origin": HTTPS})
        .post("/login", data={"name": "ann", "password": "wrong"})
        .status_code
        for app in 4 * processes
    ]
    assert statuses == [403] * 10 + [429] * 2
    lines = [entry.what for entry in world.store.accounts.audit(99)]
    assert (lines.count("log-in-failed"), lines.count("log-in-locked")) == (10, 1)


def test_registrations_per_address_are_limited(world: World) -> None:
    """Fifty per hour are enough for a classroom."""
    visitor = browser(world)

    def register() -> int:
        return visitor.post("/register", data={"name": "x"}).status_code

    assert repeated(world.file, 49, register) == 422
    assert [register(), register()] == [422, 429]


def test_a_large_form_is_refused(world: World) -> None:
    """Forms are small, so larger bodies are refused before they are read."""
    answer = browser(world).post("/login", data={"name": "ann", "password": "x" * 100_000})
    assert answer.status_code == 413
    assert answer.headers["content-type"].startswith("text/html")
    assert "too large" in answer.text


@pytest.mark.parametrize("chunked", [False, True])
def test_a_large_body_is_a_problem_like_all_others(world: World, *, chunked: bool) -> None:
    """The problem document has the site's headers, whether or not the request declared the size."""
    secret = token(world, world.add("ann"), {Scope.TOKENS})
    content = b" " * 100_000
    answer = program(world, secret).post(
        "/api/v1/account/tokens", content=iter([content]) if chunked else content
    )
    problem = answer.json()
    assert (answer.status_code, problem["status"], problem["hint"]) == (413, 413, "Send a smaller body.")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert answer.headers["cache-control"] in {"no-cache", "no-store"}


def test_a_trailing_slash_does_not_redirect_to_another_host(world: World) -> None:
    """The address is not found. The framework's redirect would use the request's Host header."""
    for path in ("/login/", "/api/v1/leaderboard/"):
        answer = browser(world).get(path, headers={"Host": "elsewhere.example"})
        assert (answer.status_code, "location" in answer.headers) == (404, False), path


def test_account_pages_are_well_formed(world: World, subtests: pytest.Subtests) -> None:
    """Every field has a label, there is no inline code, and caches don't store the page."""
    world.add("ann", Role.OPERATOR)
    visitor = logged_in(world, "ann")
    for path in ("/login", "/register", "/account"):
        with subtests.test(path):
            answer = visitor.get(path)
            page = Page(answer.text)
            labels = {attributes["for"] for tag, attributes in page.tags if tag == "label"}
            fields = [
                attributes
                for tag, attributes in page.tags
                if tag in {"input", "select"} and "hidden" not in attributes
            ]
            assert fields
            assert {field["id"] for field in fields} == labels
            check(page)
            assert {attributes["method"] for tag, attributes in page.tags if tag == "form"} == {"post"}
            assert answer.headers["cache-control"] == "no-store"


def test_pages_of_a_session_are_not_cached(world: World) -> None:
    """Pages without a session may be stored and revalidated."""
    world.add("ann")
    visitor = logged_in(world, "ann")
    for path in ("/", "/games", "/status", "/nothing-here", "/api/v1/account"):
        assert visitor.get(path).headers["cache-control"] == "no-store", path
        assert browser(world).get(path).headers["cache-control"] == "no-cache", path


def test_closed_and_invited_registration_say_so(tmp_path: Path) -> None:
    """The pages say who may register. A valid invitation allows registration."""
    with closing(World.at(tmp_path, RegistrationMode.INVITATION)) as world:
        code = world.accounts.operators.invite("terminal:root", 7)
        visitor = browser(world)
        assert "with an invitation" in visitor.get("/login").text
        assert f'value="{code}"' in visitor.get("/register", params={"invitation": code}).text
        assert visitor.post("/register", data=FORM).status_code == 403
        assert visitor.post("/register", data=FORM | {"invitation": "wrong"}).status_code == 422
        assert visitor.post("/register", data=FORM | {"invitation": f" {code}\n"}).status_code == 303
        world.accounts.own.mode = RegistrationMode.CLOSED
        visitor = browser(world)
        assert "/register" not in visitor.get("/login").text
        assert "Registration is closed" in visitor.get("/register").text
        answer = visitor.post("/register", data={"name": "ben", "password": PASSWORD})
        assert answer.status_code == 403
        assert "Registration is closed" in answer.text
