"""A TCP relay to a site. The test can cut its connections."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit


class Relay:
    """Relays bytes between clients and a site.

    Args:
        url: The site's address.
    """

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self._site = (address.hostname or "", address.port or 0)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lines: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._start(self._listen)

    @property
    def url(self) -> str:
        """The relay's own address."""
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def cut(self) -> None:
        """Close all open connections. New ones can be opened."""
        for line in self._lines[:]:
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the relay and all its connections."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self.cut()
        for thread in self._threads:
            thread.join()
        for line in (*self._lines, self._listener):
            line.close()

    def _start(self, work: Callable[..., None], *args: socket.socket) -> None:
        thread = threading.Thread(target=work, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                site = socket.create_connection(self._site)
                self._lines += [client, site]
                self._start(self._pass, client, site)
                self._start(self._pass, site, client)

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)
