"""The cluster's own authority, and a certificate for each of its members. Files in PEM.

FOLDER/ca.pem            the authority's certificate: every member has a copy
FOLDER/ca.key            its key: whoever has this lets others in; members need it not
FOLDER/NAME.pem, .key    what a member shows
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

AUTHORITY: Final = "ca"
_YEARS: Final = timedelta(days=5 * 365)
_SKEW: Final = timedelta(hours=1)
"""Clocks of hosts differ."""

_USES: Final = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH])


class KeysTrouble(Exception):
    """Keys can't be made. The text says why."""


def make_keys(folder: Path, names: Sequence[str], now: datetime) -> tuple[Path, ...]:
    """Make a certificate for each name by the authority in this folder, which is made where there is none.

    Args:
        folder: Made where it is missing, for its user alone.
        names: Of members. Nothing that is there is written over.
        now: UTC.

    Returns:
        The certificates' files; each has its key beside it.

    Raises:
        KeysTrouble: A name is taken or can't be one, or a file can't be read or written.
    """
    for name in names:
        if name == AUTHORITY or not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
            raise KeysTrouble(f"{name!r} can't be a member's name: use letters, digits, - and _, and not ca")
        if (folder / f"{name}.pem").exists() or (folder / f"{name}.key").exists():
            raise KeysTrouble(
                f"{folder / name}.pem is there already: remove it first, or choose another name"
            )
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        authority, key = _authority(folder, now)
        return tuple(_member(folder, name, authority, key, now) for name in names)
    except (OSError, ValueError, TypeError) as error:
        raise KeysTrouble(f"keys can't be made in {folder}: {error}") from error


def _authority(folder: Path, now: datetime) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    cert_file, key_file = folder / f"{AUTHORITY}.pem", folder / f"{AUTHORITY}.key"
    if cert_file.exists():
        key = serialization.load_pem_private_key(key_file.read_bytes(), None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise ValueError(f"{key_file} is a key of another kind than this makes")
        return x509.load_pem_x509_certificate(cert_file.read_bytes()), key
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name("Kaiten cluster")
    constraint = x509.BasicConstraints(ca=True, path_length=0)
    certificate = _draft(name, name, key.public_key(), now).add_extension(constraint, critical=True)
    signed = certificate.sign(key, hashes.SHA256())
    _write_pair(folder, AUTHORITY, signed, key)
    return signed, key


def _member(
    folder: Path, name: str, authority: x509.Certificate, signs: ec.EllipticCurvePrivateKey, now: datetime
) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    draft = _draft(_name(name), authority.subject, key.public_key(), now)
    draft = draft.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    signed = draft.add_extension(_USES, critical=False).sign(signs, hashes.SHA256())
    return _write_pair(folder, name, signed, key)


def _draft(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime
) -> x509.CertificateBuilder:
    return x509.CertificateBuilder(
        issuer_name=issuer,
        subject_name=subject,
        public_key=key,
        serial_number=x509.random_serial_number(),
        not_valid_before=now - _SKEW,
        not_valid_after=now + _YEARS,
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _write_pair(
    folder: Path, name: str, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey
) -> Path:
    """Write a key and then its certificate, the key for its user alone."""
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(folder / f"{name}.key", flags, 0o600), "wb") as file:
        file.write(secret)
    shown = folder / f"{name}.pem"
    shown.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return shown
