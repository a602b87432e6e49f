"""Paths in a tar: relative to a root that they can't leave."""

from typing import Final

from arena.intake.errors import Rejected
from arena.intake.limits import IntakeLimits

MAX_PART_BYTES: Final = 255
"""Of one name in a folder, as Linux's file systems have it."""

Parts = tuple[str, ...]
"""A path as its names from the root on; none for the root itself."""


def split(name: bytes, what: str, limits: IntakeLimits) -> Parts:
    """Return a path's parts, without doubled slashes and single dots.

    Args:
        name: As it stands in the tar.
        what: The tar's name in errors.
        limits: Its length and depth.

    Raises:
        Rejected: It is absolute, leads out of the tar, or is too long or no Unicode.
    """
    text = decode(name, what, limits)
    if text.startswith("/"):
        raise Rejected(f"{what}: the path {shown(text)} is absolute: paths in a tar begin without a slash")
    parts = tuple(part for part in text.split("/") if part not in {"", "."})
    if ".." in parts:
        raise Rejected(f"{what}: the path {shown(text)} has '..' in it and could lead out")
    if len(parts) > limits.depth:
        raise Rejected(
            f"{what}: the path {shown(text)} is {len(parts)} folders deep; {limits.depth} are taken"
        )
    if any(len(part.encode()) > MAX_PART_BYTES for part in parts):
        raise Rejected(f"{what}: the path {shown(text)} has a name of more than {MAX_PART_BYTES} bytes")
    return parts


def decode(name: bytes, what: str, limits: IntakeLimits) -> str:
    """Return a path or a link's target as text.

    Raises:
        Rejected: It is too long, no Unicode, or has a NUL in it.
    """
    if len(name) > limits.name_bytes:
        raise Rejected(f"{what}: a path has {len(name)} bytes; at most {limits.name_bytes} are taken")
    if b"\0" in name:
        raise Rejected(f"{what}: the path {name[:80]!r} has a NUL in it")
    try:
        return name.decode()
    except UnicodeDecodeError:
        raise Rejected(f"{what}: the path {name[:80]!r} is no UTF-8: rename the file") from None


def shown(name: str) -> str:
    """Return a path for an error's text: short, in ASCII."""
    return ascii(name if len(name) <= 80 else f"{name[:60]}…{name[-19:]}")  # noqa: PLR2004 - 60 + 1 + 19
