"""Where something listens."""

from typing import NamedTuple

_MOST: int = 65535


class Address(NamedTuple):
    """A host and a port.

    Attributes:
        host: A name or an address, of IPv6 without brackets.
        port: 0 for a free one.
    """

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "Address | None":
        """Read ``HOST:PORT``, such as ``127.0.0.1:9464`` or ``[::1]:9464``; nothing is None.

        Raises:
            ValueError: It is neither.
        """
        if not text.strip():
            return None
        host, colon, port = text.strip().rpartition(":")
        host = host.removeprefix("[").removesuffix("]") if host.startswith("[") else host
        if not (colon and host and port.isascii() and port.isdigit() and int(port) <= _MOST):
            raise ValueError("it should be HOST:PORT, such as 127.0.0.1:9464")
        return cls(host, int(port))

    def __str__(self) -> str:
        """Return it as it is read."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
