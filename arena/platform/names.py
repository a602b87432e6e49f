"""Names of bots, authors and hosts."""

import re
from ipaddress import ip_address
from typing import Final

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{1,39}")
_MAX_QUOTED: Final = 40

HOUSE: Final = "house"
"""Author name of the house bots."""

FORMER: Final = "former-"
"""Prefix of deleted accounts' pseudonyms."""

_RESERVED: Final = (
    # Could be mistaken for the arena or its staff.
    *("admin", "administrator", "arena", "everybody", "everyone", "house", "kaiten", "mod", "moderator"),
    *("official", "operator", "owner", "referee", "root", "staff", "support", "system", "terminal"),
    # Used by the arena itself.
    *("anonymous", "api", "dummy", "guest", "local", "nobody", "stand-in", "unknown", "you"),
    # Special values in programs.
    *("false", "nan", "nil", "none", "null", "true", "undefined"),
)

LOOKALIKES: Final = {"i": "l", "1": "l", "0": "o", "_": "-"}
"""Maps lowercase characters to the characters that they look like."""


class WrongName(ValueError):
    """A name can't be used. The message is for the user."""


def check_name(name: str, what: str) -> None:
    """Check a name's characters and length. ``what`` is the kind of thing that has the name, such as ``bot``.

    Raises WrongName; its message says what is allowed.
    """
    if not _NAME.fullmatch(name):
        raise WrongName(
            f"{name[:_MAX_QUOTED]!a} is not a valid {what} name: use 2 to 40 letters from a to z, digits, "
            "- and _, with a letter or a digit first"
        )


def skeleton(name: str) -> str:
    """Return a name's skeleton. People may confuse two names with the same skeleton.

    The skeleton ignores case. It is the same for ``i``, ``l`` and ``1``, for ``o`` and ``0``, and for ``-``
    and ``_``.
    """
    return "".join(LOOKALIKES.get(letter, letter) for letter in name.lower())


def is_reserved(name: str) -> bool:
    """Return True if accounts and bots can't have this name because it looks like a reserved one."""
    own = skeleton(name)
    return own.replace("-", "") in _RESERVED_SKELETONS or own.startswith(skeleton(FORMER))


_RESERVED_SKELETONS: Final = frozenset(skeleton(name).replace("-", "") for name in _RESERVED)


def is_loopback(host: str) -> bool:
    """Return True if this name or address is reachable only from this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
