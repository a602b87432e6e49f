"""Effect of idle connections on visitors: ``python -m benchmarks.slowloris``.

3,000 connections from 100 addresses of this machine send a part of a header, then a byte now and then. Those
that the site closes are opened again. Meanwhile, a visitor from another address requests the leaderboard.
"""

import argparse
import http.client
import multiprocessing
import resource
import select
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from arena.db.store import open_store
from benchmarks.served import address_of
from tests.builders import fill

_ADDRESSES: Final = 100
_PAUSE: Final = 0.05
_PATIENCE: Final = 20.0


def main() -> None:
    """Print how long a visitor waits, without them and with them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.slowloris", description=__doc__)
    parser.add_argument("--connections", type=int, default=3000, help="of those who ask for nothing")
    parser.add_argument("--requests", type=int, default=400, help="of the visitor, each time")
    wanted = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory() as data:
        with closing(open_store(f"sqlite:///{Path(data) / 'arena.sqlite3'}")) as store:
            fill(store)
        arguments = [sys.executable, "-m", "web", "--data-dir", data, "--port", "0"]
        with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as site:  # noqa: S603 - our own
            try:
                url = address_of(site)
                if url is None:
                    raise SystemExit("the site did not start")
                _measure(url, wanted.connections, wanted.requests)
            finally:
                site.terminate()


def _measure(url: str, connections: int, requests: int) -> None:
    address = urlsplit(url)
    host, port = address.hostname or "", address.port or 0
    _times(host, port, 50)
    print("without them:", _told(_times(host, port, requests)))
    spawn = multiprocessing.get_context("spawn")  # a separate process, which takes no time from the visitor
    theirs, ours = spawn.Pipe()
    crowd = spawn.Process(target=_press, args=(theirs, host, port, connections))
    crowd.start()
    ours.recv()
    told = _told(_times(host, port, requests))
    ours.send("over")
    there, made, ended = ours.recv()
    crowd.join()
    print(f"with {there} of them:", told)
    print(f"connections made: {made}, ended by the site: {ended}")


def _press(parent: Connection, host: str, port: int, most: int) -> None:
    crowd = _Crowd(host, port, most)
    crowd.fill()
    parent.send("there")
    crowd.press(lambda: not parent.poll())
    parent.send((crowd.open, crowd.made, crowd.ended))


class _Crowd:
    """Connections that ask for nothing."""

    def __init__(self, host: str, port: int, most: int) -> None:
        self._address = (host, port)
        self._most = most
        self._sockets: dict[int, socket.socket] = {}
        self._poll = select.epoll()
        self.made = self.ended = 0

    @property
    def open(self) -> int:
        return len(self._sockets)

    def fill(self) -> None:
        """Make as many as there may be, for as long as the site takes them."""
        end = time.monotonic() + _PATIENCE
        while self.open < self._most and time.monotonic() < end:
            self._turn()

    def press(self, goes_on: Callable[[], bool]) -> None:
        """Reopen connections that the site closes, and drip, until the end."""
        while goes_on():
            self._turn()
            time.sleep(_PAUSE)

    def _turn(self) -> None:
        for _ in range(min(300, self._most - self.open)):
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


def _times(host: str, port: int, requests: int) -> list[float]:
    """Return the seconds of requests, each on its own connection."""
    seconds = []
    for _ in range(requests):
        began = time.perf_counter()
        connection = http.client.HTTPConnection(host, port, timeout=_PATIENCE)
        connection.request("GET", "/leaderboard")
        answer = connection.getresponse()
        answer.read()
        connection.close()
        if answer.status != http.client.OK:
            raise SystemExit(f"the leaderboard answers {answer.status}")
        seconds.append(time.perf_counter() - began)
        time.sleep(_PAUSE)
    return seconds


def _told(seconds: list[float]) -> str:
    cuts = statistics.quantiles(seconds, n=100)
    return f"median {cuts[49] * 1000:.0f} ms, p99 {cuts[98] * 1000:.0f} ms, most {max(seconds) * 1000:.0f} ms"


if __name__ == "__main__":
    main()
