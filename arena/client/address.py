"""Addresses of sites."""

from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from arena.client.errors import WrongLogin

_PORTS: Final = {"http": 80, "https": 443}
_EXAMPLE: Final = "name the site with its scheme and without a path, such as https://arena.example"


def check_address(text: str) -> str:
    """Return a site's address as it is kept: ``https://arena.example``, in lower case, without a slash.

    Raises:
        WrongLogin: It can't be the address of a site.
    """
    try:
        parts = urlsplit(text.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise WrongLogin(f"{text!a} is no address: {_EXAMPLE}") from error
    beyond = (parts.path.rstrip("/"), parts.query, parts.fragment, parts.username, parts.password)
    if parts.scheme not in _PORTS or not host or not f"{host}".isprintable() or " " in host or any(beyond):
        raise WrongLogin(f"{text!a} can't be the address of a site: {_EXAMPLE}")
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}" + ("" if port in {None, _PORTS[parts.scheme]} else f":{port}")


def can_be_read_on_its_way(address: str) -> bool:
    """Return whether what is sent to this site crosses a network as it is, without HTTPS."""
    parts = urlsplit(address)
    return parts.scheme == "http" and not _is_this_machine(parts.hostname or "")


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
