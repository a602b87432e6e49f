"""Ports for servers that must be told theirs beforehand, and one where there is none."""

import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager

_FIRST, _LAST = 20_000, 32_000
"""Below those that the kernel gives to anyone who asks for any, such as every connection of another test."""


def free_port() -> int:
    """Return a port of this machine on which nobody listens, and which nobody is given by chance."""
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
    """Give a port on which nobody listens, and which nobody else is given meanwhile."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        yield port
