"""Accounts for programs: who am I, and my tokens."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Final

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from arena.accounts import Accounts, Bearer, Scope, TokenRefused
from arena.accounts.tokens import LONGEST_DAYS, NAME_LENGTH
from arena.store import ApiToken, Role, TooManyTokens
from web.api.guard import Guard
from web.api.routes import DataRouter
from web.caller import Caller, Callers
from web.problems import Problem

_LARGEST: Final = 2**63 - 1

Number = Annotated[int, Path(ge=1, le=_LARGEST, description="Of a token.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token.

    Attributes:
        id: Its number.
        name: What its owner calls it.
        prefix: How its secret begins.
        scopes: What it may do.
        created: When it was made.
        expires: When it ends to work.
        last_used: When it was used last, about; null where it never was.
    """

    id: int
    name: str
    prefix: str
    scopes: tuple[str, ...]
    created: datetime
    expires: datetime
    last_used: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken(Token):
    """A token that has just been made.

    Attributes:
        secret: What a program sends; shown this once.
    """

    secret: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenList:
    """Tokens.

    Attributes:
        tokens: All that work, newest first.
        next: Always null: there are so few that one page has them all.
    """

    tokens: tuple[Token, ...]
    next: None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Who asks.

    Attributes:
        name: Of the account.
        role: What the account may do.
        created: When it was made.
        scopes: What the caller may do, by name.
        token: With which the caller asks; null for a session.
    """

    name: str
    role: Role
    created: datetime
    scopes: tuple[Scope, ...]
    token: Token | None


class WantedToken(BaseModel):
    """A token that somebody asks for.

    Attributes:
        name: What to call it.
        scopes: What it may do; no more than the caller.
        days: How long it works; no longer than the caller's own token.
    """

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=NAME_LENGTH)]
    scopes: Annotated[set[Scope], Field(min_length=1)]
    days: Annotated[int, Field(ge=1, le=LONGEST_DAYS)] = 30


def account_api(accounts: Accounts, callers: Callers) -> APIRouter:
    """Return the routes of accounts for programs."""
    router = DataRouter("account")
    guard = Guard(callers)
    Anybody = Annotated[Caller, guard()]  # noqa: N806 - a type
    Reader = Annotated[Caller, guard(Scope.READ)]  # noqa: N806 - a type
    Maker = Annotated[Caller, guard(Scope.TOKENS)]  # noqa: N806 - a type

    @router.get("/account")
    def who_am_i(caller: Anybody) -> Account:
        """Say whose the token or session is, and what it may do."""
        account = caller.account
        return Account(
            name=account.name,
            role=account.role,
            created=account.created,
            scopes=tuple(sorted(caller.scopes)),
            token=None if caller.token is None else _shown(caller.token),
        )

    @router.get("/account/tokens")
    def tokens(caller: Reader) -> TokenList:
        """List one's own tokens."""
        return TokenList(tokens=tuple(map(_shown, accounts.tokens.of(caller.account))))

    @router.post("/account/tokens", status_code=201)
    def new_token(caller: Maker, wanted: WantedToken) -> NewToken:
        """Make a token.

        One that is made with a token may do no more than that one, and works no longer.
        """
        by = (
            None
            if caller.token is None
            else Bearer(account=caller.account, token=caller.token, scopes=caller.scopes)
        )
        try:
            secret, token = accounts.tokens.create(
                caller.account, name=wanted.name, scopes=wanted.scopes, days=wanted.days, by=by
            )
        except (TokenRefused, TooManyTokens) as error:
            raise Problem(422, f"{error}.") from error
        return NewToken(secret=secret, **asdict(_shown(token)))

    @router.delete("/account/tokens/{number}", status_code=204)
    def revoke(caller: Anybody, number: Number) -> None:
        """Revoke a token.

        It takes the scope tokens, but for a token that gives itself up: that is how a program logs out.
        """
        is_itself = caller.token is not None and caller.token.id == number
        if not is_itself and Scope.TOKENS not in caller.scopes:
            raise Problem(403, "To revoke another token takes the scope tokens.")
        if not accounts.tokens.revoke(caller.account, number):
            raise Problem(404, "You have no such token.")

    return router


def _shown(token: ApiToken) -> Token:
    return Token(
        id=token.id,
        name=token.name,
        prefix=token.prefix,
        scopes=token.scopes,
        created=token.created,
        expires=token.expires,
        last_used=token.last_used,
    )
