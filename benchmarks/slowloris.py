"""Measure the effect of an attack on visitors and authors: ``python -m benchmarks.slowloris``.

Several addresses of this machine attack at the same time. 3,000 connections send part of a header and then
an occasional byte, and are reopened when the site closes them. Four accounts upload images very slowly. Six
addresses guess an author's password. Before and during the attack, this author logs in and submits a bot, and
a visitor views pages. Exits with 1 if the author is refused, the pages' 99th percentile misses the goal, or
the attack was weaker than described.
"""

import argparse
import http.client
import multiprocessing
import os
import resource
import select
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from email.message import Message
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final
from urllib.parse import urlencode, urlsplit

from arena.accounts.accounts import Accounts, open_accounts
from arena.db.store import open_store
from arena.platform.settings import RegistrationMode
from arena.protocol.states import Role, Scope
from benchmarks.processes import run_site
from tests.builders import fill, host_report

GOAL_SECONDS: Final = 0.25
_ADDRESSES: Final = 100
_UPLOADS: Final = 4
_GUESSERS: Final = 6
_PAUSE: Final = 0.05
_PATIENCE: Final = 20.0
_HELD_SECONDS: Final = 120.0
"""Maximum time until the site stops the guessers."""

_AUTHOR: Final = "author"
_PASSWORD: Final = "rarely guessed, not at all"  # noqa: S105 - only for this benchmark
_PAGES: Final = ("/", "/leaderboard", "/games", "/docs")
_BOT: Final = Path(__file__).parents[1] / "bots" / "greedy" / "bot.py"

_Site = tuple[str, int]
"""A site's address and port."""


def main() -> int:
    """Print how long visitors and an author wait without and during the attack; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.slowloris",
        description="Measure the effect of slow requests, slow uploads and password guessing on others.",
    )
    parser.add_argument(
        "--connections",
        type=int,
        default=3000,
        help="connections that never complete a request (default: %(default)s)",
    )
    parser.add_argument(
        "--requests",
        type=int,
        default=100,
        help="requests by the visitor in each phase (default: %(default)s)",
    )
    wanted = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory() as data:
        with closing(open_store(f"sqlite:///{Path(data) / 'arena.sqlite3'}")) as store:
            fill(store)
            store.activity.record_host(host_report(), ())
            accounts = open_accounts(store, RegistrationMode.CLOSED)
            tokens = [_token(accounts, name) for name in (_AUTHOR, *(f"eve{n}" for n in range(_UPLOADS)))]
        with run_site(os.environ | {"ARENA_DATA_DIR": data}) as (_, address):
            url = urlsplit(address)
            there = (url.hostname or "", url.port or 0)
            return _measure(there, wanted.connections, wanted.requests, tokens)


def _token(accounts: Accounts, name: str) -> str:
    account = accounts.operators.create_user("benchmark", name, _PASSWORD, Role.USER)
    return accounts.tokens.create(account, name="b", scopes={Scope.SUBMIT}, days=1)[0]


def _measure(site: _Site, connections: int, requests: int, tokens: list[str]) -> int:
    _times(site, 50)
    print("load:", *(f"{load:.0f}" for load in os.getloadavg()))
    print("pages without the attack:", _summary(_times(site, requests)))
    _, headers = _log_in(site, _PASSWORD)
    cookie = next(line for line in headers.get_all("Set-Cookie", []) if "browser" in line).partition(";")[0]
    if not _log_in_and_submit(site, cookie, tokens[0], "before"):
        return 1
    spawn = multiprocessing.get_context("spawn")  # in another process, so as not to slow the visitor down
    theirs, ours = spawn.Pipe()
    attack = spawn.Process(target=_attack, args=(theirs, site, connections, tokens[1:]))
    attack.start()
    theirs.close()
    ours.recv()
    accepted = _log_in_and_submit(site, cookie, tokens[0], "during")
    seconds = _times(site, requests)
    print("pages during the attack:", _summary(seconds))
    ours.send("over")
    strong, lines = ours.recv()
    attack.join()
    print(*lines, sep="\n")
    if not strong:
        print("the attack was too weak to show anything")
        return 1
    met = accepted and _percentile(seconds, 99) <= GOAL_SECONDS
    print(f"goal, {GOAL_SECONDS * 1000:.0f} ms and no refusal:", "met" if met else "MISSED")
    return 0 if met else 1


def _log_in_and_submit(site: _Site, cookie: str, token: str, when: str) -> bool:
    """Log in and submit a bot as the author, and print how long that took. Return True if both worked."""
    began = time.perf_counter()
    entered, _ = _log_in(site, _PASSWORD, cookie=cookie)
    between = time.perf_counter()
    path, headers = f"/api/v1/bots/{when}/submissions?kind=python", {"Authorization": f"Bearer {token}"}
    submitted, _ = _ask(site, "PUT", path, _BOT.read_bytes(), headers)
    ended = time.perf_counter()
    print(f"login {when} the attack: {entered}, {between - began:.2f} s")
    print(f"submission {when} the attack: {submitted}, {ended - between:.2f} s")
    return (entered, submitted) == (http.client.SEE_OTHER, http.client.CREATED)


def _attack(parent: Connection, site: _Site, connections: int, tokens: list[str]) -> None:
    """Attack until the parent sends a message.

    Then send the parent True if the attack reached its intended strength, and lines with the results.
    """
    crowd = _Crowd(site, connections)
    crowd.fill()
    is_full = crowd.open == connections
    over = threading.Event()
    guesses: Counter[int] = Counter()
    uploads: Counter[str] = Counter()
    held = threading.Barrier(_GUESSERS + 1)
    threads = [
        *(threading.Thread(target=_guess, args=(site, n, guesses, held, over)) for n in range(_GUESSERS)),
        *(
            threading.Thread(target=_drip, args=(site, n, token, uploads, over))
            for n, token in enumerate(tokens)
        ),
    ]
    for thread in threads:
        thread.start()
    held.wait(_HELD_SECONDS)
    parent.send("there")
    crowd.press(lambda: not parent.poll())
    over.set()
    for thread in threads:
        thread.join()
    lines = (
        f"silent connections: {crowd.open} open, {crowd.made} made, {crowd.ended} ended by the site",
        f"slow uploads: {uploads['begun']} begun, {uploads['ended']} ended by the site",
        f"guesses: {guesses[403]} checked, {guesses[429]} refused, {guesses[303]} right",
    )
    parent.send((is_full and uploads["begun"] >= _UPLOADS and guesses[429] >= _GUESSERS, lines))


def _guess(
    site: _Site, number: int, guesses: Counter[int], held: threading.Barrier, over: threading.Event
) -> None:
    """Guess the author's password until the end. After the first refusal, wait for the other guessers."""
    is_held = False
    while not over.wait(10 * _PAUSE):
        status, _ = _log_in(site, "a wrong guess", source=f"127.0.3.{1 + number}")
        guesses[status] += 1
        if status == http.client.TOO_MANY_REQUESTS and not is_held:
            is_held = True
            held.wait(_HELD_SECONDS)


