"""Accounts and tokens, as the API returns them and commands print them."""

from dataclasses import dataclass
from datetime import datetime

from arena.protocol.states import Role, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token.

    Attributes:
        id: The token's id.
        name: The owner's name for it.
        prefix: The first characters of its secret.
        scopes: Its permissions.
        created: Creation time.
        expires: Expiry time.
        last_used: Approximate time of its last use; null if it was never used.
    """

    id: int
    name: str
    prefix: str
    scopes: tuple[str, ...]
    created: datetime
    expires: datetime
    last_used: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The account that sent the request.

    Attributes:
        name: The account's name.
        role: The account's role.
        created: Creation time.
        scopes: Scopes of the request.
        token: The token used; null for a session.
    """

    name: str
    role: Role
    created: datetime
    scopes: tuple[Scope, ...]
    token: Token | None
