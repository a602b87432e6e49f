"""The accounts API: the caller's own account and its tokens."""

from dataclasses import asdict, dataclass
from typing import Annotated

import msgspec
from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field

from arena.accounts.accounts import Accounts
from arena.accounts.credentials import MAX_DAYS, NAME_LENGTH, Bearer
from arena.accounts.errors import Busy, TokenRefused, WrongCredentials
from arena.accounts.passwords import MAX_LENGTH
from arena.db.accounts import StoredPassword
from arena.db.errors import TooManyTokens
from arena.protocol.accounts import Account, Token
from arena.protocol.decoding import prepared
from arena.protocol.states import Scope
from web.http.api import DataRouter, Reader, guard, problems
from web.http.authentication import Caller
from web.http.errors import Problem
from web.http.parameters import MAX_INTEGER
from web.http.rate_limits import RateLimits, address_of

Number = Annotated[int, Path(ge=1, le=MAX_INTEGER, description="A token's id.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken(Token):
    """A new token.

    Attributes:
        secret: The token itself, which programs send. It is shown only once.
    """

    secret: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenList:
    """Tokens.

    Attributes:
        tokens: All valid tokens, newest first.
        next: Always null: all tokens fit on one page.
    """

    tokens: tuple[Token, ...]
    next: None = None


class WantedToken(BaseModel):
    """A requested token.

    Attributes:
        name: The token's name.
        scopes: What the token may do. The caller must have these scopes.
        days: Number of days for which the token is valid. A token created with another token expires no later
            than that token.
        password: The account's password. Required in a session, not with a token.
    """

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=NAME_LENGTH)]
    scopes: Annotated[set[Scope], Field(min_length=1)]
    days: Annotated[int, Field(ge=1, le=MAX_DAYS)] = 30
    password: Annotated[str, Field(max_length=MAX_LENGTH)] = ""


LoggedIn = Annotated[Caller, guard()]
Maker = Annotated[Caller, guard(Scope.TOKENS)]


def account_api(accounts: Accounts, limits: RateLimits) -> APIRouter:
    """Return the API routes for accounts."""
    router = DataRouter("account")

    @router.get("/account")
    def who_am_i(caller: LoggedIn) -> Account:
        """Return the account and the scopes of the caller's token or session."""
        account = caller.account
        return Account(
            name=account.name,
            role=account.role,
            created=account.created,
            scopes=tuple(sorted(caller.scopes)),
            token=caller.token,
        )

    @router.get("/account/tokens")
    def tokens(caller: Reader) -> TokenList:
        """List the caller's tokens."""
        return TokenList(tokens=accounts.tokens.of(caller.account))

    @router.post(
        "/account/tokens",
        status_code=201,
        responses=problems({429: "Too many attempts to confirm the password."}),
    )
    def new_token(request: Request, caller: Maker, body: WantedToken) -> NewToken:
        """Create a token.

        A token can create only tokens that have no additional scopes and expire no later than it does. In a
        session, the account's password is required.
        """
        address = address_of(request)
        by: StoredPassword | Bearer | None = _bearer(caller)
        try:
            if caller.session is not None:
                limits.confirm_password(caller.session)
                by = accounts.sessions.confirm(caller.account, body.password, address=address)
            secret, token = accounts.tokens.create(
                caller.account,
                name=body.name,
                scopes=body.scopes,
                days=body.days,
                by=by,
                address=address,
            )
        except Busy as error:
            raise Problem(503, f"{error}.") from error
        except (TokenRefused, TooManyTokens, WrongCredentials) as error:
            raise Problem(422, f"{error}.") from error
        return msgspec.convert(asdict(token) | {"secret": secret}, prepared(NewToken))

    @router.delete("/account/tokens/{number}", status_code=204)
    def revoke(request: Request, caller: LoggedIn, number: Number) -> None:
        """Revoke a token.

        Requires the `tokens` scope, unless a token revokes itself, which is how a program logs out.
        """
        is_itself = caller.token is not None and caller.token.id == number
        if not is_itself and Scope.TOKENS not in caller.scopes:
            raise Problem(403, "To revoke another token, you need the tokens scope.")
        if not accounts.tokens.revoke(caller.account, number, address=address_of(request)):
            raise Problem(404, "You have no such token.")

    return router


def _bearer(caller: Caller) -> Bearer | None:
    if caller.token is None:
        return None
    return Bearer(account=caller.account, token=caller.token, scopes=caller.scopes)
