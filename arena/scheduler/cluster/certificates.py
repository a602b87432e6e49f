"""Creates the cluster's certificate authority, and a folder of TLS files for each member, in PEM format.

FOLDER/ca.pem, ca.key       the authority's certificate, and its private key, which is needed to admit members
FOLDER/NAME/ca.pem          a copy of the authority's certificate
FOLDER/NAME/member.pem      the member's certificate
FOLDER/NAME/member.key      its private key
"""

import os
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from arena.platform.files import sync

AUTHORITY: Final = "ca"
MEMBER: Final = "member"
"""File names without extensions."""

_YEARS: Final = timedelta(days=5 * 365)
_SKEW: Final = timedelta(hours=1)
"""Tolerated difference between the hosts' clocks."""

_USES: Final = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH])


class CertificateError(Exception):
    """Keys can't be created; the message says why."""


def make_keys(folder: Path, names: Sequence[str], now: datetime) -> tuple[Path, ...]:
    """Create the authority if necessary, then a certificate for each member; return the members' folders.

    Folders are readable only by the current user. Certificates are never overwritten, but a key without a
    certificate, left by an interrupted call, is replaced. ``now`` is in UTC. Raises CertificateError if a
    name is in use or invalid, the authority has expired, or a file can't be read or written.
    """
    for name in names:
        if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
            raise CertificateError(f"{name!r} is not a valid member name: use letters, digits, - and _")
        if (folder / name / f"{MEMBER}.pem").exists():
            raise CertificateError(f"{folder / name} already exists: remove it first, or choose another name")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        authority, key = _ensure_authority(folder, now)
        if authority.not_valid_after_utc <= now:
            raise CertificateError(
                f"the authority in {folder} expired on {authority.not_valid_after_utc:%Y-%m-%d}: "
                "create a new one, and new keys for all members, in another folder"
            )
        return tuple(_create_member(folder / name, authority, key, now) for name in names)
    except (OSError, ValueError, TypeError) as error:
        raise CertificateError(f"keys can't be created in {folder}: {error}") from error


def _ensure_authority(folder: Path, now: datetime) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    cert_file, key_file = folder / f"{AUTHORITY}.pem", folder / f"{AUTHORITY}.key"
    if cert_file.exists():
        key = serialization.load_pem_private_key(key_file.read_bytes(), None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise ValueError(f"{key_file} is not an elliptic-curve key")
        return x509.load_pem_x509_certificate(cert_file.read_bytes()), key
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name("Kaiten cluster")
    constraint = x509.BasicConstraints(ca=True, path_length=0)
    certificate = _builder(name, name, key.public_key(), now, now + _YEARS).add_extension(
        constraint, critical=True
    )
    signed = certificate.sign(key, hashes.SHA256())
    _write_pair(folder, AUTHORITY, signed, key)
    return signed, key


def _create_member(
    folder: Path, authority: x509.Certificate, authority_key: ec.EllipticCurvePrivateKey, now: datetime
) -> Path:
    folder.mkdir(mode=0o700, exist_ok=True)
    key = ec.generate_private_key(ec.SECP256R1())
    until = min(now + _YEARS, authority.not_valid_after_utc)
    draft = _builder(_name(folder.name), authority.subject, key.public_key(), now, until)
    draft = draft.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    signed = draft.add_extension(_USES, critical=False).sign(authority_key, hashes.SHA256())
    _write(folder / f"{AUTHORITY}.pem", authority.public_bytes(serialization.Encoding.PEM), 0o644)
    _write_pair(folder, MEMBER, signed, key)
    return folder


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, until: datetime
) -> x509.CertificateBuilder:
    return x509.CertificateBuilder(
        issuer_name=issuer,
        subject_name=subject,
        public_key=key,
        serial_number=x509.random_serial_number(),
        not_valid_before=now - _SKEW,
        not_valid_after=until,
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _write_pair(
    folder: Path, name: str, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey
) -> None:
    """Write a private key, then its certificate. If the certificate exists, both files are complete."""
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    _write(folder / f"{name}.key", secret, 0o600)
    _write(folder / f"{name}.pem", certificate.public_bytes(serialization.Encoding.PEM), 0o644)


def _write(file: Path, data: bytes, mode: int) -> None:
    """Write a file atomically and durably."""
    part = file.with_name(f"{file.name}.part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as output:
        output.write(data)
    sync(part)  # otherwise a power failure could leave an empty file, which would never be replaced
    part.replace(file)
    sync(file.parent)  # otherwise a certificate could outlast its key
