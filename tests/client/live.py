"""An arena's site that runs, with accounts and tokens for anyone who asks; and servers that are no arena."""

import threading
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from arena.accounts.accounts import open_accounts
from arena.accounts.credentials import MOST_TOKENS
from arena.db.store import Store
from arena.platform.settings import RegistrationMode
from arena.protocol.states import Scope
from tests.accounts.world import World
from tests.builders import host_report
from tests.web.site import opened

USUAL = (Scope.READ, Scope.SUBMIT)


@dataclass(frozen=True, slots=True)
class Live:
    """A running site.

    Attributes:
        world: Its store, and accounts over it.
        url: Its address.
        uploads: Where it puts files.
    """

    world: World
    url: str
    uploads: Path

    @property
    def store(self) -> Store:
        """The site's store."""
        return self.world.store

    def token(self, name: str = "ann", scopes: Collection[Scope] = USUAL) -> str:
        """Return a new token of someone, who gets an account if need be. The oldest goes at the limit."""
        account = next((user for user in self.world.accounts.operators.users() if user.name == name), None)
        known = self.world.add(name) if account is None else account
        tokens = open_accounts(self.store, RegistrationMode.OPEN).tokens  # by the real clock
        if len(valid := tokens.of(known)) == MOST_TOKENS:
            tokens.revoke(known, valid[-1].id)
        return tokens.create(known, name="t", scopes=scopes, days=1)[0]


@contextmanager
def live(folder: Path, **settings: str) -> Iterator[Live]:
    """Give a site over a new store in a folder; its host holds everything."""
    with closing(World.at(folder)) as world:
        world.store.activity.record_host(host_report(), ())
        with opened(folder, ARENA_DISK_FLOOR_GIB="0", **settings) as site:
            yield Live(world, site.url, folder / "uploads")


class Answering(BaseHTTPRequestHandler):
    """Answers every request as ``reply`` says, and keeps what it was asked."""

    def do_GET(self) -> None:
        """Answer."""
        server = self.server
        assert isinstance(server, Other)
        server.asked.append((self.path, dict(self.headers)))
        status, headers, body = server.replies.pop(0) if len(server.replies) > 1 else server.replies[0]
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_PUT(self) -> None:
        """Take what is sent, and answer."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as its parent has it
        """Say nothing."""


Reply = tuple[int, dict[str, str], bytes]


class Other(ThreadingHTTPServer):
    """Something that is no arena.

    Attributes:
        replies: What it answers, one after another, and the last one ever after: status, headers, body.
        asked: Paths and headers of the requests.
    """

    def __init__(self, *replies: Reply) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.replies = list(replies)
        self.asked: list[tuple[str, dict[str, str]]] = []

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}"


@contextmanager
def answering(*replies: Reply) -> Iterator[Other]:
    """Give a server that answers so, on a port of its own."""
    with Other(*replies) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
