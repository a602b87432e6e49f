"""The scheduler, and what all cluster members share: shutdown signals, health and connection settings."""

import asyncio
import logging
import signal
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import dask.config
from distributed import Scheduler, Security

from arena.platform.names import is_loopback

_POLL_SECONDS: Final = 0.1
_TICK_SECONDS: Final = 1.0
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class ShutdownSignal:
    """The shutdown signals so far. The first one requests draining, and the second one an immediate stop."""

    def __init__(self) -> None:
        self.once = asyncio.Event()
        self.twice = asyncio.Event()

    def signal(self) -> None:
        """Record a signal."""
        (self.twice if self.once.is_set() else self.once).set()


class MemberHealth:
    """A member's health, readable from other threads."""

    def __init__(self, missing: str) -> None:
        self.missing: str | None = missing  # why the member is not ready, or None
        # When the event loop last ran, in seconds of the monotonic clock; None if none is running.
        self.last_tick: float | None = None

    @asynccontextmanager
    async def ticking(self) -> AsyncIterator[None]:
        """Keep ``last_tick`` up to date while the current event loop is running."""
        task = asyncio.create_task(self._tick())
        try:
            yield
        finally:
            task.cancel()
            self.last_tick = None

    async def _tick(self) -> None:
        while True:
            self.last_tick = time.monotonic()
            await asyncio.sleep(_TICK_SECONDS)


@contextmanager
def shutdown_signals() -> Iterator[ShutdownSignal]:
    """Listen for SIGTERM, SIGINT and SIGHUP. Requires a running event loop."""
    loop, shutdown = asyncio.get_running_loop(), ShutdownSignal()
    for number in _SIGNALS:
        loop.add_signal_handler(number, shutdown.signal)
    try:
        yield shutdown
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


async def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until a condition that depends on other threads is true."""
    while not condition():  # noqa: ASYNC110 - threads can't set this loop's events
        await asyncio.sleep(_POLL_SECONDS)


async def wait_for(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, but no longer than ``seconds``."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


_ROLES: Final = ("client", "scheduler", "worker")


class WrongCluster(ValueError):
    """The cluster settings are invalid; the message says what to set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """A cluster member's TLS files, in PEM format."""

    ca: Path  # the cluster's authority; only members with a certificate from it are admitted
    cert: Path  # the member's certificate
    key: Path  # the member's private key


def address_of(host: str, port: int, keys: Keys | None) -> str:
    """Return the address of a scheduler as dask writes it.

    Raises WrongCluster if other machines can reach the address and there are no keys.
    """
    if keys is None and not is_loopback(host):
        raise WrongCluster(
            f"{host} can be reached from other machines, so the cluster needs keys: create them with "
            "`arena admin cluster-keys FOLDER`, and set ARENA_CLUSTER_CA, ARENA_CLUSTER_CERT and "
            "ARENA_CLUSTER_KEY. Without keys, a cluster works only on a loopback address"
        )
    written = f"[{host}]" if ":" in host else host
    return f"{'tcp' if keys is None else 'tls'}://{written}:{port}"


def security_of(keys: Keys | None) -> Security:
    """Return the connection security: mutual TLS, or plain text if there are no keys.

    Raises WrongCluster if a file can't be read.
    """
    if keys is None:
        return Security(require_encryption=False)
    for file in (keys.ca, keys.cert, keys.key):
        try:
            file.read_bytes()
        except OSError as error:
            raise WrongCluster(f"the cluster's TLS file {file} can't be read: {error.strerror}") from error
    shown = {"cert": str(keys.cert), "key": str(keys.key)}
    return Security(
        require_encryption=True,
        tls_ca_file=str(keys.ca),
        tls_min_version=ssl.TLSVersion.TLSv1_3,
        **{f"tls_{role}_{part}": file for role in _ROLES for part, file in shown.items()},
    )


_SETTINGS: Final[dict[str, Any]] = {
    # Serve only the cluster's own protocol.
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    # A match stays with the worker whose seats were reserved.
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.worker.profile.enabled": False,
    # A vanished host is declared lost after at most 24 s, or 32 s with 50 to 200 workers.
    "distributed.scheduler.worker-ttl": "12s",
    "distributed.comm.timeouts.tcp": "20s",
    "distributed.comm.timeouts.connect": "5s",
    # Otherwise, the scheduler would store every progress message, and never drop those of ended sessions.
    "distributed.admin.log-length": 1,
    "distributed.admin.low-level-log-length": 100,
    "distributed.scheduler.events-cleanup-delay": "1 minute",
    "distributed.diagnostics.nvml": False,
    "distributed.diagnostics.cudf": False,
}

UNUSED_ADDRESS: Final = "127.0.0.1:0"
"""Address for dask's HTTP server, which can't be disabled: any free port that only this machine can reach."""


def configure_dask() -> None:
    """Apply the settings to this process; call this before creating a cluster member."""
    dask.config.set(_SETTINGS)
    # Importing dask installs log handlers. The arena logs the relevant events itself.
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in {"distributed", "tornado", "bokeh", "asyncio"}:
            logger = logging.getLogger(name)
            logger.handlers.clear()
            logger.propagate = True
            logger.setLevel(logging.CRITICAL + 1)


async def run_scheduler(
    host: str, port: int, keys: Keys | None, health: MemberHealth, listening: Callable[[str], None]
) -> None:
    """Serve workers and coordinators until a shutdown signal; pass the address to ``listening``.

    ``port`` 0 means any free port. Without ``keys``, ``host`` must be a loopback address. Raises OSError if
    the address can't be used, or WrongCluster if keys are missing or can't be read.
    """
    configure_dask()
    address = address_of(host, port, keys)
    with shutdown_signals() as shutdown:
        # The coordinator, not dask, retries matches that were lost with their worker.
        async with (
            health.ticking(),
            Scheduler(
                host=address,
                security=security_of(keys),
                allowed_failures=0,
                dashboard=False,
                dashboard_address=UNUSED_ADDRESS,
            ) as scheduler,
        ):
            health.missing = None
            listening(scheduler.address)
            await shutdown.once.wait()
            health.missing = "the scheduler is shutting down"
