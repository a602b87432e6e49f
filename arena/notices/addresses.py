"""Email and webhook addresses. A webhook's address must not lead into the arena's own network.

A webhook's address is checked twice: its text when the webhook is added, and its host's network addresses
before each delivery. The delivery connects to the checked network address (:mod:`arena.notices.webhooks`).
"""

import re
import socket
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Final
from urllib.parse import urlsplit

from arena.platform.settings import Address

_MAX_LENGTH: Final = 500
_HTTPS: Final = 443
_PRINTABLE_ASCII: Final = re.compile(r"[!-~]+")
_DEFAULT_PORTS: Final = {"https": _HTTPS, "http": 80}
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")

_MAIL: Final = re.compile(
    r"(?!.*=\?)"
    r"(?=[^@]{1,64}@)[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
    r"@([A-Za-z0-9-]{1,63}\.)+[A-Za-z0-9-]{2,63}"
)
"""RFC 5322's syntax for an unquoted email address, with at least one dot in the domain.

It must not contain ``=?``. In a header, that begins an encoded word (RFC 2047), which may stand for a line
break or for other recipients.
"""

_MAX_MAIL_LENGTH: Final = 254


class SubscriptionRefused(ValueError):
    """An address can't be used. The message is for its owner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookTarget:
    """The parts of a webhook's address."""

    host: str
    port: int
    path: str  # with the query
    tls: bool
    named: bool  # whether the operator exempts the host from the rules about networks, ports and TLS


def check_mail(address: str) -> None:
    """Check the syntax of an email address. Raises SubscriptionRefused."""
    if len(address) > _MAX_MAIL_LENGTH or not _MAIL.fullmatch(address):
        raise SubscriptionRefused("this is not an email address: enter an address such as ann@mail.example")


def parse_webhook(url: str, named: Collection[str]) -> WebhookTarget:
    """Return the parts of a webhook's address.

    ``named`` contains the hosts, as ``HOST:PORT``, that the operator exempts from the rules about
    networks, ports and TLS. Raises SubscriptionRefused.
    """
    if len(url) > _MAX_LENGTH or not _PRINTABLE_ASCII.fullmatch(url):
        raise SubscriptionRefused(
            f"the address must consist of at most {_MAX_LENGTH} ASCII characters, without spaces"
        )
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or _DEFAULT_PORTS.get(parts.scheme)
    except ValueError as error:
        raise SubscriptionRefused("the address can't be parsed: check its host and port") from error
    if not host or port is None:
        raise SubscriptionRefused("the address must begin with https:// and have a host")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise SubscriptionRefused("the address must not contain a user name, password or fragment")
    target = WebhookTarget(
        host=host,
        port=port,
        path=f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}",
        tls=parts.scheme == "https",
        named=str(Address(host, port)) in named,
    )
    if not target.named and (not target.tls or port != _HTTPS):
        raise SubscriptionRefused(f"the address must begin with https:// and use port {_HTTPS}")
    if not target.named and _is_address(host):
        _check_public(host)
    return target


def resolve(target: WebhookTarget) -> tuple[str, int]:
    """Return the address and port to connect to.

    Raises SubscriptionRefused if the host can't be found or one of its addresses isn't public.
    """
    try:
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise SubscriptionRefused(f"the host {target.host} can't be found") from error
    addresses = [str(each[4][0]) for each in found]
    if not target.named:
        for address in addresses:
            _check_public(address)
    return addresses[0], target.port


def is_public(address: str) -> bool:
    """Return True if an address is public and unicast, and embeds no IPv4 address."""
    ip = ip_address(address)
    if isinstance(ip, IPv6Address):
        # Addresses outside 2000::/3 may embed an IPv4 address, as in ::ffff:0:0/96 and 64:ff9b::/96.
        return ip.is_global and ip in _GLOBAL_UNICAST and ip.sixtofour is None and ip.teredo is None
    return ip.is_global and not ip.is_multicast


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _check_public(address: str) -> None:
    if not is_public(address):
        raise SubscriptionRefused(f"{address} is not a public address")
