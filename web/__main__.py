"""Serve the site: ``python -m web --data-dir DIR --host 127.0.0.1 --port 8000``."""

import argparse
import gc
import logging
import signal
import socket
import sys
from contextlib import closing, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Final

import structlog
import uvicorn

from arena.accounts.accounts import open_accounts
from arena.db.errors import StoreError
from arena.db.store import Store, open_store
from arena.notices.subscriptions import open_subscriptions
from arena.ops.export.manifest import exports_folder
from arena.ops.health import CannotListen, OpsServer, metrics_of
from arena.platform.logs import configure_logs, log_uncaught
from arena.platform.settings import Address, LogLevel, Settings, WrongSettings, read_settings
from arena.platform.text import log_message
from arena.services.owners import open_owners
from arena.submissions.receiver import open_receiver
from web.app import Components, create_app
from web.docs.pages import Downloads
from web.http.connections import ConnectionLimits, Connections, guarded, listen, raise_open_files
from web.http.metrics import SiteMetrics

_GRACE_SECONDS: Final = 5
_IDLE_SECONDS: Final = 5
"""Idle connections are closed after this time."""

_MAX_HEADER: Final = 16 * 1024

_log = structlog.get_logger()


class CannotServe(Exception):
    """The site can't start. The message gives the reason and the remedy."""


def main() -> int:
    """Serve until SIGINT or SIGTERM; return the exit code."""
    metrics = SiteMetrics()
    try:
        settings = read_settings()
        configure_logs(settings.log_format, settings.log_level or LogLevel.INFO)
        arguments = _parser(settings).parse_args()
        listener = _listen(arguments.host, arguments.port)
        settings = settings.model_copy(update={"data_dir": arguments.data_dir})
        monitoring = _monitoring(settings.web_ops_address, metrics)
        store = open_store(_database(settings), migrates=False)
    except (CannotListen, CannotServe, StoreError, WrongSettings) as error:
        _say(f"error: {error}", logging.ERROR)
        return 1
    log_uncaught()
    with listener, closing(store), monitoring as metrics_server:
        server = _server(settings, store, metrics)
        _end_on_signals(server)
        gc.freeze()  # exempt existing objects from garbage collection
        host, port = listener.getsockname()[:2]
        _say(f"The site is at http://{Address(host, port)}/")
        if metrics_server is not None:
            _log.info("metrics endpoint listening", address=str(metrics_server.address))
        server.run(sockets=[listener])
    return 0


def _server(settings: Settings, store: Store, metrics: SiteMetrics) -> uvicorn.Server:
    return uvicorn.Server(
        uvicorn.Config(
            create_app(
                Components(
                    store=store,
                    accounts=open_accounts(store, settings.registration),
                    receiver=open_receiver(settings, store),
                    owners=open_owners(settings, store),
                    subscriptions=open_subscriptions(settings, store),
                    metrics=metrics,
                    exports=exports_folder(settings),
                    now=lambda: datetime.now(UTC),
                    analyses=settings.analysis_playouts > 0,
                    downloads=Downloads(source=settings.source_url, package=settings.package_url),
                    tables_for_people=settings.person_games if settings.executor is None else 0,
                )
            ),
            http=guarded(Connections(ConnectionLimits(total=raise_open_files()), settings.trusted_proxies)),
            ws="none",
            timeout_keep_alive=_IDLE_SECONDS,
            h11_max_incomplete_event_size=_MAX_HEADER,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=bool(settings.trusted_proxies),
            forwarded_allow_ips=sorted(settings.trusted_proxies),
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
    )


def _monitoring(address: Address | None, metrics: SiteMetrics) -> OpsServer | nullcontext[None]:
    """Return the metrics server, if an address for it is set.

    Raises CannotListen if the address is in use.
    """
    return (
        nullcontext() if address is None else OpsServer(address, {"/metrics": metrics_of(metrics.registry)})
    )


def _say(text: str, level: int = logging.INFO) -> None:
    if not log_message(text, level):
        print(text, file=sys.stderr, flush=True)  # noqa: T201 - a command prints to its terminal


def _parser(settings: Settings) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m web",
        description="Serve the arena's site.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--data-dir", type=Path, default=settings.data_dir, help="the arena's data directory")
    parser.add_argument("--host", default=settings.host, help="address to listen on")
    parser.add_argument(
        "--port", type=int, default=settings.port, help="port to listen on; 0 for any free port"
    )
    return parser


def _database(settings: Settings) -> str:
    """Return the database's URL.

    Raises CannotServe if the SQLite file doesn't exist, because the site never creates one.
    """
    file = settings.url.removeprefix("sqlite:///")
    if file != settings.url and not Path(file).is_file():
        raise CannotServe(
            f"there is no database at {file}. The arena creates one when it first starts: "
            "run `make demo`, or specify another folder with --data-dir."
        )
    return settings.url


def _listen(host: str, port: int) -> socket.socket:
    try:
        return listen(host, port)
    except (OSError, OverflowError, UnicodeError) as error:
        raise CannotServe(
            f"can't listen on {host}, port {port}: {error}. If another program uses that port, "
            "stop it or choose another port with --port."
        ) from error


def _end_on_signals(server: uvicorn.Server) -> None:
    """Make SIGINT and SIGTERM end the server with exit code 0, even during startup.

    While uvicorn is serving, it handles these signals itself. When it stops, it raises the caught
    signal again. This handler then receives the signal, so the process isn't killed.
    """

    def end(_number: int, _frame: FrameType | None) -> None:
        server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)


if __name__ == "__main__":
    sys.exit(main())
