"""Guessing a password from many addresses neither succeeds nor locks out the account's owner."""

import itertools
import re
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from urllib.parse import urlencode

import pytest
from fastapi import Request
from fastapi.testclient import TestClient

from arena.accounts.errors import WrongCredentials
from tests.accounts.world import NEW, PASSWORD, World
from tests.patience import WAIT_SECONDS
from tests.web.app import site_over
from tests.web.people import HTTP, HTTPS, browser, logged_in
from tests.web.server import serving
from web.http import rate_limits
from web.http.errors import Problem


@dataclass
class Visitor:
    """A browser at an address of this host, over a real connection."""

    site: tuple[str, int]
    address: str
    cookies: dict[str, str] = field(default_factory=dict)

    def log_in(self, password: str, name: str = "ann") -> int:
        """Send the login form, store the cookies, and return the status."""
        connection = HTTPConnection(*self.site, source_address=(self.address, 0), timeout=WAIT_SECONDS)
        origin = f"http://{self.site[0]}:{self.site[1]}"
        headers = {"Origin": origin, "Content-Type": "application/x-www-form-urlencoded"}
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        connection.request("POST", "/login", urlencode({"name": name, "password": password}), headers)
        answer = connection.getresponse()
        for line in answer.headers.get_all("Set-Cookie", []):
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies[name] = value
        answer.read()
        connection.close()
        return answer.status


def guess_until_refused(site: tuple[str, int], name: str = "ann") -> list[int]:
    """Guess from six addresses in turn, and return the statuses."""
    guessers = [Visitor(site, f"127.0.0.{number}") for number in range(2, 8)]
    return [guesser.log_in("wrong", name) for _ in range(9) for guesser in guessers]


def test_the_owner_can_log_in_while_others_guess(world: World) -> None:
    """The owner needs a browser in which they have logged in before.

    New browsers are refused, even with the right password, once their address has sent three wrong ones.
    """
    world.add("ann")
    with serving(site_over(world)) as site:
        owner, stranger = Visitor(site, "127.0.0.1"), Visitor(site, "127.0.0.9")
        assert owner.log_in(PASSWORD) == 303
        del owner.cookies["kaiten-session"]
        assert guess_until_refused(site) == [403] * 48 + [429] * 6
        assert stranger.log_in(PASSWORD, "ben") == 403  # the first of three allowed failures
        assert [stranger.log_in(password) for password in ("a typo", PASSWORD)] == [403, 303]
        stranger.cookies.clear()
        assert [stranger.log_in(password) for password in ("a typo", PASSWORD)] == [403, 429]
        assert [owner.log_in(password) for password in ("a typo", PASSWORD)] == [403, 303]
        nearby = Visitor(site, "127.0.0.2", dict(owner.cookies))
        assert nearby.log_in(PASSWORD) == 303
        assert stranger.log_in(PASSWORD) == 429


def test_unknown_names_have_the_same_limits(world: World) -> None:
    """The limits don't reveal which names exist."""
    with serving(site_over(world)) as site:
        assert guess_until_refused(site, "nobody") == [403] * 48 + [429] * 6


def test_wrong_passwords_of_a_known_browser_are_limited(world: World) -> None:
    """A known browser may send ten per hour, across a site's processes. Other browsers aren't affected."""
    world.add("ann")
    one, other = logged_in(world, "ann"), logged_in(world, "ann")
    processes = [
        TestClient(site_over(world), base_url=HTTPS, headers={"Origin": HTTPS}, cookies=one.cookies)
        for _ in range(3)
    ]
    form = {"name": "ann", "password": "wrong"}
    statuses = [process.post("/login", data=form).status_code for process in 4 * processes]
    assert statuses == [403] * 10 + [429] * 2
    assert one.post("/login", data=form | {"password": PASSWORD}).status_code == 429
    assert other.post("/login", data=form | {"password": PASSWORD}).status_code == 303
    world.later(hours=1)
    assert one.post("/login", data=form | {"password": PASSWORD}).status_code == 303


def test_a_right_password_is_not_a_failure(world: World) -> None:
    """Successful logins don't count towards the limit of failures, and don't reset the count either."""
    world.add("ann")
    for _ in range(15):
        logged_in(world, "ann")
    visitor = browser(world)
    statuses = []
    for password in (*["wrong"] * 9, PASSWORD, "wrong", PASSWORD):
        statuses.append(visitor.post("/login", data={"name": "ann", "password": password}).status_code)
        visitor.cookies.clear()
    assert statuses == [403] * 9 + [303, 403, 429]


def test_right_passwords_checked_at_the_same_time_are_not_failures(world: World) -> None:
    """Such logins don't use up the reserved limit for addresses with few wrong passwords."""
    limits = rate_limits.RateLimits(world.store.rate_limits, world.accounts, lambda: world.now)

    def log_in(address: str, name: str) -> AbstractContextManager[None]:
        scope = {"type": "http", "scheme": "https", "path": "/login", "headers": []}
        return limits.count_login(Request(scope | {"client": (address, 50000)}), name)

    with ExitStack() as together:
        for number in range(5):
            together.enter_context(log_in("192.0.2.1", f"name-{number}"))
    for number in range(50):
        with suppress(Problem, WrongCredentials), log_in(f"192.0.2.{2 + number // 10}", "ann"):
            raise WrongCredentials
    with pytest.raises(Problem), log_in("192.0.2.2", "ann"):
        pass
    with log_in("192.0.2.1", "ann"):
        pass


def test_right_passwords_of_a_known_browser_are_limited(world: World) -> None:
    """Right passwords have a separate limit, so that a known browser can't cause unlimited hashing."""
    world.add("ann")
    visitor = logged_in(world, "ann")
    form = {"name": "ann", "password": PASSWORD}
    statuses = [visitor.post("/login", data=form).status_code for _ in range(21)]
    assert statuses == [303] * 20 + [429]


