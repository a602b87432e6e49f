"""Which names an account may have."""

from typing import Final

from arena.names import WrongName, check_name

FORMER: Final = "former-"
"""How the pseudonyms of deleted accounts begin."""

_RESERVED: Final = frozenset(
    {
        "admin",
        "administrator",
        "anonymous",
        "arena",
        "everybody",
        "everyone",
        "house",
        "kaiten",
        "local",
        "moderator",
        "nobody",
        "operator",
        "root",
        "staff",
        "support",
        "system",
        "terminal",
        "unknown",
    }
)
"""Names that would speak for the arena, or that it uses itself."""


def check_account_name(name: str) -> None:
    """Make sure that an account may have this name.

    Raises:
        WrongName: It says what is allowed.
    """
    check_name(name, "user")
    key = name.lower()
    if key in _RESERVED or key.startswith(FORMER):
        raise WrongName(f"the name {name} is kept for the arena itself: choose another")
