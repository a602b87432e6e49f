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

from arena.accounts import open_accounts
from arena.logs import configure_logs, log_what_nobody_caught
from arena.monitoring.address import Address
from arena.monitoring.listener import CannotListen, Listener, metrics_of
from arena.owners import open_owners
from arena.settings import LogLevel, Settings, WrongSettings, read_settings
from arena.speech import spoken
from arena.store import Store, StoreError, open_store
from arena.submitting.opening import open_receiver
from web.app import Parts, create_app
from web.metrics import SiteMetrics

_GRACE_SECONDS: Final = 5

_log = structlog.get_logger()


class CannotServe(Exception):
    """The site can't start; the text says why and what to do."""


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
        store = open_store(_database(settings))
    except (CannotListen, CannotServe, StoreError, WrongSettings) as error:
        _say(f"error: {error}", logging.ERROR)
        return 1
    log_what_nobody_caught()
    with listener, closing(store), monitoring as told:
        server = _server(settings, store, metrics)
        _end_on_signals(server)
        gc.freeze()  # what has been made so far stays: the collector of garbage need not look at it again
        host, port = listener.getsockname()[:2]
        _say(f"The site is at http://{Address(host, port)}/")
        if told is not None:
            _log.info("metrics are told", address=str(told.address))
        server.run(sockets=[listener])
    return 0


def _server(settings: Settings, store: Store, metrics: SiteMetrics) -> uvicorn.Server:
    return uvicorn.Server(
        uvicorn.Config(
            create_app(
                Parts(
                    store=store,
                    accounts=open_accounts(store.people, settings.registration),
                    receiver=open_receiver(settings, store),
                    owners=open_owners(settings, store),
                    metrics=metrics,
                    now=lambda: datetime.now(UTC),
                )
            ),
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=bool(settings.trusted_proxies),
            forwarded_allow_ips=sorted(settings.trusted_proxies),
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
    )


def _monitoring(address: Address | None, metrics: SiteMetrics) -> Listener | nullcontext[None]:
    """Return what Prometheus asks, if an address for it was set.

    Raises:
        CannotListen: Something else listens there.
    """
    return nullcontext() if address is None else Listener(address, {"/metrics": metrics_of(metrics.registry)})


def _say(text: str, level: int = logging.INFO) -> None:
    if not spoken(text, level):
        print(text, file=sys.stderr, flush=True)  # noqa: T201 - a command speaks on its terminal


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
