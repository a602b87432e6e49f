"""Serve the site: ``python -m web --data-dir DIR --host 127.0.0.1 --port 8000``."""

import argparse
import gc
import signal
import socket
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Final

import uvicorn

from arena.accounts import open_accounts
from arena.owners import open_owners
from arena.settings import Settings, WrongSettings, read_settings
from arena.store import StoreError, open_store
from arena.submitting.opening import open_receiver
from web.app import Parts, create_app

_GRACE_SECONDS: Final = 5


class CannotServe(Exception):
    """The site can't start; the text says why and what to do."""


def main() -> int:
    """Serve until SIGINT or SIGTERM; return the exit code."""
    try:
        settings = read_settings()
        arguments = _parser(settings).parse_args()
        listener = _listen(arguments.host, arguments.port)
        settings = settings.model_copy(update={"data_dir": arguments.data_dir})
        store = open_store(_database(settings))
    except (CannotServe, StoreError, WrongSettings) as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201 - a command speaks on its terminal
        return 1
    with listener, closing(store):
        server = uvicorn.Server(
            uvicorn.Config(
                create_app(
                    Parts(
                        store=store,
                        accounts=open_accounts(store.people, settings.registration),
                        receiver=open_receiver(settings, store),
                        owners=open_owners(settings, store),
                        now=lambda: datetime.now(UTC),
                    )
                ),
                log_level="warning",
                access_log=False,
                server_header=False,
                proxy_headers=bool(settings.trusted_proxies),
                forwarded_allow_ips=sorted(settings.trusted_proxies),
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )
        _end_on_signals(server)
        gc.freeze()  # what has been made so far stays: the collector of garbage need not look at it again
        host, port = listener.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        print(f"The site is at http://{shown}:{port}/", file=sys.stderr, flush=True)  # noqa: T201
        server.run(sockets=[listener])
    return 0


def _parser(settings: Settings) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m web",
        description="Serve the arena's site.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument(
        "--data-dir", type=Path, default=settings.data_dir, help="where the arena keeps its data"
    )
    parser.add_argument("--host", default=settings.host, help="address to listen on")
    parser.add_argument("--port", type=int, default=settings.port, help="port to listen on, 0 for a free one")
    return parser


def _database(settings: Settings) -> str:
    """Return the URL of a database that is there; the site never makes one."""
    file = settings.url.removeprefix("sqlite:///")
    if file != settings.url and not Path(file).is_file():
        raise CannotServe(
            f"there is no database at {file}. The arena makes it when it first plays: "
            "run `make demo`, or name another folder with --data-dir."
        )
    return settings.url


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family, backlog=512)
    except (OSError, OverflowError) as error:
        raise CannotServe(
            f"can't listen on {host}, port {port}: {error}. If something else has that port, "
            "end it or choose another one with --port."
        ) from error


def _end_on_signals(server: uvicorn.Server) -> None:
    """Make SIGINT and SIGTERM end the server with exit code 0, also before it is up.

    While it serves, uvicorn handles them; at its end it raises what it caught
    once more, which then comes here instead of killing the process.
    """

    def end(_number: int, _frame: FrameType | None) -> None:
        server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)


if __name__ == "__main__":
    sys.exit(main())
