"""A running site with accounts and tokens on demand, and servers that aren't arenas."""

import threading
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from arena.accounts.accounts import open_accounts
from arena.accounts.credentials import MAX_TOKENS
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
        world: Its store and accounts.
        url: Its address.
        uploads: The folder of uploaded files.
    """

    world: World
    url: str
    uploads: Path

    @property
    def store(self) -> Store:
        """The site's store."""
        return self.world.store

    def token(self, name: str = "ann", scopes: Collection[Scope] = USUAL) -> str:
        """Create a token, and the account if it doesn't exist. At the limit, the oldest token is revoked."""
        account = next((user for user in self.store.accounts.all() if user.name == name), None)
        known = self.world.add(name) if account is None else account
        tokens = open_accounts(self.store, RegistrationMode.OPEN).tokens  # by the real clock
        if len(valid := tokens.of(known)) == MAX_TOKENS:
            tokens.revoke(known, valid[-1].id)
        return tokens.create(known, name="t", scopes=scopes, days=1)[0]


@contextmanager
def live(folder: Path, **settings: str) -> Iterator[Live]:
    """Yield a site with a new store in a folder, and a host that passes every control."""
    with closing(World.at(folder)) as world:
        world.store.activity.record_host(host_report(), ())
        with opened(folder, ARENA_DISK_FLOOR_GIB="0", **settings) as site:
            yield Live(world, site.url, folder / "uploads")


class Answering(BaseHTTPRequestHandler):
    """Sends the replies of its server, an :class:`Other`, and records the requests."""

    def do_GET(self) -> None:
        """Record the request, and send the next reply."""
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
        """Read the body, then respond as to a GET request."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Log nothing."""


Reply = tuple[int, dict[str, str], bytes]


class Other(ThreadingHTTPServer):
    """A server that isn't an arena.

    Attributes:
        replies: Status, headers and body of each response, in order. The last one repeats.
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
    """Yield a server with these replies on a free port."""
    with Other(*replies) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
