"""The site as a process: start, startup errors and shutdown."""

import json
import shlex
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest

from arena.accounts.accounts import open_accounts
from arena.db.credentials import KnownAccount
from arena.db.quotas import Quota
from arena.platform.settings import RegistrationMode
from arena.protocol.states import Role, Scope
from tests.accounts.world import PASSWORD, World
from tests.builders import host_report
from tests.cli import forked
from tests.databases import sqlite_store
from tests.patience import WAIT_SECONDS, wait_until
from tests.web.people import repeated
from tests.web.site import environment, opened, served
from tests.web.stable import fill_games


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """Return a data directory with games."""
    with closing(World.at(tmp_path)) as world:
        world.filled(fill_games)
    return tmp_path


def _refusal(data_dir: Path, *arguments: str, **settings: str) -> str:
    """Return the output of a site that doesn't start."""
    words = ("--data-dir", str(data_dir), *(arguments or ("--port", "0")))
    ended = forked.run(words, Path.cwd(), environment() | settings, program="web")
    said = ended.stderr
    assert ended.returncode == 1
    assert "Traceback" not in said
    return said


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.soak)])
def test_it_serves_until_it_gets_a_signal(data_dir: Path, tmp_path: Path, number: signal.Signals) -> None:
    """A signal ends the site with exit code 0 and without a traceback, even with open connections.

    The site raises its limit on open files to the hard limit, so that idle connections don't exhaust it.
    """
    few = tmp_path / "few"
    few.write_text(f'#!/bin/sh\nulimit -Sn 300 && exec {shlex.quote(sys.executable)} "$@"\n')
    few.chmod(0o755)
    with (
        served(data_dir, python=str(few)) as site,
        httpx2.Client(base_url=site.url, timeout=WAIT_SECONDS) as client,
    ):
        limits = Path(f"/proc/{site.process.pid}/limits").read_text()
        (line,) = (line for line in limits.splitlines() if line.startswith("Max open files"))
        soft, hard = line.split()[3:5]
        assert soft == hard != "300"
        assert client.get("/healthz").text == "ok\n"
        assert "gnp.exe" in client.get("/leaderboard").text
        assert "server" not in client.get("/").headers
        site.process.send_signal(number)
        assert site.process.wait(WAIT_SECONDS) == 0
        assert site.process.stderr is not None
        assert site.process.stderr.read() == ""


def test_more_visitors_than_threads_are_served(data_dir: Path) -> None:
    """Sixty concurrent requests all get their responses, without waiting for a database connection.

    The site has read from its environment that registration is closed.
    """
    with (
        opened(data_dir, ARENA_REGISTRATION="closed") as site,
        closing(sqlite_store(data_dir / "arena.sqlite3")) as store,
    ):
        address = httpx2.URL(site.url)
        expected = len(store.ratings.standings())
        request = (
            f"GET /api/v1/leaderboard HTTP/1.1\r\nHost: {address.host}\r\nConnection: close\r\n\r\n".encode()
        )
        visitors = [socket.create_connection((address.host, address.port or 0)) for _ in range(60)]
        for visitor in visitors:
            visitor.sendall(request)
        for visitor in visitors:
            with visitor, visitor.makefile("rb") as answer:
                text = answer.read()
            assert text.startswith(b"HTTP/1.1 200")
            assert text.count(b'"rank"') == expected
        registering = httpx2.get(f"{site.url}/register", timeout=WAIT_SECONDS)
        assert "Registration is closed" in registering.text


def test_an_idle_connection_is_closed(data_dir: Path) -> None:
    """A connection may be idle for five seconds after a response."""
    with opened(data_dir) as site:
        address = httpx2.URL(site.url)
        begun = time.monotonic()
        with socket.create_connection((address.host, address.port or 0), timeout=WAIT_SECONDS) as visitor:
            visitor.sendall(f"GET /healthz HTTP/1.1\r\nHost: {address.host}\r\n\r\n".encode())
            with visitor.makefile("rb") as answer:
                text = answer.read()  # ends when the site closes the connection
    assert text.startswith(b"HTTP/1.1 200")
    assert text.endswith(b"ok\n")
    assert b"connection: close" not in text.lower()
    assert time.monotonic() - begun > 4.99  # the event loop counts whole milliseconds


def uploader(world: World) -> tuple[KnownAccount, str]:
    """Let the site accept uploads, and return a new account with a token for them."""
    world.store.activity.record_host(host_report(), ())
    accounts = open_accounts(world.store, RegistrationMode.OPEN)
    ann = accounts.operators.create_user("terminal:test", "ann", PASSWORD, Role.USER)
    return ann, accounts.tokens.create(ann, name="t", scopes={Scope.SUBMIT}, days=1)[0]