def _drip(site: _Site, number: int, token: str, uploads: Counter[str], over: threading.Event) -> None:
    """Send images slightly faster than the site requires. If the site ends an upload, start another."""
    while not over.is_set():
        with socket.create_connection(site, source_address=(f"127.0.2.{1 + number}", 0)) as sender:
            uploads["begun"] += 1
            sender.sendall(
                f"PUT /api/v1/bots/slow{number}/submissions?kind=image HTTP/1.1\r\nHost: a\r\n"
                f"Authorization: Bearer {token}\r\nContent-Length: {1 << 29}\r\n\r\n".encode()
            )
            answered = select.poll()
            answered.register(sender, select.POLLIN)
            while not over.wait(1.0) and not answered.poll(0):
                with suppress(OSError):
                    sender.sendall(bytes(96 * 1024))
            uploads["ended"] += not over.is_set()


class _Crowd:
    """Connections that never complete a request."""

    def __init__(self, site: _Site, max_connections: int) -> None:
        self._address = site
        self._max_connections = max_connections
        self._sockets: dict[int, socket.socket] = {}
        self._poll = select.epoll()
        self.made = self.ended = 0

    @property
    def open(self) -> int:
        return len(self._sockets)

    def fill(self) -> None:
        """Open connections up to the limit, as long as the site accepts them."""
        end = time.monotonic() + _PATIENCE
        while self.open < self._max_connections and time.monotonic() < end:
            self._turn()

    def press(self, goes_on: Callable[[], bool]) -> None:
        """Send bytes slowly and reopen connections that the site closes, as long as ``goes_on``."""
        while goes_on():
            self._turn()
            time.sleep(_PAUSE)

    def _turn(self) -> None:
        for _ in range(min(300, self._max_connections - self.open)):
            self._connect()
        for number, _ in self._poll.poll(0):
            self.ended += 1
            self._poll.unregister(number)
            self._sockets.pop(number).close()
        for number in [*self._sockets][::_ADDRESSES]:
            with suppress(OSError):
                self._sockets[number].send(b"x")

    def _connect(self) -> None:
        made = socket.socket()
        made.bind((f"127.0.1.{1 + self.made % _ADDRESSES}", 0))
        try:
            made.connect(self._address)
            made.send(b"GET / HTTP/1.1\r\nX-Slow: ")
        except OSError:
            made.close()
            return
        self.made += 1
        self._sockets[made.fileno()] = made
        self._poll.register(made, select.EPOLLIN | select.EPOLLHUP)


def _log_in(
    site: _Site, password: str, *, source: str = "127.0.0.1", cookie: str = ""
) -> tuple[int, Message]:
    headers = {
        "Origin": f"http://{site[0]}:{site[1]}",
        "Content-Type": "application/x-www-form-urlencoded",
        "Cookie": cookie,
    }
    return _ask(
        site, "POST", "/login", urlencode({"name": _AUTHOR, "password": password}), headers, source=source
    )


def _ask(  # noqa: PLR0913 - the parts of a request
    site: _Site,
    method: str,
    path: str,
    body: str | bytes | None = None,
    headers: Mapping[str, str] | None = None,
    *,
    source: str = "127.0.0.1",
) -> tuple[int, Message]:
    """Send a request on its own connection, from this address; return the response's status and headers."""
    connection = http.client.HTTPConnection(*site, timeout=_PATIENCE, source_address=(source, 0))
    with closing(connection):
        connection.request(method, path, body, dict(headers or {}))
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.headers


def _times(site: _Site, requests: int) -> list[float]:
    """Request the pages in turn; return the seconds that each request took."""
    seconds = []
    for number in range(requests):
        path = _PAGES[number % len(_PAGES)]
        began = time.perf_counter()
        status, _ = _ask(site, "GET", path)
        seconds.append(time.perf_counter() - began)
        if status != http.client.OK:
            sys.exit(f"{path} returned {status}")
        time.sleep(_PAUSE)
    return seconds


def _summary(seconds: list[float]) -> str:
    median, slow = (_percentile(seconds, percent) * 1000 for percent in (50, 99))
    return f"median {median:.0f} ms, p99 {slow:.0f} ms, maximum {max(seconds) * 1000:.0f} ms"


def _percentile(seconds: list[float], percent: int) -> float:
    return statistics.quantiles(seconds, n=100)[percent - 1]


if __name__ == "__main__":
    sys.exit(main())
