"""Tokens for programs: scoped, expiring, revocable, shown once."""

import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Final

from arena.accounts.errors import TokenRefused
from arena.accounts.sources import Sources, hash_of
from arena.store import ApiToken, KnownAccount, NewToken, People, Role

PREFIX: Final = "kaiten_"
"""How every token begins, so that people and scanners of leaked secrets know one when they see it."""

LONGEST_DAYS: Final = 366
MOST: Final = 20
NAME_LENGTH: Final = 60

_SHOWN: Final = len(PREFIX) + 4
_NOTED_EVERY: Final = timedelta(minutes=1)


class Scope(StrEnum):
    """What a token may do."""

    READ = "read"
    SUBMIT = "submit"
    TOKENS = "tokens"
    OPERATE = "operate"


def scopes_of(role: Role) -> frozenset[Scope]:
    """Return what an account of this role may do, and so at most what its tokens may."""
    return frozenset(Scope) if role is Role.OPERATOR else frozenset(Scope) - {Scope.OPERATE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bearer:
    """Who came with a token.

    Attributes:
        account: Whose it is.
        token: It.
        scopes: What it may do now: its own scopes, as far as the account may still do that.
    """

    account: KnownAccount
    token: ApiToken
    scopes: frozenset[Scope]


class Tokens:
    """Makes, finds and revokes tokens.

    Args:
        people: Where they are kept.
        sources: Time and secrets.
    """

    def __init__(self, people: People, sources: Sources) -> None:
        self._people = people
        self._sources = sources

    def create(
        self,
        account: KnownAccount,
        *,
        name: str,
        scopes: Collection[Scope],
        days: int,
        by: Bearer | None = None,
    ) -> tuple[str, ApiToken]:
        """Make a token and return its secret, which nobody can read again, and what is known of it.

        Args:
            account: Whose it is to be.
            name: What its owner calls it.
            scopes: What it is to be good for.
            days: How long.
            by: The token with which it is made; it may do no more than that one, and works no longer.

        Raises:
            TokenRefused: It would be good for nothing, for too much, or for too long.
            TooManyTokens: The account has as many as it may have.
        """
        name = _clean(name)
        may = scopes_of(account.role) if by is None else by.scopes
        if not name:
            raise TokenRefused("give the token a name, such as that of the machine which will use it")
        if not scopes:
            raise TokenRefused("choose at least one thing that the token may do")
        if beyond := sorted(set(scopes) - may):
            raise TokenRefused(f"this account or token may not give away {', '.join(beyond)}")
        if not 1 <= days <= LONGEST_DAYS:
            raise TokenRefused(f"let the token work for 1 to {LONGEST_DAYS} days")
        now = self._sources.now()
        expires = now + timedelta(days=days)
        secret = PREFIX + self._sources.new_secret()
        new = NewToken(
            account=account.id,
            name=name,
            prefix=secret[:_SHOWN],
            hash=hash_of(secret),
            scopes=tuple(sorted(set(scopes))),
            created=now,
            expires=expires if by is None else min(expires, by.token.expires),
        )
        return secret, self._people.add_token(new, most=MOST)

    def find(self, secret: str) -> Bearer | None:
        """Return who comes with this secret, or None where it lets nobody in."""
        found = self._people.token(hash_of(secret))
        now = self._sources.now()
        if found is None or not found[0].works(now):
            return None
        token, account = found
        if token.last_used is None or now - token.last_used >= _NOTED_EVERY:
            self._people.token_used(token.id, now)
        known = frozenset(Scope(scope) for scope in token.scopes)
        return Bearer(account=account, token=token, scopes=known & scopes_of(account.role))

    def of(self, account: KnownAccount) -> tuple[ApiToken, ...]:
        """Return the tokens of an account that work, newest first."""
        now = self._sources.now()
        return tuple(token for token in self._people.tokens(account.id) if token.works(now))

    def revoke(self, account: KnownAccount, token: int) -> bool:
        """Revoke one of an account's own tokens; False where it has none of that id that works."""
        return self._people.revoke_token(account.id, token, self._sources.now())


def _clean(name: str) -> str:
    seen = "".join(letter for letter in name if unicodedata.category(letter)[0] != "C")
    return " ".join(seen.split())[:NAME_LENGTH]
