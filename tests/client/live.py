"""A running site with accounts and tokens on demand, and servers that aren't arenas."""

from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from arena.accounts.accounts import open_accounts
from arena.accounts.credentials import MAX_TOKENS
from arena.db.store import Store
from arena.platform.settings import RegistrationMode
from arena.protocol.states import Scope
from tests.accounts.world import World
from tests.builders import host_report
from tests.ports import serving
from tests.web.site import opened

USUAL = (Scope.READ, Scope.SUBMIT)


@dataclass(frozen=True, slots=True)
class Live:
    """A running site."""

    world: World  # its store and accounts
    url: str  # its address
    uploads: Path  # the folder of uploaded files

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


Reply = tuple[int, dict[str, str], bytes]
"""Status, headers and body of a response."""


@dataclass(frozen=True, slots=True)
class Other:
    """A server that isn't an arena."""

    url: str  # its address
    asked: list[tuple[str, dict[str, str]]]  # paths and headers of the requests


@contextmanager
def answering(*replies: Reply) -> Iterator[Other]:
    """Yield a server on a free port that sends these replies in order, and repeats the last one."""
    asked: list[tuple[str, dict[str, str]]] = []
    left = list(replies)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, dict(self.headers)))
            status, headers, body = left.pop(0) if len(left) > 1 else left[0]
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def do_PUT(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

    with serving(Handler) as port:
        yield Other(f"http://127.0.0.1:{port}", asked)
