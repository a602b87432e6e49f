"""Where a cluster's scheduler is, and with what keys its members know each other."""

import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from distributed import Security

_ROLES: Final = ("client", "scheduler", "worker")


class WrongCluster(ValueError):
    """A cluster can't be used like this. The text says what to set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """What a member of a cluster shows, and whom it believes. Files in PEM.

    Attributes:
        ca: The certificate of the cluster's own authority: whoever has one of hers is let in, nobody else.
        cert: The member's certificate.
        key: Its private key.
    """

    ca: Path
    cert: Path
    key: Path


def is_loopback(host: str) -> bool:
    """Whether nobody outside of this machine can come to this host's name or address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def address_of(host: str, port: int, keys: Keys | None) -> str:
    """Return the address of a scheduler as dask writes it.

    Raises:
        WrongCluster: It can be reached from other machines, and there are no keys.
    """
    if keys is None and not is_loopback(host):
        raise WrongCluster(
            f"{host} can be reached from other machines, so the cluster needs keys: make them with "
            "`arena admin cluster-keys FOLDER`, and name them in ARENA_CLUSTER_CA, ARENA_CLUSTER_CERT and "
            "ARENA_CLUSTER_KEY. Without keys a cluster is at 127.0.0.1 alone"
        )
    written = f"[{host}]" if ":" in host else host
    return f"{'tcp' if keys is None else 'tls'}://{written}:{port}"


def security_of(keys: Keys | None) -> Security:
    """Return how members talk: each shows a certificate and asks for one; without keys in the clear.

    Raises:
        WrongCluster: A file can't be read.
    """
    if keys is None:
        return Security(require_encryption=False)
    for file in (keys.ca, keys.cert, keys.key):
        try:
            file.read_bytes()
        except OSError as error:
            raise WrongCluster(f"the cluster's key {file}: {error.strerror}") from error
    shown = {"cert": str(keys.cert), "key": str(keys.key)}
    return Security(
        require_encryption=True,
        tls_ca_file=str(keys.ca),
        tls_min_version=ssl.TLSVersion.TLSv1_3,
        **{f"tls_{role}_{part}": file for role in _ROLES for part, file in shown.items()},
    )
