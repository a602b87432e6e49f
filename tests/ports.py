"""Ports for servers that need one in advance, and ports without a server."""

import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager

_FIRST, _LAST = 20_000, 32_000
"""Bounds below the range from which the kernel assigns ports to connections."""


def free_port() -> int:
    """Return an unused port of this host, outside the range that the kernel assigns to connections."""
    while True:
        port = _FIRST + secrets.randbelow(_LAST - _FIRST)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


@contextmanager
def silent_port() -> Iterator[int]:
    """Yield a port on which nothing is listening, reserved until the context ends."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        yield port
