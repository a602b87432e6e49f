"""Ports for servers that need one in advance, and ports without a server."""

import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager

_FIRST, _LAST = 20_000, 32_000
"""Below the range from which the kernel assigns ports to connections."""


def free_port() -> int:
    """Return a port of this host that is not in use, and that the kernel assigns to no connection."""
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
    """Yield a port on which nothing listens, reserved until the context ends."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        yield port
