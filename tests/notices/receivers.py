"""A receiver of webhooks over HTTP or HTTPS."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.message import Message
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from queue import Queue

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.ports import serving


@dataclass(frozen=True)
class Received:
    """A received request."""

    path: str
    headers: Message
    body: bytes

    @property
    def id(self) -> str:
        """The notification's ID."""
        return str(self.headers["webhook-id"])


@dataclass
class Receiver:
    """A running receiver."""

    port: int  # on 127.0.0.1
    status: int = 200  # of its responses
    requests: "Queue[Received]" = field(default_factory=Queue)  # that the test hasn't taken yet
    may_answer: threading.Event = field(default_factory=threading.Event)  # cleared to delay responses

    @property
    def url(self) -> str:
        """The receiver's HTTP address."""
        return f"http://127.0.0.1:{self.port}/hook?a=b"

    @property
    def named(self) -> frozenset[str]:
        """The host and port that the operator lists to allow the receiver."""
        return frozenset({f"127.0.0.1:{self.port}"})


@contextmanager
def receiver(tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """Run a receiver."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            running.requests.put(Received(self.path, self.headers, body))
            running.may_answer.wait()
            self.send_response(running.status)
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def handle(self) -> None:
            with suppress(OSError):  # the client may disconnect
                super().handle()

    with serving(Handler, tls) as port:
        running = Receiver(port)
        running.may_answer.set()
        try:
            yield running
        finally:
            running.may_answer.set()


def contexts(folder: Path, host: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return a server context with a certificate for a host, and a client context that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = datetime.now(UTC)
    cert = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / f"{host}.pem"
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        + cert.public_bytes(serialization.Encoding.PEM)
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    return server, ssl.create_default_context(cafile=file)
