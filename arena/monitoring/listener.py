"""A small HTTP server beside a process, for those who look after it: its supervisor and Prometheus.

It has an address of its own, so that it can be where the public is not, and threads of its own, so that it
answers while the rest of the process is busy.
"""

import json
import socket
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Final, NamedTuple, Self
from urllib.parse import urlsplit

import structlog
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from arena.monitoring.address import Address
from arena.monitoring.health import Check, missing_of

_log = structlog.get_logger()

_PATIENCE_SECONDS: Final = 10.0
"""How long somebody who asks may be silent."""


class CannotListen(Exception):
    """Nothing can listen at an address; the text says why and what to do."""


class Answer(NamedTuple):
    """What is sent.

    Attributes:
        status: Of HTTP.
        media_type: Of the body.
        body: The whole.
    """

    status: HTTPStatus
    media_type: str
    body: bytes


Route = Callable[[], Answer]


def metrics_of(registry: CollectorRegistry) -> Route:
    """Return what answers with all metrics, in Prometheus' text format."""
    return lambda: Answer(HTTPStatus.OK, CONTENT_TYPE_PLAIN_0_0_4, generate_latest(registry))


def checked(checks: Mapping[str, Check]) -> Route:
    """Return what answers ``ok``, or 503 and what is missing as a problem (RFC 9457).

    Args:
        checks: By the name of what is checked.
    """

    def answer() -> Answer:
        missing = missing_of(checks)
        if not missing:
            return Answer(HTTPStatus.OK, "text/plain; charset=utf-8", b"ok\n")
        status = HTTPStatus.SERVICE_UNAVAILABLE
        problem = {
            "type": "about:blank",
            "title": status.phrase,
            "status": status,
            "detail": "; ".join(f"{name}: {reason}" for name, reason in missing.items()),
            "missing": missing,
        }
        return Answer(status, "application/problem+json", json.dumps(problem).encode())

    return answer


class Listener:
    """Answers GET and HEAD at an address for as long as its context lasts.

    Args:
        address: Where.
        routes: By path.

    Raises:
        CannotListen: Something else listens there, or the address is not this machine's.
    """

    def __init__(self, address: Address, routes: Mapping[str, Route]) -> None:
        try:
            self._server = _Server(address, routes)
        except (OSError, UnicodeError) as error:  # the latter where it can't be a host's name
            raise CannotListen(
                f"can't listen on {address}: {error}. End what does, or name another one"
            ) from error
        host, port = self._server.server_address[:2]
        self.address = Address(str(host), int(port))
        self._thread = threading.Thread(target=self._server.serve_forever, name="monitoring", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: Address, routes: Mapping[str, Route]) -> None:
        family, _, _, _, place = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)[0]
        self.address_family = family
        self.routes = routes
        super().__init__((str(place[0]), address.port), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Log it: who asks may be gone before the answer."""
        del request, client_address
        _log.debug("no answer could be sent", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _PATIENCE_SECONDS
    server_version = "kaiten"
    sys_version = ""

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def log_message(self, *_: object) -> None:
        """Say nothing: these are asked for every few seconds."""

    def _answer(self, *, with_body: bool) -> None:
        route = self.server.routes.get(urlsplit(self.path).path)
        answer = _NOT_FOUND if route is None else _of(route)
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.media_type)
        self.send_header("Content-Length", str(len(answer.body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if with_body:
            self.wfile.write(answer.body)


_NOT_FOUND: Final = Answer(HTTPStatus.NOT_FOUND, "text/plain; charset=utf-8", b"there is nothing here\n")
_FAILED: Final = Answer(
    HTTPStatus.INTERNAL_SERVER_ERROR,
    "text/plain; charset=utf-8",
    b"this could not be found out; see the log\n",
)


def _of(route: Route) -> Answer:
    try:
        return route()
    except Exception:  # noqa: BLE001 - whoever asks is told, and the next one may have more luck
        _log.exception("a supervisor's question could not be answered")
        return _FAILED
