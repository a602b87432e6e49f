"""What goes into the store and comes out of it about people: plain, frozen data."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Role(StrEnum):
    """What an account may do."""

    USER = "user"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAccount:
    """Somebody who wants an account.

    Attributes:
        name: As it is shown, checked by the caller.
        password: Its hash.
        role: What it may do.
        created: UTC.
    """

    name: str
    password: str
    role: Role
    created: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAccount:
    """An account.

    Attributes:
        id: Its number.
        name: As it is shown; a pseudonym where it was deleted.
        role: What it may do.
        created: UTC.
        deleted: UTC, or None.
    """

    id: int
    name: str
    role: Role
    created: datetime
    deleted: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPassword:
    """An account that can log in, and the hash of its password."""

    account: KnownAccount
    password: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSession:
    """A browser that logs in.

    Attributes:
        account: Whose it is.
        hash: Of its secret.
        browser: What it calls itself.
        created: UTC.
    """

    account: int
    hash: str
    browser: str
    created: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSession:
    """A browser that is logged in.

    Attributes:
        id: Its number.
        account: Whose it is.
        browser: What it calls itself.
        created: UTC.
        seen: UTC; about when it was last in use.
    """

    id: int
    account: KnownAccount
    browser: str
    created: datetime
    seen: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A token that somebody wants.

    Attributes:
        account: Whose it is.
        name: What its owner calls it.
        prefix: The part of the secret that may be shown again.
        hash: Of the secret.
        scopes: What it may do.
        created: UTC.
        expires: UTC.
    """

    account: int
    name: str
    prefix: str
    hash: str
    scopes: tuple[str, ...]
    created: datetime
    expires: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiToken:
    """A token.

    Attributes:
        id: Its number.
        name: What its owner calls it.
        prefix: The part of the secret that may be shown again.
        scopes: What it may do.
        created: UTC.
        expires: UTC.
        last_used: UTC, about; None where it never was.
        revoked: UTC, or None.
    """

    id: int
    name: str
    prefix: str
    scopes: tuple[str, ...]
    created: datetime
    expires: datetime
    last_used: datetime | None
    revoked: datetime | None

    def works(self, at: datetime) -> bool:
        """Whether it lets anybody in at this moment."""
        return self.revoked is None and at < self.expires


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAuditEntry:
    """What an operator did.

    Attributes:
        at: UTC.
        who: An account's name, or ``terminal:`` and a user of the machine.
        what: Such as ``create-user``.
        subject: To what: ``account:`` or ``bot:`` and a name, ``match:`` and an id, or nothing.
        detail: What else is worth knowing; no account's name.
    """

    at: datetime
    who: str
    what: str
    subject: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """A line of the audit log, by its number."""

    number: int
    at: datetime
    who: str
    what: str
    subject: str
    detail: str