@contextmanager
def partial_upload(url: str, secret: str) -> Iterator[None]:
    """Send the first half of an image, and close the connection afterwards."""
    address = httpx2.URL(url)
    head = (
        f"PUT /api/v1/bots/mine/submissions?kind=image HTTP/1.1\r\nHost: {address.host}\r\n"
        f"Authorization: Bearer {secret}\r\nContent-Length: 9000000\r\n\r\n"
    )
    with socket.create_connection((address.host, address.port or 0)) as sender:
        sender.sendall(head.encode() + bytes(4_000_000))
        yield


def sent_by(world: World, account: KnownAccount) -> int:
    """Return how many uploads count towards an account's quota."""
    quota = Quota(submissions_a_day=9, bots=9, open_submissions=9)
    now = datetime.now(UTC)
    return world.store.submissions.allowance(account.name, account.id, quota, now).sent


def test_an_upload_that_is_cut_off_leaves_nothing(tmp_path: Path) -> None:
    """No file or row is left, and the log has no traceback."""
    with closing(World.at(tmp_path)) as world, opened(tmp_path, ARENA_DISK_FLOOR_GIB="0") as site:
        _, secret = uploader(world)
        uploads = tmp_path / "uploads"
        with partial_upload(site.url, secret):
            wait_until(lambda: uploads.is_dir() and any(uploads.iterdir()), "an upload in progress")
        wait_until(lambda: not any(uploads.iterdir()), "the file's deletion")
        assert world.store.submissions.newest() == ()
        assert httpx2.get(f"{site.url}/healthz", timeout=WAIT_SECONDS).text == "ok\n"
        (line,) = site.said().splitlines()
        assert "The site is at" in line


# Takes over 5 s, because uploads may continue for 5 s after the signal.
def test_an_upload_that_a_restart_cuts_off_does_not_count(tmp_path: Path) -> None:
    """It doesn't count towards the quota, and leaves no file."""
    with closing(World.at(tmp_path)) as world, served(tmp_path, ARENA_DISK_FLOOR_GIB="0") as site:
        ann, secret = uploader(world)
        with partial_upload(site.url, secret):
            wait_until(lambda: any((tmp_path / "uploads").glob("*")), "an upload in progress")
            assert sent_by(world, ann) == 1
            site.process.send_signal(signal.SIGTERM)
            assert site.process.wait(WAIT_SECONDS) == 0
        assert sent_by(world, ann) == 0
        assert list((tmp_path / "uploads").iterdir()) == []


def test_without_a_database_it_says_what_to_do(tmp_path: Path) -> None:
    """The error names the file, and no file is created."""
    said = _refusal(tmp_path)
    assert f"there is no database at {tmp_path / 'arena.sqlite3'}" in said
    assert "make demo" in said
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_not_a_database_is_named(tmp_path: Path) -> None:
    """The error is one line without a traceback."""
    (tmp_path / "arena.sqlite3").write_text("no database at all, but long enough to be taken for one" * 20)
    said = _refusal(tmp_path)
    assert json.loads(said)["event"].startswith("error: ")
    assert "arena.sqlite3" in said


def test_a_port_that_is_taken_is_named(data_dir: Path) -> None:
    """The error says how to choose another."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        said = _refusal(data_dir, "--port", str(port))
    assert f"can't listen on 127.0.0.1, port {port}" in said
    assert "--port" in said


def test_an_address_that_is_not_valid_is_named(data_dir: Path) -> None:
    """A host name can't have an empty part."""
    assert "can't listen on arena..example" in _refusal(data_dir, "--host", "arena..example", "--port", "0")


@pytest.mark.parametrize(("trusted", "believed"), [("192.0.2.1", False), ("127.0.0.9/8", True)])
def test_only_trusted_proxies_can_set_forwarded_headers(
    data_dir: Path,
    trusted: str,
    believed: bool,  # noqa: FBT001 - a column of the table
) -> None:
    """The headers determine the cookie's name and the address for which registrations are counted."""
    forwarded = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "198.51.100.1"}
    with (
        opened(data_dir, ARENA_TRUSTED_PROXIES=trusted) as site,
        httpx2.Client(base_url=site.url, timeout=WAIT_SECONDS, headers=forwarded) as client,
    ):
        client.headers["Origin"] = site.url
        answer = client.post("/register", data={"name": "ann", "password": "correct horse battery staple"})
        assert answer.status_code == 303
        assert answer.headers["set-cookie"].startswith("__Host-kaiten=") == believed

        def register() -> int:
            return client.post("/register", data={"name": "x"}).status_code

        assert repeated(data_dir / "arena.sqlite3", 49, register) == 422
        assert register() == 429
        client.headers["X-Forwarded-For"] = "198.51.100.2"
        assert register() == (422 if believed else 429)


def test_an_invalid_proxy_address_is_named(data_dir: Path) -> None:
    """The site doesn't start. Host names aren't resolved, so they would match no proxy."""
    said = _refusal(data_dir, ARENA_TRUSTED_PROXIES="127.0.0.1,proxy.example")
    assert "ARENA_TRUSTED_PROXIES" in said
    assert "proxy.example" in said
