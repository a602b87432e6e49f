"""Health, readiness and metrics of a process, served over HTTP."""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from http import HTTPStatus
from typing import Final, Generic, Self, TypeVar

import structlog
import uvicorn
from prometheus_client import CollectorRegistry, ProcessCollector, disable_created_metrics, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from arena.platform.settings import Address

STALE_SECONDS: Final = 10.0
"""A loop without an iteration for this long is considered hung."""

_IDLE_TIMEOUT_SECONDS: Final = 10
"""A connection without a request is closed after this long."""

_GRACE_SECONDS: Final = 1
"""Seconds by which requests in flight may delay the shutdown."""

_NO_STORE: Final = {"Cache-Control": "no-store"}

Check = Callable[[], str | None]
"""Returns, within a few seconds, a description of the problem, or None if there is none."""

Answer = Callable[[], Response]
"""Responds to a request, in a separate thread."""

T = TypeVar("T")

_log = structlog.get_logger()

disable_created_metrics()  # type: ignore[no-untyped-call] # nothing uses this second series of each counter


class CannotListen(Exception):
    """The server can't listen on an address; the message says why and what to do."""


class CallWithTimeout(Generic[T]):
    """Calls a function that may hang, and waits at most ``seconds`` for its result.

    Only one call runs at a time; concurrent callers share its result.
    """

    def __init__(self, function: Callable[[], T], seconds: float) -> None:
        self._function = function
        self._seconds = seconds
        self._future: Future[T] | None = None
        self._lock = threading.Lock()

    def __call__(self) -> T:
        """Return the function's result, or raise its error.

        Raises TimeoutError if the call has not returned in time. The call itself continues.
        """
        return self.begin().result(self._seconds)

    def begin(self) -> Future[T]:
        """Return the future of the running call, or of a new one."""
        with self._lock:
            if self._future is None or self._future.done():
                future: Future[T] = Future()
                future.set_running_or_notify_cancel()  # no caller can cancel it
                # A daemon thread, because a hung call must not delay the shutdown.
                threading.Thread(target=self._run, args=(future,), name="check", daemon=True).start()
                self._future = future  # only now: without a thread, it would never be done
            return self._future

    def _run(self, future: "Future[T]") -> None:
        try:
            future.set_result(self._function())
        except Exception as error:  # noqa: BLE001 - raised again in the caller
            future.set_exception(error)


def loop_check(last: Callable[[], float | None], clock: Callable[[], float]) -> Check:
    """Return a check that a loop is still running.

    ``last`` returns the time of the last iteration, in seconds on the monotonic ``clock``. It returns None
    before the first iteration, which may take minutes to begin.
    """

    def check() -> str | None:
        iterated = last()
        silent = 0.0 if iterated is None else clock() - iterated
        return None if silent < STALE_SECONDS else f"hung for {silent:.0f} s"

    return check


def new_registry() -> CollectorRegistry:
    """Return a registry with the process metrics: CPU time, memory and open files."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    return registry


def metrics_of(registry: CollectorRegistry) -> Answer:
    """Return a handler that serves all metrics in the Prometheus text format."""
    return lambda: Response(generate_latest(registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)


def checked(checks: Mapping[str, Check]) -> Answer:
    """Return a handler that sends ``ok``, or 503 with the failed checks as problem details (RFC 9457)."""

    def answer() -> Response:
        found = {name: check() for name, check in checks.items()}
        missing = {name: reason for name, reason in found.items() if reason is not None}
        if not missing:
            return PlainTextResponse("ok\n")
        status = HTTPStatus.SERVICE_UNAVAILABLE
        problem = {
            "type": "about:blank",
            "title": status.phrase,
            "status": status,
            "detail": "; ".join(f"{name}: {reason}" for name, reason in missing.items()),
            "missing": missing,
        }
        return JSONResponse(problem, status, media_type="application/problem+json")

    return answer


class OpsServer:
    """Serves GET and HEAD at an address within its context; ``answers`` are handlers by path.

    Raises CannotListen if the address is in use, or doesn't belong to this machine.
    """

    def __init__(self, address: Address, answers: Mapping[str, Answer]) -> None:
        try:
            family, _, _, _, place = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)[0]
            self._socket = socket.create_server((str(place[0]), address.port), family=family)
        except (OSError, UnicodeError) as error:  # UnicodeError: not a valid host name
            raise CannotListen(
                f"can't listen on {address} ({error}): stop the program that is using it, or use another "
                "address"
            ) from error
        host, port = self._socket.getsockname()[:2]
        self.address = Address(str(host), int(port))
        routes = [Route(path, _endpoint(answer)) for path, answer in answers.items()]
        self._server = uvicorn.Server(
            uvicorn.Config(
                Starlette(routes=routes),
                http=_IdleTimeoutProtocol,
                ws="none",
                lifespan="off",
                timeout_keep_alive=_IDLE_TIMEOUT_SECONDS,
                timeout_graceful_shutdown=_GRACE_SECONDS,
                log_config=None,
                access_log=False,
                server_header=False,
            )
        )
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, name="monitoring", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


class _IdleTimeoutProtocol(H11Protocol):
    """Closes connections that send no request; uvicorn's own timeout begins after the first request."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        super().connection_made(transport)
        self.loop.call_later(_IDLE_TIMEOUT_SECONDS, self._close_if_idle)

    def _close_if_idle(self) -> None:
        if self.cycle is None:
            self.transport.close()


def _endpoint(answer: Answer) -> Callable[[Request], Awaitable[Response]]:
    # Don't run this in the event loop: a check or a collector may hang and must not block other requests.
    call = CallWithTimeout(answer, 0)

    async def respond(_: Request) -> Response:
        try:
            response = await asyncio.wrap_future(call.begin())
        except Exception:  # noqa: BLE001 - answered with 500; the next request may succeed
            _log.exception("health or metrics request failed")
            response = PlainTextResponse("request failed: see the log\n", HTTPStatus.INTERNAL_SERVER_ERROR)
        response.headers.update(_NO_STORE)
        return response

    return respond
