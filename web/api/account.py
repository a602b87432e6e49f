"""Accounts for programs: who am I, and my tokens."""

from typing import Annotated, Final

import msgspec
from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, ConfigDict, Field

from arena.accounts import Accounts, Bearer, Scope, TokenRefused
from arena.accounts.tokens import LONGEST_DAYS, NAME_LENGTH
from arena.store import ApiToken, TooManyTokens
from web.api.guard import Guard
from web.caller import Caller, Callers
from web.problems import Problem

_JSON: Final = "application/json"
_METHODS: Final = ["GET", "HEAD"]
_LARGEST: Final = 2**63 - 1

Number = Annotated[int, Path(ge=1, le=_LARGEST)]


class WantedToken(BaseModel):
    """A token that somebody asks for."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=NAME_LENGTH)]
    scopes: Annotated[set[Scope], Field(min_length=1)]
    days: Annotated[int, Field(ge=1, le=LONGEST_DAYS)] = 30


def account_api(accounts: Accounts, callers: Callers) -> APIRouter:
    """Return the routes of accounts for programs."""
    router = APIRouter(prefix="/api/v1/account")
    guard = Guard(callers)
    Anybody = Annotated[Caller, guard()]  # noqa: N806 - a type
    Reader = Annotated[Caller, guard(Scope.READ)]  # noqa: N806 - a type
    Maker = Annotated[Caller, guard(Scope.TOKENS)]  # noqa: N806 - a type

    @router.api_route("", methods=_METHODS)
    def who_am_i(caller: Anybody) -> Response:
        account = caller.account
        return _json(
            {
                "name": account.name,
                "role": account.role,
                "created": account.created,
                "scopes": sorted(caller.scopes),
                "token": None if caller.token is None else _shown(caller.token),
            }
        )

    @router.api_route("/tokens", methods=_METHODS)
    def tokens(caller: Reader) -> Response:
        return _json({"tokens": [_shown(token) for token in accounts.tokens.of(caller.account)]})

    @router.post("/tokens")
    def new_token(caller: Maker, wanted: WantedToken) -> Response:
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
        return _json(_shown(token) | {"secret": secret}, status=201)

    @router.delete("/tokens/{number}")
    def revoke(caller: Anybody, number: Number) -> Response:
        # A token may always give itself up: that is how a program logs out.
        is_itself = caller.token is not None and caller.token.id == number
        if not is_itself and Scope.TOKENS not in caller.scopes:
            raise Problem(403, "To revoke another token takes the scope tokens.")
        if not accounts.tokens.revoke(caller.account, number):
            raise Problem(404, "You have no such token.")
        return Response(status_code=204)

    return router


def _shown(token: ApiToken) -> dict[str, object]:
    return {
        "id": token.id,
        "name": token.name,
        "prefix": token.prefix,
        "scopes": token.scopes,
        "created": token.created,
        "expires": token.expires,
        "last_used": token.last_used,
    }


def _json(content: object, *, status: int = 200) -> Response:
    return Response(msgspec.json.encode(content), status_code=status, media_type=_JSON)
