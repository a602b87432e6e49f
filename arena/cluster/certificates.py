"""The cluster's own authority, and a folder for each of its members with all that it needs. Files in PEM.

FOLDER/ca.pem, ca.key       the authority's certificate, and its key: whoever has this one lets others in
FOLDER/NAME/ca.pem          a copy of the certificate: whom the member believes
FOLDER/NAME/member.pem      what it shows
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

AUTHORITY: Final = "ca"
MEMBER: Final = "member"
"""Names of the files, without their endings."""

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
        names: Of members. No certificate is written over. A key without one is what somebody has left who
            was killed here, and is made anew.
        now: UTC.

    Returns:
        Their folders. Each is for its member alone, and all that it needs.

    Raises:
        KeysTrouble: A name is taken or can't be one, or a file can't be read or written.
    """
    for name in names:
        if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
            raise KeysTrouble(f"{name!r} can't be a member's name: use letters, digits, - and _")
        if (folder / name / f"{MEMBER}.pem").exists():
            raise KeysTrouble(f"{folder / name} is there already: remove it first, or choose another name")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        authority, key = _authority(folder, now)
        return tuple(_member(folder / name, authority, key, now) for name in names)
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
    folder: Path, authority: x509.Certificate, signs: ec.EllipticCurvePrivateKey, now: datetime
) -> Path:
    folder.mkdir(mode=0o700, exist_ok=True)
    key = ec.generate_private_key(ec.SECP256R1())
    draft = _draft(_name(folder.name), authority.subject, key.public_key(), now)
    draft = draft.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    signed = draft.add_extension(_USES, critical=False).sign(signs, hashes.SHA256())
    _write(folder / f"{AUTHORITY}.pem", authority.public_bytes(serialization.Encoding.PEM), 0o644)
    _write_pair(folder, MEMBER, signed, key)
    return folder


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
) -> None:
    """Write a key for its user alone, and then its certificate: where that is, all is there."""
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    _write(folder / f"{name}.key", secret, 0o600)
    _write(folder / f"{name}.pem", certificate.public_bytes(serialization.Encoding.PEM), 0o644)


def _write(file: Path, data: bytes, mode: int) -> None:
    """Write a file so that it is there as a whole or not at all."""
    part = file.with_name(f"{file.name}.part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as output:
        output.write(data)
    part.replace(file)
