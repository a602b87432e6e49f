"""Browsers and programs that visit the site of a world, whose clock the test sets."""

import sqlite3
from collections.abc import Callable, Collection
from contextlib import closing
from pathlib import Path

from fastapi.testclient import TestClient

from arena.db.credentials import KnownAccount
from arena.protocol.states import Scope
from tests.accounts.world import PASSWORD, World
from tests.db.builders import present
from tests.web.app import shared_site

HTTPS = "https://arena.example"
HTTP = "http://arena.example"


def browser(world: World, *, url: str = HTTPS, host: str = "testclient") -> TestClient:
    """Return a browser at this address, without a session. Like a real one, it sends its requests' origin."""
    return TestClient(
        shared_site(world),
        base_url=url,
        headers={"Origin": url, "Sec-Fetch-Site": "same-origin", "User-Agent": "Mozilla Firefox/150.0 Linux"},
        client=(host, 50000),
        follow_redirects=False,
    )


def logged_in(world: World, name: str, *, url: str = HTTPS) -> TestClient:
    """Return a browser in which the account ``name``, with the password ``PASSWORD``, has logged in."""
    visitor = browser(world, url=url)
    answer = visitor.post("/login", data={"name": name, "password": PASSWORD})
    assert answer.status_code == 303, answer.text
    return visitor


def program(world: World, secret: str | None) -> TestClient:
    """Return a program that sends a token, and none of a browser's headers."""
    headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}
    return TestClient(
        shared_site(world),
        base_url=HTTPS,
        headers=headers,
        follow_redirects=False,
    )


def owner(world: World, account: KnownAccount) -> TestClient:
    """Return a program with a token that can submit and read."""
    return program(world, token(world, account, {Scope.SUBMIT, Scope.READ}))


def token(world: World, account: KnownAccount, scopes: Collection[Scope], *, days: int = 30) -> str:
    """Return the secret of a new token."""
    return world.accounts.tokens.create(account, name="t", scopes=scopes, days=days)[0]


def repeated(file: Path | None, times: int, send: Callable[[], int]) -> int:
    """Send a request to a site over this database, and count it as if it had been sent this many times.

    Return its status. Really sending as many as the limits allow would take seconds.
    """
    with closing(sqlite3.connect(present(file), isolation_level=None)) as database:
        database.execute("CREATE TEMP TABLE before AS SELECT key, number FROM attempt")
        status = send()
        database.execute(
            "UPDATE attempt SET number = number + ? WHERE (key, number) NOT IN (SELECT * FROM before)",
            (times - 1,),
        )
    return status
