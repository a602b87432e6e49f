"""Sends notices as signed POST requests, following the Standard Webhooks specification 1.0.

A receiver checks ``webhook-signature``: HMAC-SHA256 over ``ID.TIMESTAMP.BODY``. The key is the part of the
secret after ``whsec_``, decoded from base64. ``webhook-id`` is the same for every attempt.
"""

import hmac
import socket
import ssl
from base64 import b64decode, b64encode
from collections.abc import Collection
from datetime import datetime
from hashlib import sha256
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from threading import Timer
from typing import Final

import msgspec

from arena.db.subscriptions import DueNotice
from arena.notices.addresses import SubscriptionRefused, WebhookTarget, parse_webhook, resolve

SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - a prefix

_TIMEOUT_SECONDS: Final = 5.0
_TOO_SLOW: Final = f"the server did not respond within {_TIMEOUT_SECONDS:.0f} s"
_SUCCESSES: Final = range(200, 300)
_REDIRECTS: Final = range(300, 400)


class NotDelivered(Exception):
    """A delivery failed. The message, without a full stop, is for the subscription's owner.

    If ``final`` is True, the subscription is switched off. If ``ours`` is True, the arena is at fault, not
    the receiver.
    """

    def __init__(self, why: str, *, final: bool = False, ours: bool = False) -> None:
        super().__init__(why)
        self.final = final
        self.ours = ours


def secret_of(random: str) -> str:
    """Return a webhook's secret, made from unpredictable text."""
    return SECRET_PREFIX + b64encode(sha256(random.encode()).digest()).decode()


def id_of(notice: DueNotice) -> str:
    """Return a notice's id: the same in each attempt, but different from the ids of all other notices."""
    # The number isn't enough: SQLite reuses numbers, and so does a restored database.
    return f"{notice.number}-{sha256(body_of(notice)).hexdigest()[:16]}"


def body_of(notice: DueNotice) -> bytes:
    """Return the JSON body of a notice's request."""
    news = notice.news
    data = {"bot": news.bot, "title": news.title, "text": news.text, "path": news.place}
    return msgspec.json.encode({"type": notice.topic, "timestamp": news.at, "data": data})


def signature(secret: str, id_: str, timestamp: int, body: bytes) -> str:
    """Return the value of ``webhook-signature``."""
    key = b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = hmac.digest(key, f"{id_}.{timestamp}.".encode() + body, "sha256")
    return f"v1,{b64encode(signed).decode()}"


class Webhooks:
    """Delivers notices to webhooks. ``named`` contains hosts (``HOST:PORT``) that may be on any network."""

    def __init__(self, named: Collection[str], tls: ssl.SSLContext) -> None:
        self._named = named
        self._tls = tls

    def send(self, notice: DueNotice, now: datetime) -> None:
        """Send a notice; return once the receiver has accepted it. Raises NotDelivered."""
        id_, body, timestamp = id_of(notice), body_of(notice), int(now.timestamp())
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "Kaiten",
            "webhook-id": id_,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": signature(notice.secret, id_, timestamp, body),
        }
        try:
            target = parse_webhook(notice.subscription.address, self._named)
            address = resolve(target)
        except SubscriptionRefused as error:
            raise NotDelivered(str(error)) from error
        status = self._post(target, address, headers, body)
        if status in _REDIRECTS:
            raise NotDelivered(f"the server responded with {status}, but redirects are not followed")
        if status not in _SUCCESSES:
            raise NotDelivered(f"the server responded with {status}", final=status == HTTPStatus.GONE)

    def _post(
        self, target: WebhookTarget, address: tuple[str, int], headers: dict[str, str], body: bytes
    ) -> int:
        """Send the request and return the response's status. The body is not read. Raises NotDelivered."""
        connection = _PinnedConnection(target, address, self._tls if target.tls else None)
        # The socket's own time limit applies to each read, so it doesn't stop a receiver that sends a byte at
        # a time.
        watch = Timer(_TIMEOUT_SECONDS, connection.cut)
        watch.start()
        try:
            connection.request("POST", target.path, body, headers)
            status = connection.getresponse().status
        except ssl.SSLCertVerificationError as error:
            raise NotDelivered(f"the server's certificate is not valid: {error.verify_message}") from error
        except (OSError, HTTPException, ValueError) as error:
            if connection.is_cut or isinstance(error, TimeoutError):
                raise NotDelivered(_TOO_SLOW) from error
            if isinstance(error, OSError):
                raise NotDelivered(f"the connection failed: {error.strerror or 'it was closed'}") from error
            raise NotDelivered("the server's response is not HTTP") from error
        finally:
            watch.cancel()
            connection.close()
        if connection.is_cut:
            raise NotDelivered(_TOO_SLOW)
        return status


class _PinnedConnection(HTTPConnection):
    """A connection to the address that was checked, even if the host's name now resolves to another one."""

    def __init__(self, target: WebhookTarget, address: tuple[str, int], tls: ssl.SSLContext | None) -> None:
        super().__init__(target.host, target.port, timeout=_TIMEOUT_SECONDS)
        self.default_port = 443 if tls else 80
        self._address = address
        self._context = tls
        self.is_cut = False

    def connect(self) -> None:
        self.sock = socket.create_connection(self._address, timeout=_TIMEOUT_SECONDS)
        if self._context is not None:
            sock = self._context.wrap_socket(
                self.sock, server_hostname=self.host, do_handshake_on_connect=False
            )
            self.sock = sock  # set before the handshake, so that it can be cut
            sock.do_handshake()

    def cut(self) -> None:
        """End the connection from another thread."""
        self.is_cut = True
        if (sock := self.sock) is not None:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:  # the connection is already closed
                return