@pytest.fixture
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lift the limits on logins."""
    real = rate_limits._limit  # noqa: SLF001 - the site has no setting for it
    monkeypatch.setattr(rate_limits, "_limit", lambda _most, window, *what: real(1 << 30, window, *what))


@pytest.mark.usefixtures("unlimited")
def test_without_limits_guessers_succeed(world: World) -> None:
    """However many guesses were wrong, from new and known browsers, the right password is accepted."""
    world.add("ann")
    visitor = logged_in(world, "ann")
    assert {guess(world, "192.0.2.1", "wrong") for _ in range(12)} == {403}
    assert guess(world, "192.0.2.1", PASSWORD) == 303
    form = {"name": "ann", "password": "wrong"}
    assert {visitor.post("/login", data=form).status_code for _ in range(12)} == {403}
    right = form | {"password": PASSWORD}
    assert {visitor.post("/login", data=right).status_code for _ in range(21)} == {303}


def guess(world: World, address: str, password: str) -> int:
    """Try to log in as ann in a new browser at this address, and return the status."""
    form = {"name": "ann", "password": password}
    return browser(world, host=address).post("/login", data=form).status_code


@pytest.mark.parametrize("address", ["192.0.2.{}", pytest.param("2001:db8:{:x}::1", marks=pytest.mark.soak)])
def test_twenty_new_addresses_per_hour_lock_out_new_browsers(world: World, address: str) -> None:
    """Nineteen addresses don't lock out new browsers. An address counts as new again after a day."""
    world.add("ann")
    statuses = [guess(world, address.format(number % 19), "wrong") for number in range(19 * 3 + 30 + 19)]
    assert statuses == [403] * (19 * 3 + 30) + [429] * 19
    assert guess(world, address.format(100), PASSWORD) == 303
    assert [guess(world, address.format(101), "wrong") for _ in range(4)] == [403] * 3 + [429]
    assert guess(world, address.format(102), PASSWORD) == 429
    world.later(hours=1)
    statuses = [guess(world, address.format(number % 19), "wrong") for number in range(30 + 19)]
    assert statuses == [403] * 30 + [429] * 19
    assert guess(world, address.format(102), PASSWORD) == 303
    world.later(days=1)
    assert guess(world, address.format(101), PASSWORD) == 303


def test_networks_of_one_customer_count_as_one_address(world: World) -> None:
    """An IPv6 customer may have 65,536 networks."""
    world.add("ann")
    statuses = [guess(world, f"2001:db8:1:{number:x}::1", "wrong") for number in range(20)]
    assert statuses == [403] * 10 + [429] * 10
    assert guess(world, "2001:db8:2::1", PASSWORD) == 303


def locked_for(world: World, visitor: TestClient, password: str = PASSWORD) -> int:
    """Let others guess ann's password until they are refused. Then log in as ann, and return the status."""
    addresses = itertools.cycle(f"192.0.2.{number}" for number in range(20))
    while guess(world, next(addresses), "wrong") != 429:
        pass
    return visitor.post("/login", data={"name": "ann", "password": password}).status_code


def test_a_new_password_makes_browsers_unknown(world: World) -> None:
    """Only the browser that changed the password remains known. If an operator resets it, none does."""
    world.add("ann")
    here, there = logged_in(world, "ann"), logged_in(world, "ann")
    assert here.post("/account/password", data={"old": PASSWORD, "new": NEW}).status_code == 303
    assert locked_for(world, there, NEW) == 429
    assert here.post("/login", data={"name": "ann", "password": NEW}).status_code == 303
    world.accounts.operators.reset_password("terminal:test", "ann", PASSWORD)
    assert here.post("/login", data={"name": "ann", "password": PASSWORD}).status_code == 429


def test_a_browser_is_known_for_one_account(world: World) -> None:
    """The mark of eve's browser isn't valid for ann's account. Forged and expired marks aren't either."""
    world.add("ann")
    world.add("eve")
    eve = logged_in(world, "eve")
    assert locked_for(world, eve) == 429
    mark = world.accounts.sessions.known_browser_mark(world.checked(world.add("ben")))
    for name, made_up in (
        ("ann", mark),
        ("nobody", mark),
        ("ben", mark[:-1]),
        ("ben", "9" + mark),
        ("ben", "\N{SNOWMAN}.\udcff"),
        ("ben", ""),
    ):
        assert not world.accounts.sessions.is_known_browser(name, made_up)
    assert world.accounts.sessions.is_known_browser("BEN", mark)
    world.later(days=180)
    assert not world.accounts.sessions.is_known_browser("ben", mark)


@pytest.mark.parametrize("url", [HTTP, HTTPS])
def test_the_mark_is_a_safe_cookie_of_the_login_page(world: World, url: str) -> None:
    """Scripts can't read the mark, other pages don't receive it, and it expires. Logging out keeps it."""
    world.add("ann")
    visitor = logged_in(world, "ann", url=url)
    answer = visitor.post("/login", data={"name": "ann", "password": PASSWORD})
    (line,) = (line for line in answer.headers.get_list("set-cookie") if "kaiten-browser" in line)
    name, *flags = line.split("; ")
    assert re.match(r"__Secure-" if url == HTTPS else "kaiten-browser", name)
    assert {"HttpOnly", "Path=/login", "SameSite=lax", "Max-Age=15552000"} <= set(flags)
    assert ("Secure" in flags) == (url == HTTPS)
    assert "kaiten-browser" not in "; ".join(visitor.post("/logout").headers.get_list("set-cookie"))
    assert "set-cookie" not in browser(world).post("/login", data={"name": "ann"}).headers
